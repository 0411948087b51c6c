"""The page about models beside people, and what waits for a person."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web import models as work
from topkit.web.guard import settings_of
from topkit.web.managed import Managed
from topkit.web.pages.lists import listed
from topkit.web.pages.render import project_page
from topkit.web.store import models

router = APIRouter()


@router.get("/projects/{number}/models")
def project_models(request: Request, project: Managed) -> Response:
    """The models of a project, what they cost, and their answers that people should check."""
    rows = project.load(models.models_of)
    routing = work.routing(project.records(), rows, project.load(models.confidences))
    return project_page(
        request,
        "models.html",
        project,
        models=rows,
        statement=routing.statement,
        waiting=listed(request, routing.waiting, size=10, search=lambda row: f"{row.topic_key} {row.query}"),
        enabled=settings_of(request).models,
        prefix=models.KEY_PREFIX,
    )
