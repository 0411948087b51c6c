"""A whole project in one JSON Lines file: topics, documents, labellings and every judgment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.data.files import FilePath, text_writer
from topkit.web.project_file import LABELLING_FIELDS, PROJECT_FIELDS, REMEDY, ProjectFile
from topkit.web.schema import candidate, document, labelling, project, topic
from topkit.web.shapes import checked_name
from topkit.web.store import people, projects
from topkit.web.store.judgments import append_judgments, judgments_of_project


def write_project(connection: Connection, project_id: int, path: FilePath) -> None:
    """Write everything about a project except passwords; importing the file gives the same project."""
    with text_writer(path) as stream:
        for record in _records(connection, project_id):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _records(connection: Connection, project_id: int) -> Iterator[dict[str, Any]]:
    row = projects.get_project(connection, project_id)
    assert row is not None  # noqa: S101 - the caller has looked it up
    yield {"project": {name: row[name] for name in PROJECT_FIELDS}, "version": 1}
    topics = {row["id"]: row["key"] for row in projects.topics_of(connection, project_id)}
    for row in projects.topics_of(connection, project_id):
        yield {"topic": row["key"], "query": row["query"], "description": row["description"]}
    query = sa.select(document).where(document.c.project == project_id).order_by(document.c.id)
    documents = {}
    for row in connection.execute(query).mappings():
        documents[row["id"]] = row["key"]
        yield {"document": row["key"], "kind": row["kind"], "title": row["title"], "body": row["body"]}
    yield from _candidate_records(connection, topics, documents)
    yield from _labelling_records(connection, project_id, topics)


def _candidate_records(
    connection: Connection, topics: dict[int, str], documents: dict[int, str]
) -> Iterator[dict[str, Any]]:
    for topic_id, topic_key in topics.items():
        rows = connection.execute(
            sa.select(candidate).where(candidate.c.topic == topic_id).order_by(candidate.c.place)
        ).all()
        ranked = sorted((row for row in rows if row.prior is not None), key=lambda row: row.prior)
        yield {
            "candidates": topic_key,
            "documents": [documents[row.document] for row in rows],
            "prior": [documents[row.document] for row in ranked],
        }


def _labelling_records(
    connection: Connection, project_id: int, topics: dict[int, str]
) -> Iterator[dict[str, Any]]:
    names = {person.id: person.name for person in people.everyone(connection)}
    judgments = judgments_of_project(connection, project_id)
    query = sa.select(labelling).where(labelling.c.project == project_id).order_by(labelling.c.id)
    for row in connection.execute(query).mappings():
        yield {
            "labelling": topics[row["topic"]],
            "assessor": names[row["person"]],
            **{field: row[field] for field in LABELLING_FIELDS},
            "judgments": [astuple(judgment) for judgment in judgments.get(row["id"], [])],
        }


def add_project(connection: Connection, file: ProjectFile, name: str | None = None) -> int:
    """Create the project of a file (with another ``name`` if given) and return its id.

    The number of statements does not depend on the size of the project, so the write lock is held for a short
    time only. Assessors are identified by name. New ones are added without a password, so they cannot sign in
    until an admin gives them a link.
    """
    settings = {field: value for field, value in file.settings.items() if field != "name"}
    try:
        chosen = file.settings["name"] if name is None else checked_name(name)
        project_id = projects.add_project(connection, chosen, **settings)
        projects.add_topics(connection, project_id, file.topics.values())
        projects.add_documents(connection, project_id, list(file.documents.values()))
        topics = projects.ids_by_key(connection, topic, project_id)
        _add_candidates(connection, project_id, file, topics)
        _add_labellings(connection, project_id, file, topics)
    except sa.exc.SQLAlchemyError as error:
        kind = type(error).__name__
        raise InputError(f"the database does not accept the project ({kind})", REMEDY) from None
    return project_id


def _add_candidates(
    connection: Connection, project_id: int, file: ProjectFile, topics: dict[str, int]
) -> None:
    documents = projects.ids_by_key(connection, document, project_id)
    rows = []
    for topic_key, candidates in file.candidates.items():
        ranks = {key: rank for rank, key in enumerate(candidates.prior)}
        rows += [
            {"topic": topics[topic_key], "document": documents[key], "place": place, "prior": ranks.get(key)}
            for place, key in enumerate(candidates.documents)
        ]
    if rows:
        connection.execute(candidate.insert(), rows)


def _add_labellings(
    connection: Connection, project_id: int, file: ProjectFile, topics: dict[str, int]
) -> None:
    if not file.labellings:
        return
    persons = {}
    for assessor in dict.fromkeys(entry.assessor for entry in file.labellings):
        known = people.find_person(connection, assessor)
        account = known[0] if known else people.add_person(connection, assessor, "assessor")
        persons[assessor] = account.id
    keys = [(topics[entry.topic], persons[entry.assessor]) for entry in file.labellings]
    rows = [
        {"project": project_id, "topic": topic_id, "person": person_id, **entry.values}
        for (topic_id, person_id), entry in zip(keys, file.labellings, strict=True)
    ]
    connection.execute(labelling.insert(), rows)
    query = sa.select(labelling.c.topic, labelling.c.person, labelling.c.id)
    stored = connection.execute(query.where(labelling.c.project == project_id))
    ids = {(row.topic, row.person): row.id for row in stored}
    judgments = [
        (ids[key], judgment)
        for key, entry in zip(keys, file.labellings, strict=True)
        for judgment in entry.judgments
    ]
    if judgments:
        append_judgments(connection, judgments)


def project_number(connection: Connection, name: str) -> int:
    """The id of the project with this name."""
    project_id = connection.scalar(sa.select(project.c.id).where(project.c.name == name))
    if project_id is None:
        names = ", ".join(repr(row["name"]) for row in projects.all_projects(connection)) or "none"
        raise InputError(f"there is no project {name!r}", f"existing projects: {names}")
    return int(project_id)
