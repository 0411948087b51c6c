"""Projects: settings, material, assignment."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Form, HTTPException, Query, Response, UploadFile
from pydantic import BaseModel, Field
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web import bundle
from topkit.web.api.labellings import show_document
from topkit.web.assign import cyclic, overlapping
from topkit.web.guard import Admin, Stored
from topkit.web.imports import read_material, read_prior, read_topics
from topkit.web.shapes import PROBLEMS, Body, Id, Name, Said, Words
from topkit.web.store import people, projects, work
from topkit.web.store.work import Assignment

router = APIRouter(prefix="/api/projects", tags=["projects"], responses=PROBLEMS)
Tools = Literal["pairs", "grades", "both"]
Numbers = Annotated[list[Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=10_000)]


class ProjectIn(Body):
    """What a project asks: how many places, by which strategy, in which tools."""

    name: Name
    k: int = Field(10, ge=1, le=1000)
    strategy: Annotated[str, Field(max_length=50)] = "adaptive"
    tools: Tools = "both"
    seed: int = Field(0, ge=0, le=2**31 - 1)
    instructions: Words = ""


class ProjectOut(ProjectIn):
    """A project."""

    id: int
    created: float


class Instructions(Body):
    """What assessors are told."""

    instructions: Words


class TopicOut(BaseModel):
    """A topic; with 0 candidates it will be judged on all documents of the project."""

    id: int
    key: str
    query: str
    description: str
    candidates: int
    labellings: int


class DocumentsOut(BaseModel):
    """Some of the documents, without their texts."""

    class Item(BaseModel):
        """A document."""

        id: int
        key: str
        kind: Literal["text", "html", "url"]
        title: str

    total: int
    documents: list[Item]


class ByHand(Body):
    """One topic for one person in one tool (ids)."""

    topic: int = Field(ge=1, le=2**31 - 1)
    person: int = Field(ge=1, le=2**31 - 1)
    tool: Literal["pairs", "grades"]


class Assign(Body):
    """How to share out topics.

    ``cyclic``: the paper's way, where everybody uses both tools and nobody sees one query in both.
    ``overlap``: every topic by ``copies`` assessors in each tool. ``hand``: as listed.
    """

    mode: Literal["cyclic", "overlap", "hand"]
    people: Numbers = Field(default=[])
    topics: Numbers | None = Field(None, description="Ids; all topics by default.")
    copies: int = Field(2, ge=1, le=1000)
    assignments: Annotated[list[ByHand], Field(max_length=10_000)] = Field(default=[])


def found(connection: Connection, number: int) -> RowMapping:
    """The project, or 404."""
    row = projects.get_project(connection, number)
    if row is None:
        raise HTTPException(404, "There is no such project.")
    return row


@contextmanager
def saved(file: UploadFile) -> Iterator[Path]:
    """An upload as a file of its own for the readers; errors speak of lines, not of our path."""
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
    """Every project."""
    with store.read() as connection:
        return [ProjectOut.model_validate(dict(row)) for row in projects.all_projects(connection)]


@router.post("", status_code=201)
def create(body: ProjectIn, _: Admin, store: Stored) -> ProjectOut:
    """Create a project."""
    with store.write() as connection:
        number = projects.add_project(connection, **body.model_dump())
        return ProjectOut.model_validate(dict(found(connection, number)))


@router.post("/import", status_code=201)
def import_project(
    file: UploadFile, _: Admin, store: Stored, name: Annotated[Name | None, Form()] = None
) -> ProjectOut:
    """Create a project from a file that the export ``project`` wrote, judgments and all."""
    with saved(file) as path, store.write() as connection:
        number = bundle.read_project(connection, path, name)
        return ProjectOut.model_validate(dict(found(connection, number)))


@router.get("/{number}")
def one_project(number: Id, _: Admin, store: Stored) -> ProjectOut:
    """A project's settings."""
    with store.read() as connection:
        return ProjectOut.model_validate(dict(found(connection, number)))


@router.patch("/{number}")
def instruct(number: Id, body: Instructions, _: Admin, store: Stored) -> ProjectOut:
    """Change what assessors are told. The other settings are settled: labellings are functions of them."""
    with store.write() as connection:
        found(connection, number)
        projects.set_instructions(connection, number, body.instructions)
        return ProjectOut.model_validate(dict(found(connection, number)))


# -- material ----------------------------------------------------------------------------------------------
@router.get("/{number}/topics")
def topics(number: Id, _: Admin, store: Stored) -> list[TopicOut]:
    """The topics of a project."""
    with store.read() as connection:
        found(connection, number)
        return [TopicOut.model_validate(dict(row)) for row in projects.topics_of(connection, number)]


@router.post("/{number}/topics", status_code=201)
def import_topics(number: Id, file: UploadFile, _: Admin, store: Stored) -> Said:
    """Import topics: CSV, TSV or JSON Lines with id, query and description, TREC topics, or id<tab>query."""
    with saved(file) as path:
        read = read_topics(path)
        with store.write() as connection:
            found(connection, number)
            new = projects.add_topics(connection, number, read)
    return Said(message=f"{new} topics are new, {len(read) - new} were there before.")


@router.get("/{number}/documents")
def documents(
    number: Id,
    _: Admin,
    store: Stored,
    first: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    count: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DocumentsOut:
    """The documents of a project."""
    with store.read() as connection:
        found(connection, number)
        total, rows = projects.documents_of(connection, number, first, count)
    return DocumentsOut.model_validate({"total": total, "documents": [dict(row) for row in rows]})


@router.post("/{number}/documents", status_code=201)
def import_documents(
    number: Id,
    file: UploadFile,
    _: Admin,
    store: Stored,
    format_name: Annotated[
        Literal["jsonl", "csv", "tsv", "trec", "cranfield"] | None, Form(alias="format")
    ] = None,
) -> Said:
    """Import documents: JSON Lines, CSV or TSV (id, title, text or html or url, topic), or a TREC corpus."""
    with saved(file) as path:
        name = (file.filename or "").lower()
        ending = next(
            (one for one in ("jsonl", "csv", "tsv") if name.removesuffix(".gz").endswith(one)), None
        )
        read = read_material(path, format_name or ending)
        with store.write() as connection:
            found(connection, number)
            new = projects.add_documents(connection, number, read)
    return Said(message=f"{new} documents are new, {len(read) - new} were there before.")


@router.get("/{number}/documents/{document}", response_class=Response)
def view(number: Id, document: Id, _: Admin, store: Stored) -> Response:
    """A document of the project as a page that can do nothing."""
    with store.read() as connection:
        row = projects.get_document(connection, document)
    return show_document(row if row is not None and row["project"] == number else None, "")


@router.post("/{number}/run", status_code=201)
def import_run(
    number: Id,
    file: UploadFile,
    _: Admin,
    store: Stored,
    depth: Annotated[int, Form(ge=1, le=10_000)] = 50,
) -> Said:
    """Import a TREC run: its first documents of each topic are judged, and its order is the prior."""
    with saved(file) as path:
        ranked = read_prior(path, depth)
        with store.write() as connection:
            found(connection, number)
            known = {row["key"] for row in projects.topics_of(connection, number)}
            chosen = {key: keys for key, keys in ranked.items() if key in known}
            if not chosen:
                raise InputError("the run is for none of the topics", "check that the ids are the same")
            added = projects.add_candidates(connection, number, chosen, prior=True)
    return Said(message=f"{len(chosen)} topics have a prior ranking; {added} documents were added to them.")


# -- assignment --------------------------------------------------------------------------------------------
@router.post("/{number}/assignments", status_code=201)
def assign(number: Id, body: Assign, _: Admin, store: Stored) -> Said:
    """Share out topics among assessors. What was assigned before stays."""
    with store.write() as connection:
        settings = found(connection, number)
        there = {row["id"] for row in projects.topics_of(connection, number)}
        chosen = list(dict.fromkeys(body.topics)) if body.topics is not None else sorted(there)
        persons = list(dict.fromkeys(body.people))
        by_hand = [Assignment(one.topic, one.person, one.tool) for one in body.assignments]
        if not {*chosen, *(one.topic for one in by_hand)} <= there:
            raise InputError("one of the topics is not of this project", "load the page again")
        active = {person.id for person in people.everyone(connection) if person.active}
        if not {*persons, *(one.person for one in by_hand)} <= active:
            raise InputError("one of the people is not there or not active", "load the page again")
        tools = ["pairs", "grades"] if settings["tools"] == "both" else [settings["tools"]]
        if body.mode == "hand":
            wanted = by_hand
        elif body.mode == "overlap":
            wanted = overlapping(chosen, persons, tools, body.copies)
        elif len(tools) == 2:
            wanted = cyclic(chosen, persons)
        else:
            raise InputError("the assignment in a circle is for projects with both tools", "choose overlap")
        if any(one.tool not in tools for one in wanted):
            raise InputError("the project does not use that tool", f"choose {' or '.join(tools)}")
        new = work.assign(connection, number, wanted)
    return Said(message=f"{new} labellings are new, {len(wanted) - new} were there before.")
