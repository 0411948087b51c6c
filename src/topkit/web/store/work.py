"""Who labels what, and the judgments given: rows that are only ever added."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.labelling import Labelling
from topkit.web.schema import candidate, document, judgment, labelling, person, project, topic
from topkit.web.store.projects import settle_candidates

LABELLING_TOOLS = ("pairs", "grades")
UNDO = "undo"


class Event(NamedTuple):
    """One row of ``judgment``: an answer, or the last answer taken back."""

    seq: int
    key: str
    a: str
    b: str | None
    answer: str
    seconds: float
    time: float


class Shown(NamedTuple):
    """What the page needs to show a document."""

    id: int
    key: str
    title: str
    kind: str


@dataclass(frozen=True)
class Task:
    """A labelling as it was assigned: all that its questions are a function of, but for the answers."""

    id: int
    project: int
    topic: int
    person: int
    tool: str
    k: int
    strategy: str
    seed: int
    documents: Mapping[str, Shown]
    prior: tuple[str, ...] | None

    def start(self) -> Labelling:
        """The labelling before the first answer."""
        return Labelling(tuple(self.documents), self.k, self.strategy, self.seed, self.prior)


class Assignment(NamedTuple):
    """A topic for a person in a tool (ids of topic and person)."""

    topic: int
    person: int
    tool: str


def assign(connection: Connection, number: int, assignments: Iterable[Assignment]) -> int:
    """Create the labellings; those that exist as they are stay. Returns how many are new."""
    settings = connection.execute(sa.select(project).where(project.c.id == number)).mappings().one()
    there = {
        (row.topic, row.person): row.tool
        for row in connection.execute(sa.select(labelling).where(labelling.c.project == number))
    }
    rows = []
    for one in assignments:
        before = there.get((one.topic, one.person))
        if before == one.tool:
            continue
        if before is not None:
            who = connection.scalar(sa.select(person.c.name).where(person.c.id == one.person))
            what = connection.scalar(sa.select(topic.c.key).where(topic.c.id == one.topic))
            raise InputError(
                f"{who!r} has topic {what!r} in the other tool", "nobody judges one query in both tools"
            )
        there[one.topic, one.person] = one.tool
        strategy = "graded" if one.tool == "grades" else settings["strategy"]
        rows.append(
            {
                "project": number,
                **one._asdict(),
                "strategy": strategy,
                "k": settings["k"],
                "seed": _seed(settings["seed"], one),
                "created": time.time(),
            }
        )
    settle_candidates(connection, number, dict.fromkeys(row["topic"] for row in rows))
    if rows:
        connection.execute(labelling.insert(), rows)
    return len(rows)


def _seed(seed: int, one: Assignment) -> int:
    """A seed of its own for every labelling, so that sides and orders differ between assessors."""
    digest = hashlib.sha256(f"{seed} {one.topic} {one.person}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 2


def unassign(connection: Connection, number: int) -> bool:
    """Remove a labelling that nobody has begun; False where there is none."""
    if connection.scalar(sa.select(sa.func.count()).where(judgment.c.labelling == number)):
        raise InputError("the labelling has judgments, which are never thrown away", "leave it as it is")
    return connection.execute(labelling.delete().where(labelling.c.id == number)).rowcount == 1


def labellings_of(
    connection: Connection, *, project_id: int | None = None, person_id: int | None = None
) -> list[RowMapping]:
    """Labellings with the words of their topic, the assessor's name, and the last sequence number."""
    last = sa.select(sa.func.max(judgment.c.seq)).where(judgment.c.labelling == labelling.c.id)
    query = (
        sa.select(
            labelling,
            topic.c.key.label("topic_key"),
            topic.c.query,
            topic.c.description,
            person.c.name.label("assessor"),
            project.c.name.label("project_name"),
            sa.func.coalesce(last.scalar_subquery(), 0).label("seq"),
        )
        .join(topic, topic.c.id == labelling.c.topic)
        .join(person, person.c.id == labelling.c.person)
        .join(project, project.c.id == labelling.c.project)
        .order_by(labelling.c.id)
    )
    if project_id is not None:
        query = query.where(labelling.c.project == project_id)
    if person_id is not None:
        query = query.where(labelling.c.person == person_id)
    return list(connection.execute(query).mappings())


def get_task(connection: Connection, number: int) -> Task | None:
    """The task of a labelling's id."""
    row = connection.execute(sa.select(labelling).where(labelling.c.id == number)).first()
    if row is None:
        return None
    found = _candidates(connection, candidate.c.topic == row.topic)
    return _task(row, found.get(row.topic, []))


def exists(connection: Connection, number: int) -> bool:
    """Whether the labelling has not been removed."""
    return connection.scalar(sa.select(labelling.c.id).where(labelling.c.id == number)) is not None


def tasks_of_project(connection: Connection, number: int) -> dict[int, Task]:
    """Labelling → its task, for all of a project."""
    topics = sa.select(labelling.c.topic).where(labelling.c.project == number)
    found = _candidates(connection, candidate.c.topic.in_(topics))
    rows = connection.execute(
        sa.select(labelling).where(labelling.c.project == number).order_by(labelling.c.id)
    )
    return {row.id: _task(row, found.get(row.topic, [])) for row in rows}


def _candidates(connection: Connection, which: sa.ColumnElement[bool]) -> dict[int, list[Any]]:
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
        .where(which)
        .order_by(candidate.c.topic, candidate.c.place)
    )
    found: dict[int, list[Any]] = {}
    for row in connection.execute(query):
        found.setdefault(row.topic, []).append(row)
    return found


def _task(row: Any, candidates: list[Any]) -> Task:
    documents = {one.key: Shown(one.id, one.key, one.title, one.kind) for one in candidates}
    ranked = sorted((one.prior, one.key) for one in candidates if one.prior is not None)
    return Task(
        row.id,
        row.project,
        row.topic,
        row.person,
        row.tool,
        row.k,
        row.strategy,
        row.seed,
        documents,
        tuple(key for _, key in ranked) or None,
    )


_EVENT = (
    judgment.c.seq,
    judgment.c.key,
    judgment.c.a,
    judgment.c.b,
    judgment.c.answer,
    judgment.c.seconds,
    judgment.c.time,
)
EVENTS_AFTER = (
    sa.select(*_EVENT)
    .where(judgment.c.labelling == sa.bindparam("number"), judgment.c.seq > sa.bindparam("after"))
    .order_by(judgment.c.seq)
)


def events_after(connection: Connection, number: int, after: int = 0) -> list[Event]:
    """The events of a labelling with a later sequence number."""
    return [Event(*row) for row in connection.execute(EVENTS_AFTER, {"number": number, "after": after})]


def events_of_project(connection: Connection, number: int) -> dict[int, list[Event]]:
    """Labelling → its events, for all of a project."""
    query = (
        sa.select(judgment.c.labelling, *_EVENT)
        .join(labelling, labelling.c.id == judgment.c.labelling)
        .where(labelling.c.project == number)
        .order_by(judgment.c.labelling, judgment.c.seq)
    )
    found: dict[int, list[Event]] = {}
    for row in connection.execute(query):
        found.setdefault(row[0], []).append(Event(*row[1:]))
    return found


def standing(events: Iterable[Event]) -> list[Event]:
    """The answers that count: those not taken back.

    >>> gone = [Event(1, "x", "d", "e", "a", 1, 0), Event(2, "y", "d", "e", "undo", 1, 0)]
    >>> standing(gone)
    []
    """
    found: list[Event] = []
    for event in events:
        if event.answer != UNDO:
            found.append(event)
        elif found:
            found.pop()
    return found


def add_judgments(connection: Connection, rows: list[tuple[int, Event]]) -> None:
    """Append; the unique constraints refuse a sequence number or a key that is there already."""
    connection.execute(judgment.insert(), [{"labelling": one, **event._asdict()} for one, event in rows])
