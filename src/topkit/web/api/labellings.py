"""What assessors do: their tasks, the next question, answers and taking them back."""

from __future__ import annotations

import json
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field
from sqlalchemy.engine import RowMapping

from topkit.web.guard import Admin, Someone, Stored, journal_of
from topkit.web.headers import DOCUMENT_POLICY
from topkit.web.shapes import PROBLEMS, Body, Id, Key, Said, Token
from topkit.web.store import projects, work
from topkit.web.turns import Entry, Reply
from topkit.web.viewing import document_page

router = APIRouter(prefix="/api", tags=["labelling"], responses=PROBLEMS)


class DocumentOut(BaseModel):
    """A document in a question. Its text is at /api/labellings/{labelling}/documents/{id}."""

    id: int
    key: str
    title: str
    kind: Literal["text", "html", "url"]


class QuestionOut(BaseModel):
    """Which of two is more relevant (``a`` is on the left)? Or, without ``b``: which grade has ``a``?"""

    a: DocumentOut
    b: DocumentOut | None


class PlaceOut(DocumentOut):
    """A document with its place in the result; documents that tie share a place."""

    place: int


class TurnOut(BaseModel):
    """Where a labelling stands."""

    labelling: int
    tool: Literal["pairs", "grades"]
    seq: int = Field(description="The last sequence number used; the next entry has the one after.")
    question: QuestionOut | None = Field(description="None when the topic is done.")
    asked: int
    least: int = Field(description="The fewest questions that can still come.")
    most: int = Field(description="The most questions that can still come.")
    likely: float = Field(description="About how many questions will still come.")
    seconds: float | None = Field(description="Mean active seconds a judgment so far.")
    result: list[PlaceOut] | None


class ReplyOut(BaseModel):
    """What became of an entry. ``conflict`` comes with status 409 and the question that is open now."""

    outcome: Literal["saved", "already", "conflict"]
    message: str
    turn: TurnOut


class Judgment(Body):
    """An answer to the question shown. Sending the same key again changes nothing."""

    seq: int = Field(ge=1, le=2**31 - 1)
    key: Token
    a: Key
    b: Key | None = None
    answer: Literal["a", "b", "tie", "bad-a", "bad-b", "bad", "fair", "good", "excellent", "perfect"]
    seconds: float = Field(
        ge=0, le=86_400, description="Active time: the clock stops when the tab is hidden."
    )


class Undo(Body):
    """The last answer is taken back; the record keeps both."""

    seq: int = Field(ge=1, le=2**31 - 1)
    key: Token


class TaskOut(BaseModel):
    """A topic to judge."""

    labelling: int
    project: str
    topic: str
    query: str
    description: str
    tool: Literal["pairs", "grades"]
    begun: bool


@router.get("/tasks")
def my_tasks(me: Someone, store: Stored) -> list[TaskOut]:
    """The topics that you judge."""
    with store.read() as connection:
        rows = work.labellings_of(connection, person_id=me.id)
    return [
        TaskOut(
            labelling=row["id"],
            project=row["project_name"],
            topic=row["topic_key"],
            query=row["query"],
            description=row["description"],
            tool=row["tool"],
            begun=row["seq"] > 0,
        )
        for row in rows
    ]


@router.get("/labellings/{number}")
async def turn(number: Id, me: Someone, request: Request) -> TurnOut:
    """Where your labelling stands: the question that is open, or the result."""
    reply = await journal_of(request).look(me.id, number)
    if reply.turn is None:
        raise HTTPException(404, reply.message)
    return TurnOut.model_validate(reply.turn)


REPLIES: dict[int | str, dict[str, Any]] = {
    409: {"model": ReplyOut, "description": "The labelling has moved on."}
}


@router.post("/labellings/{number}/answers", response_model=ReplyOut, responses=REPLIES)
async def answer(number: Id, body: Judgment, me: Someone, request: Request) -> Response:
    """Answer the open question. The reply comes when the judgment is safe on the disk."""
    entry = Entry(body.seq, body.key, body.a, body.b, body.answer, body.seconds)
    return _response(await journal_of(request).enter(me.id, number, entry))


@router.post("/labellings/{number}/undo", response_model=ReplyOut, responses=REPLIES)
async def undo(number: Id, body: Undo, me: Someone, request: Request) -> Response:
    """Take the last answer back."""
    entry = Entry(body.seq, body.key, "", None, work.UNDO, 0.0)
    return _response(await journal_of(request).enter(me.id, number, entry))


def _response(reply: Reply) -> Response:
    """The reply as JSON, written directly: it was made from checked parts, and this is the hot path."""
    status = {"saved": 200, "already": 200, "conflict": 409, "invalid": 422, "missing": 404}[reply.outcome]
    if status in (404, 422):
        raise HTTPException(status, reply.message)
    return Response(json.dumps(reply._asdict()), status, media_type="application/json")


@router.delete("/labellings/{number}")
def unassign(number: Id, _: Admin, store: Stored) -> Said:
    """Remove a labelling that nobody has begun."""
    with store.write() as connection:
        if not work.unassign(connection, number):
            raise HTTPException(404, "There is no such labelling.")
    return Said(message="The labelling is removed.")


@router.get(
    "/labellings/{number}/documents/{document}",
    response_class=HTMLResponse,
    responses={302: {"description": "The document is a page elsewhere."}},
)
def view(number: Id, document: Id, me: Someone, store: Stored) -> Response:
    """A document of your topic as a page for a sandboxed frame, with the words of the query marked."""
    with store.read() as connection:
        task = work.get_task(connection, number)
        mine = task is not None and task.person == me.id
        if task is None or not mine or all(document != one.id for one in task.documents.values()):
            raise HTTPException(404, "There is no such document in your work.")
        row, topic = projects.get_document(connection, document), projects.get_topic(connection, task.topic)
    return show_document(row, "" if topic is None else topic["query"])


def show_document(row: RowMapping | None, query: str) -> Response:
    """A document as a page that can do nothing, or the way to its address."""
    if row is None:
        raise HTTPException(404, "There is no such document.")
    if row["kind"] == "url":
        return RedirectResponse(row["body"], 302)
    page = document_page(row["kind"], row["title"], row["body"], query)
    return HTMLResponse(page, headers={"content-security-policy": DOCUMENT_POLICY})
