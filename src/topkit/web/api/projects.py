"""Projects: settings, material, assignments."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Response, UploadFile
from pydantic import BaseModel, Field
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.reporting.words import counted
from topkit.web import bundle
from topkit.web.assign import cyclic, overlapping
from topkit.web.guard import Admin, Stored
from topkit.web.imports import read_material, read_prior, read_topics
from topkit.web.judging import ShownDocument, Tool
from topkit.web.lookup import existing, project_of
from topkit.web.managed import Managed
from topkit.web.project_file import read_project
from topkit.web.shapes import LARGEST_NUMBER, PROBLEMS, Body, Id, LongText, Message, Name, Number, ProjectIn
from topkit.web.store import labellings, lifecycle, people, projects
from topkit.web.store.labellings import Assignment
from topkit.web.store.pictures import pictures_of
from topkit.web.viewing import document_response

router = APIRouter(prefix="/api/projects", tags=["projects"], responses=PROBLEMS)
ProjectState = Literal["active", "paused", "archived"]
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


class TopicOut(BaseModel):
    """A topic; with 0 candidates, all documents of the project will be judged."""

    id: int
    key: str
    query: str
    description: str
    candidates: int
    labellings: int


class DocumentsOut(BaseModel):
    """A part of the documents, without their texts."""

    total: int
    documents: list[ShownDocument]


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


@contextmanager
def uploaded(file: UploadFile) -> Iterator[Path]:
    """An upload as a temporary file; errors name the line, but not the path on the server."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as stream:
            shutil.copyfileobj(file.file, stream)
        try:
            yield path
        except InputError as error:
            line = "" if error.line is None else f"line {error.line}: "
            raise InputError(line + error.problem, error.remedy) from None


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


# -- material ----------------------------------------------------------------------------------------------
@router.get("/{number}/topics")
def topics(project: Managed) -> list[TopicOut]:
    """The topics of a project."""
    return [TopicOut.model_validate(dict(row)) for row in project.load(projects.topics_of)]


@router.post("/{number}/topics", status_code=201)
def import_topics(project: Managed, file: UploadFile) -> Message:
    """Import topics: CSV, TSV or JSON Lines with id, query and description, TREC topics, or id<tab>query."""
    with uploaded(file) as path:
        imported = read_topics(path)
        with project.write() as connection:
            new = projects.add_topics(connection, project.number, imported)
    return _imported("topics", new, len(imported))


@router.get("/{number}/documents")
def documents(
    project: Managed,
    first: Annotated[int, Query(ge=0, le=LARGEST_NUMBER)] = 0,
    count: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DocumentsOut:
    """The documents of a project."""
    with project.read() as connection:
        total, rows = projects.documents_of(connection, project.number, first, count)
    return DocumentsOut.model_validate({"total": total, "documents": [dict(row) for row in rows]})


@router.post("/{number}/documents", status_code=201)
def import_documents(
    project: Managed,
    file: UploadFile,
    format_name: Annotated[
        Literal["jsonl", "csv", "tsv", "trec", "cranfield"] | None, Form(alias="format")
    ] = None,
) -> Message:
    """Import documents: JSON Lines, CSV or TSV (id, title, text or html or url, topic), or a TREC corpus."""
    with uploaded(file) as path:
        name = (file.filename or "").lower()
        ending = next(
            (form for form in ("jsonl", "csv", "tsv") if name.removesuffix(".gz").endswith(form)), None
        )
        imported = read_material(path, format_name or ending)
        with project.write() as connection:
            new = projects.add_documents(connection, project.number, imported)
            late = projects.documents_never_judged(connection, project.number)
    message = _imported("documents", new, len(imported))
    if late:
        message.message += (
            f" {counted(late, 'document')} will not be judged: every topic already has its documents."
            " To have them judged, make a new topic."
        )
    return message


@router.get("/{number}/documents/{document}", response_class=Response)
def view(project: Managed, document: Id) -> Response:
    """A document of the project as a page without scripts."""
    with project.read() as connection:
        row = projects.get_document(connection, document)
        in_project = row if row is not None and row["project"] == project.number else None
        found = existing(in_project, "document")
        return document_response(found, "", pictures_of(connection, project.number))


@router.post("/{number}/run", status_code=201)
def import_run(
    project: Managed,
    file: UploadFile,
    depth: Annotated[int, Form(ge=1, le=10_000)] = 50,
) -> Message:
    """Import a TREC run: the first documents of each topic are its candidates, in the order of the run."""
    with uploaded(file) as path:
        ranked = read_prior(path, depth)
        with project.write() as connection:
            topic_keys = {row["key"] for row in projects.topics_of(connection, project.number)}
            used = {key: keys for key, keys in ranked.items() if key in topic_keys}
            if not used:
                raise InputError("the run contains none of the topics", "check that the ids are the same")
            added = projects.add_candidates(connection, project.number, used, prior=True)
    return Message(
        message=f"Prior ranking for {counted(len(used), 'topic')}; {counted(added, 'candidate')} added."
    )


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
    return _imported("labellings", new, len(assignments))


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


def _imported(what: str, new: int, total: int) -> Message:
    return Message(message=f"{what.capitalize()}: {new} new, {total - new} already there.")
