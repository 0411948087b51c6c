"""Projects: settings, and assignments."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, UploadFile
from pydantic import Field
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web import bundle
from topkit.web.api.material import uploaded
from topkit.web.assign import cyclic, overlapping
from topkit.web.guard import Admin, Stored
from topkit.web.judging import Tool
from topkit.web.lookup import project_of
from topkit.web.managed import Managed
from topkit.web.project_file import read_project
from topkit.web.shapes import (
    PROBLEMS,
    Body,
    LongText,
    Message,
    Name,
    Number,
    ProjectIn,
    ProjectState,
)
from topkit.web.store import labellings, lifecycle, people, projects
from topkit.web.store.labellings import Assignment

router = APIRouter(prefix="/api/projects", tags=["projects"], responses=PROBLEMS)
Numbers = Annotated[list[Number], Field(max_length=10_000)]


class ProjectOut(ProjectIn):
    """A project."""

    id: int
    created: float
    gold_rate: float
    state: ProjectState


class ProjectChange(Body):
    """What can change: labellings depend on the other settings. Nobody can judge in a paused project; an
    archived one is hidden from assessors, too."""

    name: Name | None = None
    instructions: LongText | None = None
    state: ProjectState | None = None


class Deletion(Body):
    """The name of the project, so that nobody deletes one by mistake."""

    name: Name


class ByHand(Body):
    """One topic for one person in one tool (ids)."""

    topic: Number
    person: Number
    tool: Tool


class Assign(Body):
    """How to assign topics.

    ``cyclic``: as in the paper; everybody uses both tools, and nobody sees a query in both. With four or more
    assessors, two judge each topic in each tool; with two or three, one does.
    ``overlap``: every topic is judged by ``copies`` assessors in each tool. ``hand``: as listed.
    """

    mode: Literal["cyclic", "overlap", "hand"]
    people: Numbers = Field(default=[])
    topics: Numbers | None = Field(None, description="Ids; all topics by default.")
    copies: int = Field(2, ge=1, le=1000)
    assignments: Annotated[list[ByHand], Field(max_length=10_000)] = Field(default=[])


def _project_out(connection: Connection, number: int) -> ProjectOut:
    return ProjectOut.model_validate(dict(project_of(connection, number)))


@router.get("")
def all_projects(_: Admin, store: Stored) -> list[ProjectOut]:
    """All projects."""
    with store.read() as connection:
        return [ProjectOut.model_validate(dict(row)) for row in projects.all_projects(connection)]


@router.post("", status_code=201)
def create(body: ProjectIn, _: Admin, store: Stored) -> ProjectOut:
    """Create a project."""
    with store.write() as connection:
        number = projects.add_project(connection, **body.model_dump())
        return _project_out(connection, number)


@router.post("/import", status_code=201)
def import_project(
    file: UploadFile, _: Admin, store: Stored, name: Annotated[Name | None, Form()] = None
) -> ProjectOut:
    """Create a project with all its judgments from a file written by the export ``project``."""
    with uploaded(file) as path:
        project_file = read_project(path)
    number = bundle.import_project(store, project_file, name)
    with store.read() as connection:
        return _project_out(connection, number)


@router.get("/{number}")
def one_project(project: Managed) -> ProjectOut:
    """The settings of a project."""
    return project.load(_project_out)


@router.patch("/{number}")
def change(project: Managed, body: ProjectChange) -> ProjectOut:
    """Rename, pause, archive or reactivate a project, or change its instructions."""
    with project.write() as connection:
        lifecycle.change_project(connection, project.number, body.model_dump(exclude_none=True))
        return _project_out(connection, project.number)


@router.delete("/{number}")
def delete_project(project: Managed, body: Deletion) -> Message:
    """Delete a project with its topics, documents and judgments. Its name must be given."""
    with project.write() as connection:
        lifecycle.delete_project(connection, project.number, body.name)
    return Message(message=f"The project {body.name!r} was deleted.")


# -- assignments -------------------------------------------------------------------------------------------
@router.post("/{number}/assignments", status_code=201)
def assign(project: Managed, body: Assign) -> Message:
    """Assign topics to assessors. Earlier assignments stay."""
    with project.write() as connection:
        settings = project_of(connection, project.number)
        tools = ["pairs", "grades"] if settings["tools"] == "both" else [settings["tools"]]
        assignments = _planned(connection, project.number, body, tools)
        if any(assignment.tool not in tools for assignment in assignments):
            raise InputError("the project does not use that tool", f"choose {' or '.join(tools)}")
        new = labellings.assign(connection, project.number, assignments)
    return Message(message=f"Labellings: {new} new, {len(assignments) - new} already there.")


def _planned(connection: Connection, number: int, body: Assign, tools: list[str]) -> list[Assignment]:
    """The assignments that a request asks for, with topics and people that exist."""
    by_hand = [Assignment(row.topic, row.person, row.tool) for row in body.assignments]
    all_topics = [row["id"] for row in projects.topics_of(connection, number)]
    topics = all_topics if body.topics is None else list(dict.fromkeys(body.topics))
    assessors = list(dict.fromkeys(body.people))
    if not {*topics, *(row.topic for row in by_hand)} <= set(all_topics):
        raise InputError("one of the topics does not belong to this project", "reload the page")
    active = {person.id for person in people.everyone(connection) if person.active}
    if not {*assessors, *(row.person for row in by_hand)} <= active:
        raise InputError("one of the people does not exist or is not active", "reload the page")
    if body.mode == "hand":
        return by_hand
    if body.mode == "overlap":
        return overlapping(topics, assessors, tools, body.copies)
    if len(tools) < 2:
        raise InputError("a cyclic assignment needs a project with both tools", "choose overlap")
    return cyclic(topics, assessors)
