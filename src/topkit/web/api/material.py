"""The material of projects: topics, documents, pictures, and a prior ranking."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Response, UploadFile
from pydantic import BaseModel

from topkit.data.errors import InputError
from topkit.data.words import counted
from topkit.web.document_kinds import Kind
from topkit.web.imports import read_material, read_prior, read_topics
from topkit.web.judging import ShownDocument
from topkit.web.lookup import document_of, existing, topic_of
from topkit.web.managed import Managed
from topkit.web.material import check_topic
from topkit.web.shapes import LARGEST_NUMBER, PROBLEMS, Body, Id, Key, LongText, Message
from topkit.web.store import lifecycle, projects
from topkit.web.store.pictures import REMEDY, add_picture, pictures_of, read_upload
from topkit.web.store.projects import Topic
from topkit.web.store.versions import DOCUMENTS, TOPICS, versions_of
from topkit.web.viewing import document_response

router = APIRouter(prefix="/api/projects/{number}", tags=["projects"], responses=PROBLEMS)


class TopicOut(BaseModel):
    """A topic; with 0 candidates, all documents of the project will be judged."""

    id: int
    key: str
    query: str
    description: str
    candidates: int
    labellings: int


class TopicChange(Body):
    """New texts of a topic; what is not given stays."""

    key: Key | None = None
    query: LongText | None = None
    description: LongText | None = None


class Version(BaseModel):
    """Something that was changed when it already had judgments, and until when it was shown (UTC seconds)."""

    version: int
    until: float


class TopicVersion(Version):
    """An earlier text of a topic."""

    query: str
    description: str


class DocumentsOut(BaseModel):
    """A part of the documents, without their texts."""

    total: int
    documents: list[ShownDocument]


class DocumentVersion(Version):
    """An earlier text of a document."""

    kind: Kind
    title: str
    body: str


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


@router.get("/topics")
def topics(project: Managed) -> list[TopicOut]:
    """The topics of a project."""
    return [TopicOut.model_validate(dict(row)) for row in project.load(projects.topics_of)]


@router.post("/topics", status_code=201)
def import_topics(project: Managed, file: UploadFile) -> Message:
    """Import topics: CSV, TSV or JSON Lines with id, query and description, TREC topics, or id<tab>query."""
    with uploaded(file) as path:
        imported = read_topics(path)
        with project.write() as connection:
            new = projects.add_topics(connection, project.number, imported)
    return Message(message=f"Topics: {new} new, {len(imported) - new} already there.")


@router.patch("/topics/{topic}")
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
    note = f" It has judgments: this is version {versions + 1} of its text." if versions > before else ""
    return Message(message=f"Topic {changed['key']!r} was changed.{note}")


@router.delete("/topics/{topic}")
def delete_topic(project: Managed, topic: Id) -> Message:
    """Delete a topic that has no judgments."""
    with project.write() as connection:
        row = topic_of(connection, project.number, topic)
        lifecycle.delete_topic(connection, topic)
    return Message(message=f"Topic {row['key']!r} was deleted.")


@router.get("/topics/{topic}/versions")
def versions(project: Managed, topic: Id) -> list[TopicVersion]:
    """Earlier texts of a topic."""
    with project.read() as connection:
        topic_of(connection, project.number, topic)
        return [TopicVersion.model_validate(dict(row)) for row in versions_of(connection, TOPICS, topic)]


@router.get("/documents")
def documents(
    project: Managed,
    first: Annotated[int, Query(ge=0, le=LARGEST_NUMBER)] = 0,
    count: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DocumentsOut:
    """The documents of a project."""
    with project.read() as connection:
        total, rows = projects.documents_of(connection, project.number, first, count)
    return DocumentsOut.model_validate({"total": total, "documents": [dict(row) for row in rows]})


@router.post("/documents", status_code=201)
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
            added = projects.add_documents(connection, project.number, imported)
            late = projects.documents_never_judged(connection, project.number)
    unchanged = len(imported) - added.new - added.changed
    message = Message(
        message=f"Documents: {added.new} new, {added.changed} changed, {unchanged} already there."
    )
    if added.versions:
        message.message += (
            f" {counted(added.versions, 'changed document')} with judgments: the old text is kept as a"
            " version, and each judgment says which version was seen."
        )
    if late:
        message.message += (
            f" {counted(late, 'document')} will not be judged: every topic already has its documents."
            " To have them judged, make a new topic."
        )
    return message


@router.get("/documents/{document}", response_class=Response)
def view(
    project: Managed, document: Id, version: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None
) -> Response:
    """A document of the project as a page without scripts; its present text, or an earlier version."""
    with project.read() as connection:
        row = document_of(connection, project.number, document)
        if version is not None:
            earlier = versions_of(connection, DOCUMENTS, document)
            row = existing(next((old for old in earlier if old["version"] == version), None), "version")
        return document_response(row, "", pictures_of(connection, project.number))


@router.get("/documents/{document}/versions")
def document_versions(project: Managed, document: Id) -> list[DocumentVersion]:
    """Earlier texts of a document that was changed when it already had judgments."""
    with project.read() as connection:
        document_of(connection, project.number, document)
        rows = versions_of(connection, DOCUMENTS, document)
    return [DocumentVersion.model_validate(dict(row)) for row in rows]


@router.post("/run", status_code=201)
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


@router.post("/pictures", status_code=201)
def upload_pictures(project: Managed, file: UploadFile) -> Message:
    """Upload a picture (PNG, JPEG, GIF or WebP), or a ZIP archive of pictures. Documents name them."""
    count = 0
    with project.write() as connection:
        for name, content in read_upload(file.filename or "picture", file.file):
            add_picture(connection, project.number, name, content)
            count += 1
        if not count:
            raise InputError("the archive contains no files", REMEDY)
    return Message(message=f"{counted(count, 'picture')} stored.")
