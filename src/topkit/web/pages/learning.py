"""The page about what a ranker learned from a project."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web.learning import last_result
from topkit.web.managed import Managed
from topkit.web.pages.charts import curve
from topkit.web.pages.render import project_page
from topkit.web.store.features import stored_features

router = APIRouter()


@router.get("/projects/{number}/learning")
def learning(request: Request, project: Managed) -> Response:
    """The learning curve, the forecast, and the prior of new topics."""
    result = last_result(project.store, project.number)
    points = (result or {}).get("curve", [])
    return project_page(
        request,
        "learning.html",
        project,
        result=result,
        chart=curve([(p["topics"], p["agreement"], p["low"], p["high"]) for p in points]),
        running=request.app.state.learning.running(project.number),
        has_features=project.load(stored_features) is not None,
    )
