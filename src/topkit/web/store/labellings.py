"""Labellings: which assessor judges which topic in which tool, and the tasks that result."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web.gold import GoldQuestion
from topkit.web.judging import ShownDocument, Task
from topkit.web.schema import candidate, document, gold, judgment, labelling, person, project, topic
from topkit.web.store.projects import settle_candidates

LABELLING_TOOLS = ("pairs", "grades")
LABELLING_STATES = ("open", "kept", "dropped")
"""Open, or taken back, with judgments that count or do not count any more."""


_TASK_FIELDS = ("id", "project", "topic", "person", "tool", "k", "strategy", "seed")


class Assignment(NamedTuple):
    """A topic for a person in a tool (ids of topic and person)."""

    topic: int
    person: int
    tool: str


def assign(connection: Connection, project_id: int, assignments: Iterable[Assignment]) -> int:
    """Create the labellings that do not exist yet. Returns how many are new."""
    settings = connection.execute(sa.select(project).where(project.c.id == project_id)).mappings().one()
    if settings["state"] == "archived":
        raise InputError("the project is archived", "make it active first")
    present = connection.execute(sa.select(labelling).where(labelling.c.project == project_id)).all()
    tools = {(row.topic, row.person): row.tool for row in present}
    closed = {(row.topic, row.person) for row in present if row.state != "open"}
    rows = []
    for assignment in assignments:
        tool = tools.get((assignment.topic, assignment.person))
        if (assignment.topic, assignment.person) in closed:
            raise InputError("the work of this person on this topic was taken back", "reopen it instead")
        if tool == assignment.tool:
            continue
        if tool is not None:
            raise _both_tools(connection, assignment)
        tools[assignment.topic, assignment.person] = assignment.tool
        rows.append(
            {
                "project": project_id,
                **assignment._asdict(),
                "strategy": "graded" if assignment.tool == "grades" else settings["strategy"],
                "k": settings["k"],
                "seed": _seed(settings["seed"], assignment),
                "created": time.time(),
            }
        )
    settle_candidates(connection, project_id, dict.fromkeys(row["topic"] for row in rows))
    if rows:
        connection.execute(labelling.insert(), rows)
    return len(rows)


def _both_tools(connection: Connection, assignment: Assignment) -> InputError:
    name = connection.scalar(sa.select(person.c.name).where(person.c.id == assignment.person))
    key = connection.scalar(sa.select(topic.c.key).where(topic.c.id == assignment.topic))
    return InputError(
        f"{name!r} already judges topic {key!r} in the other tool",
        "assign it to somebody else: nobody judges a query in both tools",
    )


def _seed(seed: int, assignment: Assignment) -> int:
    """A different seed for every labelling, so that sides and orders differ between assessors."""
    digest = hashlib.sha256(f"{seed} {assignment.topic} {assignment.person}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 2


def unassign(connection: Connection, labelling_id: int) -> bool:
    """Remove a labelling without judgments; False if there is no such labelling."""
    if connection.scalar(sa.select(sa.func.count()).where(judgment.c.labelling == labelling_id)):
        raise InputError("the labelling has judgments, which are never deleted", "keep the labelling")
    return connection.execute(labelling.delete().where(labelling.c.id == labelling_id)).rowcount == 1


def labellings_of(
    connection: Connection,
    *,
    project_id: int | None = None,
    person_id: int | None = None,
    topic_id: int | None = None,
) -> list[RowMapping]:
    """Labellings with their topic, the assessor's name, and the last sequence number.

    Those of a person are the ones that they can continue; those of a project or topic are all of them.
    """
    last = sa.select(sa.func.max(judgment.c.seq)).where(judgment.c.labelling == labelling.c.id)
    query = (
        sa.select(
            labelling,
            topic.c.key.label("topic_key"),
            topic.c.query,
            topic.c.description,
            person.c.name.label("assessor"),
            project.c.name.label("project_name"),
            project.c.state.label("project_state"),
            sa.func.coalesce(last.scalar_subquery(), 0).label("seq"),
        )
        .join(topic, topic.c.id == labelling.c.topic)
        .join(person, person.c.id == labelling.c.person)
        .join(project, project.c.id == labelling.c.project)
        .order_by(labelling.c.id)
    )
    if project_id is not None:
        query = query.where(labelling.c.project == project_id)
    if topic_id is not None:
        query = query.where(labelling.c.topic == topic_id)
    if person_id is not None:
        query = query.where(labelling.c.person == person_id)
        query = query.where(labelling.c.state == "open", project.c.state != "archived")
    return list(connection.execute(query).mappings())


def labelling_exists(connection: Connection, labelling_id: int) -> bool:
    """False if the labelling was removed."""
    return connection.scalar(sa.select(labelling.c.id).where(labelling.c.id == labelling_id)) is not None


def get_task(connection: Connection, labelling_id: int) -> Task | None:
    """The task of a labelling."""
    row = connection.execute(sa.select(labelling).where(labelling.c.id == labelling_id)).mappings().first()
    return None if row is None else with_gold(connection, tasks_of(connection, [row])[row["id"]])


def with_gold(connection: Connection, task: Task) -> Task:
    """The task with the present gold questions of its topic and tool, and the present rate."""
    rate = connection.scalar(sa.select(project.c.gold_rate).where(project.c.id == task.project)) or 0.0
    if rate == 0:
        return replace(task, gold=(), gold_rate=0.0)
    is_grade = gold.c.b.is_(None)
    rows = connection.execute(
        sa.select(gold.c.id, gold.c.a, gold.c.b, gold.c.answer)
        .where(gold.c.topic == task.topic, is_grade if task.tool == "grades" else ~is_grade)
        .order_by(gold.c.id)
    )
    questions = (GoldQuestion(*row) for row in rows)
    known = tuple(question for question in questions if question.documents <= task.documents.keys())
    return replace(task, gold=known, gold_rate=rate)


def tasks_of(connection: Connection, rows: Sequence[RowMapping]) -> dict[int, Task]:
    """The tasks of these labellings, by labelling, without gold questions."""
    candidates = _candidates(connection, {row["topic"] for row in rows})
    return {row["id"]: _task(row, candidates.get(row["topic"], [])) for row in rows}


class Shape(NamedTuple):
    """The number of documents of a labelling, and whether they have a prior ranking."""

    documents: int
    has_prior: bool


def shapes_of(
    connection: Connection, topics: Collection[int], project_id: int | None = None
) -> dict[int, Shape]:
    """The shape of the labellings of these topics, by topic; with a project, of all its assigned topics."""
    assigned = sa.select(labelling.c.topic).where(labelling.c.project == project_id)
    chosen = candidate.c.topic.in_(topics if project_id is None else assigned)
    query = sa.select(candidate.c.topic, sa.func.count(), sa.func.count(candidate.c.prior)).where(chosen)
    rows = connection.execute(query.group_by(candidate.c.topic))
    return {topic: Shape(documents, ranked > 0) for topic, documents, ranked in rows}


def _candidates(connection: Connection, topics: Collection[int]) -> dict[int, list[Any]]:
    """The candidate documents of the topics, by topic, in order."""
    query = (
        sa.select(
            candidate.c.topic,
            document.c.id,
            document.c.key,
            document.c.title,
            document.c.kind,
            candidate.c.prior,
        )
        .join_from(candidate, document)
        .where(candidate.c.topic.in_(topics))
        .order_by(candidate.c.topic, candidate.c.place)
    )
    by_topic: dict[int, list[Any]] = {}
    for row in connection.execute(query):
        by_topic.setdefault(row.topic, []).append(row)
    return by_topic


def _task(row: RowMapping, candidates: Sequence[Any]) -> Task:
    documents = {doc.key: ShownDocument(doc.id, doc.key, doc.title, doc.kind) for doc in candidates}
    ranked = sorted((doc.prior, doc.key) for doc in candidates if doc.prior is not None)
    return Task(
        **{name: row[name] for name in _TASK_FIELDS},
        documents=documents,
        prior=tuple(key for _, key in ranked) or None,
    )
