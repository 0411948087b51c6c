"""Other programs: API tokens, webhooks, and exports on a schedule."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from topkit.data.errors import InputError
from topkit.web import schedules, tokens, webhooks
from topkit.web.guard import Someone, Stored, settings_of
from topkit.web.lookup import existing
from topkit.web.managed import Managed
from topkit.web.shapes import PROBLEMS, Body, Id, Key, Message, Name
from topkit.web.tokens import Scope
from topkit.web.webhooks import Event

router = APIRouter(prefix="/api", tags=["programs"], responses=PROBLEMS)


class TokenIn(Body):
    """A token for a program. Scopes: read; label (answer questions); manage (change everything else)."""

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)]
    days: float | None = Field(90, gt=0, le=3650, description="None: the token does not expire.")


class TokenOut(BaseModel):
    """A token without its text."""

    id: int
    name: str
    scopes: str
    created: float
    expires: float | None
    used: float | None


class NewToken(BaseModel):
    """A new token. Its text is shown only now."""

    id: int
    token: str
    message: str


class WebhookIn(Body):
    """Where to send which events."""

    url: Key
    events: Annotated[list[Event], Field(min_length=1, max_length=10)]


class WebhookOut(BaseModel):
    """A webhook, with the numbers of events that wait and that were given up."""

    id: int
    url: str
    events: str
    created: float
    waiting: int
    failed: int
    last: float | None


class NewWebhook(BaseModel):
    """A new webhook. Its secret, which signs the events, is shown only now."""

    id: int
    secret: str
    message: str


class ScheduleIn(Body):
    """Which export to write how often."""

    export: Annotated[str, Field(max_length=50)]
    hours: float = Field(24, ge=0.25, le=8760)


class ScheduleOut(ScheduleIn):
    """An export on a schedule."""

    id: int
    next: float
    last: float | None
    problem: str


@router.get("/tokens")
def my_tokens(me: Someone, store: Stored) -> list[TokenOut]:
    """Your API tokens."""
    with store.read() as connection:
        return [TokenOut(**row) for row in tokens.tokens_of(connection, me.id)]


@router.post("/tokens", status_code=201)
def create_token(body: TokenIn, me: Someone, store: Stored) -> NewToken:
    """Create an API token. Send it as ``Authorization: Bearer …``; no CSRF token is needed then."""
    with store.write() as connection:
        number, text = tokens.new_token(connection, me.id, body.name, body.scopes, body.days)
    return NewToken(id=number, token=text, message=f"Copy the token now, it is shown only once: {text}")


@router.delete("/tokens/{token}")
def remove_token(token: Id, me: Someone, store: Stored) -> Message:
    """Remove one of your API tokens; it stops working at once."""
    with store.write() as connection:
        existing(tokens.remove_token(connection, me.id, token), "token")
    return Message(message="The token was removed.")


@router.get("/projects/{number}/webhooks")
def all_webhooks(project: Managed) -> list[WebhookOut]:
    """The webhooks of a project."""
    return [WebhookOut(**row) for row in project.load(webhooks.webhooks_of)]


@router.post("/projects/{number}/webhooks", status_code=201)
def add_webhook(project: Managed, body: WebhookIn) -> NewWebhook:
    """Add a webhook: events are sent to its URL, signed with its secret."""
    with project.write() as connection:
        webhook, secret = webhooks.add_webhook(connection, project.number, body.url, body.events)
    message = f"Copy the secret now, it is shown only once: {secret}"
    return NewWebhook(id=webhook, secret=secret, message=message)


@router.delete("/projects/{number}/webhooks/{webhook}")
def remove_webhook(project: Managed, webhook: Id) -> Message:
    """Remove a webhook."""
    return project.remove(webhooks.remove_webhook, webhook, "webhook")


@router.get("/projects/{number}/schedules")
def all_schedules(project: Managed) -> list[ScheduleOut]:
    """The exports of a project on a schedule."""
    names, rows = ScheduleOut.model_fields, project.load(schedules.schedules_of)
    return [ScheduleOut(**{name: row[name] for name in names}) for row in rows]


@router.post("/projects/{number}/schedules", status_code=201)
def add_schedule(project: Managed, body: ScheduleIn, request: Request) -> Message:
    """Write an export to the server's export folder every so many hours."""
    if settings_of(request).exports is None:
        raise InputError("the server has no folder for exports", "start it with --exports FOLDER")
    with project.write() as connection:
        schedules.add_schedule(connection, project.number, body.export, body.hours)
    return Message(message="The export is on schedule; the first file is written at once.")


@router.delete("/projects/{number}/schedules/{schedule}")
def remove_schedule(project: Managed, schedule: Id) -> Message:
    """Remove a schedule; files that were written stay."""
    return project.remove(schedules.remove_schedule, schedule, "schedule")
