"""A whole project in one file of JSON Lines: topics, documents, labellings and every judgment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.data.files import FilePath, text_writer
from topkit.features.corpus import lines
from topkit.web.schema import candidate, document, labelling, project, topic
from topkit.web.store import people, projects
from topkit.web.store.engine import insert_one
from topkit.web.store.work import LABELLING_TOOLS, Event, add_judgments, events_of_project, get_task
from topkit.web.turns import Course

FORM = "give a file that 'topkit label export --format project' has written"
PROJECT_FIELDS = ("name", "k", "strategy", "tools", "seed", "instructions")


def write_project(connection: Connection, number: int, path: FilePath) -> None:
    """Write everything about a project but passwords: importing it gives the same project."""
    with text_writer(path) as stream:
        for line in _lines(connection, number):
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def _lines(connection: Connection, number: int) -> Iterator[dict[str, Any]]:
    row = projects.get_project(connection, number)
    assert row is not None  # noqa: S101 - the caller has looked it up
    yield {"project": {name: row[name] for name in PROJECT_FIELDS}, "version": 1}
    topics = {one["id"]: one for one in projects.topics_of(connection, number)}
    for one in topics.values():
        yield {"topic": one["key"], "query": one["query"], "description": one["description"]}
    query = sa.select(document).where(document.c.project == number).order_by(document.c.id)
    keys = {}
    for doc in connection.execute(query).mappings():
        keys[doc["id"]] = doc["key"]
        yield {"document": doc["key"], "kind": doc["kind"], "title": doc["title"], "body": doc["body"]}
    for place, one in topics.items():
        found = connection.execute(
            sa.select(candidate).where(candidate.c.topic == place).order_by(candidate.c.place)
        ).all()
        prior = [keys[c.document] for c in sorted(found, key=lambda c: c.prior or 0) if c.prior is not None]
        yield {"candidates": one["key"], "documents": [keys[c.document] for c in found], "prior": prior}
    names = {person.id: person.name for person in people.everyone(connection)}
    events = events_of_project(connection, number)
    fields = (labelling.c.tool, labelling.c.strategy, labelling.c.k, labelling.c.seed, labelling.c.created)
    query = sa.select(labelling.c.id, labelling.c.topic, labelling.c.person, *fields)
    for one in connection.execute(
        query.where(labelling.c.project == number).order_by(labelling.c.id)
    ).mappings():
        yield {
            "labelling": topics[one["topic"]]["key"],
            "assessor": names[one["person"]],
            **{field.name: one[field.name] for field in fields},
            "judgments": [list(event) for event in events.get(one["id"], [])],
        }


def read_project(connection: Connection, path: FilePath, name: str | None = None) -> int:
    """Create the project of a file (under another ``name`` if given) and return its id.

    Assessors are found by name; those who are not there yet are added without a password, so that they cannot
    sign in until an admin gives them a link. Every labelling is replayed before it is taken.
    """
    number: int | None = None
    topics: dict[str, int] = {}
    for line, record in _records(path):
        try:
            if number is None:
                number = _add_project(connection, record, name)
            elif "topic" in record:
                found = projects.Topic(record["topic"], record["query"], record["description"])
                projects.add_topics(connection, number, [found])
            elif "document" in record:
                doc = projects.Document(record["document"], record["kind"], record["title"], record["body"])
                if doc.kind not in projects.KINDS:
                    raise InputError(f"{doc.kind!r} is no kind of document", FORM)
                projects.add_documents(connection, number, [doc])
            elif "candidates" in record:
                _add_candidates(connection, number, record)
            elif "labelling" in record:
                topics = topics or {row["key"]: row["id"] for row in projects.topics_of(connection, number)}
                _add_labelling(connection, number, topics, record)
            else:
                raise InputError("the line is of no known kind", FORM)
        except InputError as error:
            raise InputError(error.problem, error.remedy or FORM, file=path, line=line) from None
        except (KeyError, TypeError, ValueError, sa.exc.SQLAlchemyError) as error:
            kind = type(error).__name__
            raise InputError(
                f"the line is not as it should be ({kind})", FORM, file=path, line=line
            ) from None
    if number is None:
        raise InputError("the file is empty", FORM, file=path)
    return number


def _records(path: FilePath) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise InputError("this is not a line of a project", FORM, file=path, line=line)
        yield line, record


def _add_project(connection: Connection, record: dict[str, Any], name: str | None) -> int:
    if record.get("version") != 1:
        raise InputError("this is no project, or one of a later version", FORM)
    values = {field: record["project"][field] for field in PROJECT_FIELDS}
    own = values.pop("name")
    return projects.add_project(connection, name or own, **values)


def _add_candidates(connection: Connection, number: int, record: dict[str, Any]) -> None:
    key, prior = record["candidates"], record["prior"]
    if not record["documents"]:
        return
    place = connection.execute(
        sa.select(topic.c.id).where(topic.c.project == number, topic.c.key == key)
    ).scalar_one()
    query = sa.select(document.c.key, document.c.id).where(document.c.project == number)
    ids: dict[str, int] = {row.key: row.id for row in connection.execute(query)}
    ranked = {doc: i for i, doc in enumerate(prior)}
    rows = [
        {"topic": place, "document": ids[doc], "place": i, "prior": ranked.get(doc)}
        for i, doc in enumerate(record["documents"])
    ]
    connection.execute(candidate.insert(), rows)


def _add_labelling(
    connection: Connection, number: int, topics: dict[str, int], record: dict[str, Any]
) -> None:
    found = people.find_person(connection, record["assessor"])
    person = found[0] if found else people.add_person(connection, record["assessor"], "assessor")
    if record["tool"] not in LABELLING_TOOLS:
        raise InputError(f"{record['tool']!r} is no tool", FORM)
    values = {field: record[field] for field in ("tool", "strategy", "k", "seed", "created")}
    where = {"project": number, "topic": topics[record["labelling"]], "person": person.id}
    made = insert_one(connection, labelling, {**where, **values})
    events = [Event(*event) for event in record["judgments"]]
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        raise InputError("the sequence numbers of a labelling have gaps", FORM)
    task = get_task(connection, made)
    if task is None or not task.documents:
        raise InputError("the labelling has no documents", FORM)
    Course.replayed(task, events)
    if events:
        add_judgments(connection, [(made, event) for event in events])


def project_number(connection: Connection, name: str) -> int:
    """The id of the project of a name."""
    found = connection.scalar(sa.select(project.c.id).where(project.c.name == name))
    if found is None:
        known = ", ".join(repr(row["name"]) for row in projects.all_projects(connection)) or "none"
        raise InputError(f"there is no project {name!r}", f"there are: {known}")
    return int(found)
