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
from topkit.web.json_lines import read_records
from topkit.web.judging import Judgment, LabellingState
from topkit.web.schema import candidate, document, labelling, project, topic
from topkit.web.store import people, projects
from topkit.web.store.engine import insert_one
from topkit.web.store.judgments import append_judgments, judgments_of_project
from topkit.web.store.labellings import LABELLING_TOOLS, get_task

REMEDY = "give a file that 'topkit label export --format project' has written"
PROJECT_FIELDS = ("name", "k", "strategy", "tools", "seed", "instructions")
LABELLING_FIELDS = ("tool", "strategy", "k", "seed", "created")


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


def read_project(connection: Connection, path: FilePath, name: str | None = None) -> int:
    """Create the project of a file (with another ``name`` if given) and return its id.

    Assessors are identified by name. New ones are added without a password, so they cannot sign in until an
    admin gives them a link. Every labelling is replayed before it is accepted.
    """
    project_id: int | None = None
    for line, record in read_records(path, REMEDY):
        try:
            if project_id is None:
                project_id = _add_project(connection, record, name)
            else:
                _add_record(connection, project_id, record)
        except InputError as error:
            raise InputError(error.problem, error.remedy or REMEDY, file=path, line=line) from None
        except (KeyError, TypeError, ValueError, sa.exc.SQLAlchemyError) as error:
            kind = type(error).__name__
            raise InputError(f"the record is invalid ({kind})", REMEDY, file=path, line=line) from None
    if project_id is None:
        raise InputError("the file is empty", REMEDY, file=path)
    return project_id


def _add_record(connection: Connection, project_id: int, record: dict[str, Any]) -> None:
    if "topic" in record:
        new_topic = projects.Topic(record["topic"], record["query"], record["description"])
        projects.add_topics(connection, project_id, [new_topic])
    elif "document" in record:
        doc = projects.Document(record["document"], record["kind"], record["title"], record["body"])
        if doc.kind not in projects.KINDS:
            raise InputError(f"unknown kind of document {doc.kind!r}", REMEDY)
        projects.add_documents(connection, project_id, [doc])
    elif "candidates" in record:
        _add_candidates(connection, project_id, record)
    elif "labelling" in record:
        _add_labelling(connection, project_id, record)
    else:
        raise InputError(f"unknown kind of record (fields {', '.join(record) or 'none'})", REMEDY)


def _add_project(connection: Connection, record: dict[str, Any], name: str | None) -> int:
    if record.get("version") != 1:
        raise InputError("the file is not a project of version 1", REMEDY)
    values = {field: record["project"][field] for field in PROJECT_FIELDS}
    exported_name = values.pop("name")
    return projects.add_project(connection, name or exported_name, **values)


def _topic_id(connection: Connection, project_id: int, key: str) -> int:
    query = sa.select(topic.c.id).where(topic.c.project == project_id, topic.c.key == key)
    return int(connection.execute(query).scalar_one())


def _add_candidates(connection: Connection, project_id: int, record: dict[str, Any]) -> None:
    if not record["documents"]:
        return
    topic_id = _topic_id(connection, project_id, record["candidates"])
    ids = projects.ids_by_key(connection, document, project_id)
    ranks = {key: rank for rank, key in enumerate(record["prior"])}
    rows = [
        {"topic": topic_id, "document": ids[key], "place": place, "prior": ranks.get(key)}
        for place, key in enumerate(record["documents"])
    ]
    connection.execute(candidate.insert(), rows)


def _add_labelling(connection: Connection, project_id: int, record: dict[str, Any]) -> None:
    known = people.find_person(connection, record["assessor"])
    person = known[0] if known else people.add_person(connection, record["assessor"], "assessor")
    if record["tool"] not in LABELLING_TOOLS:
        raise InputError(f"unknown tool {record['tool']!r}", REMEDY)
    values = {
        "project": project_id,
        "topic": _topic_id(connection, project_id, record["labelling"]),
        "person": person.id,
        **{field: record[field] for field in LABELLING_FIELDS},
    }
    labelling_id = insert_one(connection, labelling, values)
    judgments = [Judgment(*judgment) for judgment in record["judgments"]]
    task = get_task(connection, labelling_id)
    if task is None or not task.documents:
        raise InputError("the labelling has no documents", REMEDY)
    LabellingState.replay(task, judgments)
    if judgments:
        append_judgments(connection, [(labelling_id, judgment) for judgment in judgments])


def project_number(connection: Connection, name: str) -> int:
    """The id of the project with this name."""
    project_id = connection.scalar(sa.select(project.c.id).where(project.c.name == name))
    if project_id is None:
        names = ", ".join(repr(row["name"]) for row in projects.all_projects(connection)) or "none"
        raise InputError(f"there is no project {name!r}", f"existing projects: {names}")
    return int(project_id)
