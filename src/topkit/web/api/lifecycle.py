"""What admins change later: topics, assigned work, people who leave, and projects to delete."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from topkit.data.errors import InputError
from topkit.reporting.words import counted
from topkit.web.guard import Admin, Stored, sessions_of
from topkit.web.lookup import existing, project_of, topic_of
from topkit.web.managed import Managed
from topkit.web.material import check_topic
from topkit.web.shapes import PROBLEMS, Body, Id, Key, LongText, Message, Name, Number
from topkit.web.store import labellings, lifecycle, people
from topkit.web.store.lifecycle import Fate
from topkit.web.store.projects import Topic
from topkit.web.store.versions import TOPICS, versions_of

router = APIRouter(prefix="/api", tags=["lifecycle"], responses=PROBLEMS)


class Deletion(Body):
    """The name of the project, so that nobody deletes one by mistake."""

    name: Name


class TopicChange(Body):
    """New texts of a topic; what is not given stays."""

    key: Key | None = None
    query: LongText | None = None
    description: LongText | None = None


class VersionOut(BaseModel):
    """An earlier text of a topic, and until when it was shown (seconds since 1970)."""

    version: int
    query: str
    description: str
    until: float


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


@router.delete("/projects/{number}")
def delete_project(project: Managed, body: Deletion) -> Message:
    """Delete a project with its topics, documents and judgments. Its name must be given."""
    with project.write() as connection:
        lifecycle.delete_project(connection, project.number, body.name)
    return Message(message=f"The project {body.name!r} was deleted.")


@router.patch("/projects/{number}/topics/{topic}")
def change_topic(project: Managed, topic: Id, body: TopicChange) -> Message:
    """Rename a topic or change its texts. A query that has judgments keeps its old text as a version."""
    with project.write() as connection:
        row = topic_of(connection, project.number, topic)
        changed = {"key": row["key"], "query": row["query"], "description": row["description"]}
        changed |= {name: value.strip() for name, value in body.model_dump(exclude_none=True).items()}
        if not changed["query"]:
            raise InputError("the topic has no query", "write a query")
        check_topic(Topic(**changed))
        before = len(versions_of(connection, TOPICS, topic))
        lifecycle.change_topic(connection, topic, **changed)
        versions = len(versions_of(connection, TOPICS, topic))
    told = f" It has judgments: this is version {versions + 1} of its text." if versions > before else ""
    return Message(message=f"Topic {changed['key']!r} was changed.{told}")


@router.delete("/projects/{number}/topics/{topic}")
def delete_topic(project: Managed, topic: Id) -> Message:
    """Delete a topic that has no judgments."""
    with project.write() as connection:
        row = topic_of(connection, project.number, topic)
        lifecycle.delete_topic(connection, topic)
    return Message(message=f"Topic {row['key']!r} was deleted.")


@router.get("/projects/{number}/topics/{topic}/versions")
def versions(project: Managed, topic: Id) -> list[VersionOut]:
    """Earlier texts of a topic."""
    with project.read() as connection:
        topic_of(connection, project.number, topic)
        return [VersionOut.model_validate(dict(row)) for row in versions_of(connection, TOPICS, topic)]


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
