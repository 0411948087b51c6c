"""A whole project in one JSON Lines file: material, work, every judgment, gold questions, decisions, …"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.data.files import FilePath, text_writer
from topkit.web.names import MODEL_MARK
from topkit.web.project_extras import write_extras
from topkit.web.project_file import (
    LABELLING_FIELDS,
    LATER_FIELDS,
    PROJECT_FIELDS,
    REMEDY,
    VERSIONS,
    ProjectFile,
)
from topkit.web.schema import (
    candidate,
    document,
    document_version,
    feature_file,
    judgment,
    labelling,
    project,
    topic,
    topic_version,
)
from topkit.web.shapes import checked_name
from topkit.web.store import Store, lifecycle, people, projects
from topkit.web.store.judgments import judgments_of_project
from topkit.web.store.versions import DOCUMENTS, TOPICS, versions_by_owner


def write_project(connection: Connection, project_id: int, path: FilePath) -> None:
    """Write everything about a project except passwords; importing the file gives the same project."""
    with text_writer(path) as stream:
        for record in _records(connection, project_id):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _records(connection: Connection, project_id: int) -> Iterator[dict[str, Any]]:
    row = projects.get_project(connection, project_id)
    assert row is not None  # noqa: S101 - the caller has looked it up
    yield {"project": {name: row[name] for name in (*PROJECT_FIELDS, *LATER_FIELDS)}, "version": VERSIONS[-1]}
    topics: dict[int, str] = {}
    documents: dict[int, str] = {}
    for kind, keys in ((TOPICS, topics), (DOCUMENTS, documents)):
        versions = versions_by_owner(connection, kind, project_id)
        query = sa.select(kind.table).where(kind.table.c.project == project_id).order_by(kind.table.c.id)
        for row in connection.execute(query).mappings():
            keys[row["id"]] = row["key"]
            yield {kind.table.name: row["key"], **{name: row[name] for name in kind.texts}}
            for old in versions.get(row["id"], []):
                texts = {name: old[name] for name in (*kind.texts, "until")}
                yield {kind.versions.name: row["key"], **texts}
    yield from _candidate_records(connection, topics, documents)
    work: dict[int, tuple[str, str]] = {}
    yield from _labelling_records(connection, project_id, topics, work)
    yield from write_extras(connection, project_id, work)


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
    connection: Connection, project_id: int, topics: dict[int, str], work: dict[int, tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """The labellings; notes the topic and the assessor of each of them in ``work``."""
    names = {person.id: person.name for person in people.everyone(connection)}
    judgments = judgments_of_project(connection, project_id)
    query = sa.select(labelling).where(labelling.c.project == project_id).order_by(labelling.c.id)
    for row in connection.execute(query).mappings():
        work[row["id"]] = topics[row["topic"]], names[row["person"]]
        yield {
            "labelling": topics[row["topic"]],
            "assessor": names[row["person"]],
            **{field: row[field] for field in LABELLING_FIELDS},
            **({} if row["state"] == "open" else {"state": row["state"]}),
            "judgments": [astuple(judgment) for judgment in judgments.get(row["id"], [])],
        }


CHUNK = 2_000
"""Rows per transaction. SQLite has one writer at a time, so an import must let judgments in between."""
PAUSE = 0.02
"""Seconds between transactions; a transaction that waits for SQLite's lock tries again at such intervals."""


def import_project(store: Store, file: ProjectFile, name: str | None = None) -> int:
    """Create the project of a file (with another ``name`` if given) and return its id.

    The project is written in short transactions, under a temporary name and archived, so that people can
    continue to label. It gets its name and state at the end. If anything fails, it is deleted. Assessors are
    identified by name. New ones have no password, so they cannot sign in until an admin gives them a link.
    """
    chosen = file.settings["name"] if name is None else checked_name(name)
    with _accepted(), store.write() as connection:
        projects.check_name_is_free(connection, chosen)
        settings = {field: value for field, value in file.settings.items() if field != "name"}
        settings["state"] = "archived"
        temporary = f"{chosen[:70]} (importing {secrets.token_hex(4)})"
        project_id = projects.add_project(connection, temporary, **settings)
    try:
        with _accepted():
            for rows in _steps(store, project_id, file):
                for start in range(0, len(rows.values), CHUNK):
                    part = rows.values[start : start + CHUNK]
                    with store.write() as connection:
                        connection.execute(rows.table.insert(), part)
                    if len(part) == CHUNK:
                        time.sleep(PAUSE)
            with store.write() as connection:
                state = file.settings.get("state", "active")
                lifecycle.change_project(connection, project_id, {"name": chosen, "state": state})
    except BaseException:
        with store.write() as connection:
            lifecycle.delete_project(connection, project_id, temporary)
        raise
    return project_id


@contextmanager
def _accepted() -> Iterator[None]:
    """Values that the database does not accept are the fault of the file."""
    try:
        yield
    except (sa.exc.IntegrityError, sa.exc.DataError) as error:
        kind = type(error).__name__
        raise InputError(f"the database does not accept the project ({kind})", REMEDY) from None


class _Rows(NamedTuple):
    table: sa.Table
    values: list[dict[str, Any]]


def _steps(store: Store, project_id: int, file: ProjectFile) -> Iterator[_Rows]:
    """The rows to insert, table by table; ids are looked up after the rows that they belong to are stored."""
    yield _Rows(topic, [{"project": project_id, **row._asdict()} for row in file.topics.values()])
    yield _Rows(
        document,
        [
            {"project": project_id, "key": row.key, "kind": row.kind, "title": row.title, "body": row.body}
            for row in file.documents.values()
        ],
    )
    with store.read() as connection:
        topics = projects.ids_by_key(connection, topic, project_id)
        documents = projects.ids_by_key(connection, document, project_id)
    yield _Rows(topic_version, _version_rows("topic", topics, file.topic_versions))
    yield _Rows(document_version, _version_rows("document", documents, file.document_versions))
    yield _Rows(candidate, _candidate_rows(file, topics, documents))
    with store.write() as connection:
        persons = _persons(connection, file)
    keys = [(topics[entry.topic], persons[entry.assessor]) for entry in file.labellings]
    values = [
        {"project": project_id, "topic": topic_id, "person": person_id, **entry.values}
        for (topic_id, person_id), entry in zip(keys, file.labellings, strict=True)
    ]
    yield _Rows(labelling, values)
    with store.read() as connection:
        query = sa.select(labelling.c.topic, labelling.c.person, labelling.c.id)
        stored = connection.execute(query.where(labelling.c.project == project_id))
        ids = {(row.topic, row.person): row.id for row in stored}
    yield _Rows(
        judgment,
        [
            {"labelling": ids[key], **asdict(row)}
            for key, entry in zip(keys, file.labellings, strict=True)
            for row in entry.judgments
        ],
    )
    yield from _extra_rows(file, project_id, topics, persons, ids)


def _extra_rows(
    file: ProjectFile,
    project_id: int,
    topics: dict[str, int],
    persons: dict[str, int],
    labellings: dict[tuple[int, int], int],
) -> Iterator[_Rows]:
    """Gold questions, decisions, remarks and the like, each with the ids of what it belongs to."""
    by_table: dict[sa.Table, list[dict[str, Any]]] = {}
    if file.features:
        by_table[feature_file] = [{"project": project_id, "content": "".join(file.features)}]
    for extra in file.extras:
        owners: dict[str, Any] = {"project": project_id}
        owners |= {"topic": topics.get(extra.topic), "person": persons.get(extra.assessor)}
        owners["labelling"] = labellings.get((owners["topic"], owners["person"]))
        columns = {name: owner for name, owner in owners.items() if name in extra.table.c}
        by_table.setdefault(extra.table, []).append({**columns, **extra.values})
    for table, values in by_table.items():
        yield _Rows(table, values)


def _version_rows(
    owner: str, ids: dict[str, int], versions: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    return [
        {owner: ids[key], "version": number, **row}
        for key, rows in versions.items()
        for number, row in enumerate(rows, 1)
    ]


def _candidate_rows(
    file: ProjectFile, topics: dict[str, int], documents: dict[str, int]
) -> list[dict[str, Any]]:
    rows = []
    for topic_key, candidates in file.candidates.items():
        ranks = {key: rank for rank, key in enumerate(candidates.prior)}
        rows += [
            {"topic": topics[topic_key], "document": documents[key], "place": place, "prior": ranks.get(key)}
            for place, key in enumerate(candidates.documents)
        ]
    return rows


def _persons(connection: Connection, file: ProjectFile) -> dict[str, int]:
    persons = {}
    models = (extra.assessor for extra in file.extras if extra.assessor)
    for assessor in dict.fromkeys((*(entry.assessor for entry in file.labellings), *models)):
        if assessor.startswith(MODEL_MARK):
            persons[assessor] = people.model_account(connection, assessor).id
            continue
        known = people.find_person(connection, assessor)
        account = known[0] if known else people.add_person(connection, assessor, "assessor")
        persons[assessor] = account.id
    return persons


def project_number(connection: Connection, name: str) -> int:
    """The id of the project with this name."""
    project_id = connection.scalar(sa.select(project.c.id).where(project.c.name == name))
    if project_id is None:
        names = ", ".join(repr(row["name"]) for row in projects.all_projects(connection)) or "none"
        raise InputError(f"there is no project {name!r}", f"existing projects: {names}")
    return int(project_id)
