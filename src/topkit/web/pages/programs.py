"""Pages about other programs: API tokens, webhooks, exports on a schedule."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web import schedules, tokens, webhooks
from topkit.web.exports import EXPORTS
from topkit.web.guard import AdminVisit, SomeoneVisit, Stored, settings_of
from topkit.web.lookup import project_of
from topkit.web.pages.lists import listed
from topkit.web.pages.render import page
from topkit.web.shapes import Id

router = APIRouter()


@router.get("/tokens")
def my_tokens(request: Request, visit: SomeoneVisit, store: Stored) -> Response:
    """The person's API tokens."""
    with store.read() as connection:
        rows = tokens.tokens_of(connection, visit.person.id)
    return page(request, "tokens.html", visit, tokens=listed(request, rows), scopes=tokens.SCOPES)


@router.get("/projects/{number}/programs")
def programs(request: Request, number: Id, visit: AdminVisit, store: Stored) -> Response:
    """Webhooks and scheduled exports of a project."""
    with store.read() as connection:
        project = project_of(connection, number)
        hooks = webhooks.webhooks_of(connection, number)
        planned = schedules.schedules_of(connection, number)
    return page(
        request,
        "programs.html",
        visit,
        project=project,
        webhooks=hooks,
        schedules=planned,
        events=webhooks.EVENTS,
        exports=EXPORTS,
        folder=settings_of(request).exports,
    )
