"""The page about what a ranker learned from a project."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web.guard import AdminVisit, Stored
from topkit.web.learning import last_result
from topkit.web.lookup import project_of
from topkit.web.pages.charts import curve
from topkit.web.pages.render import page
from topkit.web.shapes import Id
from topkit.web.store.features import stored_features

router = APIRouter()


@router.get("/projects/{number}/learning")
def learning(request: Request, number: Id, visit: AdminVisit, store: Stored) -> Response:
    """The learning curve, the forecast, and the prior of new topics."""
    with store.read() as connection:
        project = project_of(connection, number)
        has_features = stored_features(connection, number) is not None
    result = last_result(store, number)
    points = (result or {}).get("curve", [])
    return page(
        request,
        "learning.html",
        visit,
        project=project,
        result=result,
        chart=curve([(p["topics"], p["agreement"], p["low"], p["high"]) for p in points]),
        running=request.app.state.learning.running(number),
        has_features=has_features,
    )
