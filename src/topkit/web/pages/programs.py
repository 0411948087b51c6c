"""Pages about other programs: API tokens, webhooks, exports on a schedule."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web import schedules, tokens, webhooks
from topkit.web.guard import SomeoneVisit, Stored, settings_of
from topkit.web.managed import Managed
from topkit.web.pages.lists import listed
from topkit.web.pages.render import page, project_page

router = APIRouter()


@router.get("/tokens")
def my_tokens(request: Request, visit: SomeoneVisit, store: Stored) -> Response:
    """The person's API tokens."""
    with store.read() as connection:
        rows = tokens.tokens_of(connection, visit.person.id)
    return page(request, "tokens.html", visit, tokens=listed(request, rows), scopes=tokens.SCOPES)


@router.get("/projects/{number}/programs")
def programs(request: Request, project: Managed) -> Response:
    """Webhooks and scheduled exports of a project."""
    return project_page(
        request,
        "programs.html",
        project,
        webhooks=project.load(webhooks.webhooks_of),
        schedules=project.load(schedules.schedules_of),
        events=webhooks.EVENTS,
        folder=settings_of(request).exports,
    )
