"""The work of assessors: their tasks, the next question, answers and undo.

A judgment takes this way: the session authorises it (:mod:`topkit.web.guard`), the journal loads the state,
asks the labelling kernel, appends the judgment to the log, and returns the next turn.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from topkit.data.errors import InputError
from topkit.web.guard import Admin, Someone, Stored, journal_of
from topkit.web.judging import Judgment, Reply, Tool, Turn
from topkit.web.lookup import existing
from topkit.web.shapes import PROBLEMS, Body, Id, Key, LongText, Message, Number, Token
from topkit.web.store import labellings, projects, quality
from topkit.web.store.pictures import pictures_of
from topkit.web.viewing import document_response
from topkit.web.webhooks import enqueue

router = APIRouter(prefix="/api", tags=["labelling"], responses=PROBLEMS)
REPLIES: dict[int | str, dict[str, Any]] = {
    409: {"model": Reply, "description": "The labelling has changed; the turn is the current one."}
}


class Undo(Body):
    """Withdraws the last answer; the log keeps both."""

    seq: Number
    key: Token


class RemarkIn(Body):
    """A flag or a comment about the question with these documents."""

    a: Key
    b: Key | None = None
    flagged: bool = False
    text: LongText = ""


class TaskOut(BaseModel):
    """A topic to judge."""

    labelling: int
    project: str
    topic: str
    query: str
    description: str
    tool: Tool
    begun: bool


@router.get("/tasks")
def my_tasks(me: Someone, store: Stored) -> list[TaskOut]:
    """The topics that are assigned to you."""
    with store.read() as connection:
        rows = labellings.labellings_of(connection, person_id=me.id)
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
async def turn(number: Id, me: Someone, request: Request) -> Turn:
    """The current turn of your labelling: the open question, or the result."""
    return await journal_of(request).current_turn(me.id, number)


@router.post("/labellings/{number}/answers", responses=REPLIES)
async def answer(number: Id, body: Judgment, me: Someone, request: Request, response: Response) -> Reply:
    """Answer the open question. The reply is sent after the judgment is safe on disk."""
    reply = await journal_of(request).save(me.id, number, body)
    response.status_code = 409 if reply.outcome == "conflict" else 200
    return reply


@router.post("/labellings/{number}/undo", responses=REPLIES)
async def undo(number: Id, body: Undo, me: Someone, request: Request, response: Response) -> Reply:
    """Undo the last answer."""
    return await answer(number, Judgment.undo(body.seq, body.key), me, request, response)


@router.post("/labellings/{number}/remarks", status_code=201)
def remark(number: Id, body: RemarkIn, me: Someone, store: Stored) -> Message:
    """Flag a question of your labelling, or comment on it. Admins see it; it does not answer the question."""
    with store.write() as connection:
        task = labellings.get_task(connection, number)
        if task is None or task.person != me.id:
            raise HTTPException(404, "There is no such labelling in your work.")
        if not {body.a, body.b or body.a} <= task.documents.keys():
            raise InputError("the documents are not part of this topic", "reload the page")
        if not body.flagged and not body.text.strip():
            raise InputError("the comment is empty", "write a comment, or flag the question")
        quality.add_remark(connection, number, (body.a, body.b), body.flagged, body.text.strip())
        content = {
            "labelling": number,
            "assessor": me.name,
            "flagged": body.flagged,
            "text": body.text.strip(),
        }
        enqueue(connection, task.project, "remark.created", {**content, "documents": [body.a, body.b]})
    return Message(message="Thank you. The admins will see this.")


@router.delete("/labellings/{number}")
def unassign(number: Id, _: Admin, store: Stored) -> Message:
    """Remove a labelling that has no judgments."""
    with store.write() as connection:
        existing(labellings.unassign(connection, number), "labelling")
    return Message(message="The labelling was removed.")


@router.get(
    "/labellings/{number}/documents/{document}",
    response_class=HTMLResponse,
    responses={302: {"description": "The document is a page of another site."}},
)
def view(number: Id, document: Id, me: Someone, store: Stored) -> Response:
    """A document of your topic as a page for a sandboxed frame, with the query terms highlighted."""
    with store.read() as connection:
        task = labellings.get_task(connection, number)
        if task is None or task.person != me.id or document not in {d.id for d in task.documents.values()}:
            raise HTTPException(404, "There is no such document in your work.")
        row = existing(projects.get_document(connection, document), "document")
        topic = existing(projects.get_topic(connection, task.topic), "topic")
        return document_response(row, topic["query"], pictures_of(connection, task.project))
