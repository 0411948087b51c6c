"""The page about models beside people, and what waits for a person."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web import models as work
from topkit.web.guard import AdminVisit, Cached, Stored, settings_of
from topkit.web.lookup import project_of, project_records
from topkit.web.pages.lists import listed
from topkit.web.pages.render import page
from topkit.web.shapes import Id
from topkit.web.store import models

router = APIRouter()


@router.get("/projects/{number}/models")
def project_models(request: Request, number: Id, visit: AdminVisit, store: Stored, cache: Cached) -> Response:
    """The models of a project, what they cost, and their answers that people should check."""
    records = project_records(store, number, cache)
    with store.read() as connection:
        project = project_of(connection, number)
        rows, sure = models.models_of(connection, number), models.confidences(connection, number)
    found = work.routing(records, rows, sure)
    return page(
        request,
        "models.html",
        visit,
        project=project,
        models=rows,
        statement=found.statement,
        waiting=listed(request, found.waiting, size=10, search=lambda row: f"{row.topic_key} {row.query}"),
        enabled=settings_of(request).models,
        prefix=models.KEY_PREFIX,
    )
