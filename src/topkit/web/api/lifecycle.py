"""What admins change later: assigned work, and people who leave."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request

from topkit.data.errors import InputError
from topkit.data.words import counted
from topkit.web.guard import Admin, Stored, sessions_of
from topkit.web.lookup import existing, project_of
from topkit.web.shapes import PROBLEMS, Body, Id, Message, Number
from topkit.web.store import labellings, lifecycle, people
from topkit.web.store.lifecycle import Fate

router = APIRouter(prefix="/api", tags=["lifecycle"], responses=PROBLEMS)


class WorkChange(Body):
    """``take-back`` closes the work, ``reopen`` opens it again, ``reassign`` gives it to ``person``.

    ``judgments`` says whether those made so far count (keep) or not (drop).
    """

    action: Literal["take-back", "reopen", "reassign"]
    judgments: Fate = "keep"
    person: Number | None = None


class Removal(Body):
    """Whether the judgments of the person count (keep) or not (drop); in one project, or everywhere."""

    judgments: Fate = "keep"
    project: Number | None = None


@router.patch("/labellings/{number}")
def change_work(number: Id, body: WorkChange, _: Admin, store: Stored) -> Message:
    """Take work back, reopen it, or give it to somebody else."""
    with store.write() as connection:
        existing(labellings.labelling_exists(connection, number), "labelling")
        if body.action == "take-back":
            lifecycle.take_back(connection, number, body.judgments)
            return Message(message="The work was taken back.")
        if body.action == "reopen":
            lifecycle.reopen(connection, number)
            return Message(message="The assessor can continue.")
        if body.person is None:
            raise InputError("nobody is named", "say who gets the work")
        lifecycle.reassign(connection, number, body.person, body.judgments)
    return Message(message="The topic was assigned to somebody else.")


@router.post("/people/{number}/removal")
def remove_assessor(number: Id, body: Removal, request: Request, _: Admin, store: Stored) -> Message:
    """Take back all work of a person. Without a project the account is blocked, too."""
    with store.write() as connection:
        person = existing(people.get_person(connection, number), "person")
        if body.project is not None:
            project_of(connection, body.project)
        count = lifecycle.remove_assessor(connection, number, body.judgments, body.project)
    sessions_of(request).forget()
    blocked = "" if body.project is not None else " The account is blocked."
    return Message(message=f"{person.name}: {counted(count, 'topic')} taken back.{blocked}")
