"""Gold questions, adjudications, and the remarks of assessors."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web.gold import GoldQuestion, choices
from topkit.web.schema import (
    adjudication,
    candidate,
    document,
    gold,
    labelling,
    person,
    project,
    remark,
    topic,
)
from topkit.web.store.engine import insert_one


class GoldRow(NamedTuple):
    """A gold question by the keys of its topic and documents."""

    topic: str
    a: str
    b: str | None
    answer: str
    note: str = ""


# -- gold questions ----------------------------------------------------------------------------------------
def gold_of(connection: Connection, project_id: int) -> list[RowMapping]:
    """The gold questions of a project with the key of their topic."""
    return _with_topic(connection, gold, project_id)


def _with_topic(connection: Connection, table: sa.Table, project_id: int) -> list[RowMapping]:
    """The rows of a table that belong to topics of a project, in order, with the key of their topic."""
    query = sa.select(table, topic.c.key.label("topic_key")).join(topic, topic.c.id == table.c.topic)
    return list(
        connection.execute(query.where(topic.c.project == project_id).order_by(table.c.id)).mappings()
    )


def gold_by_topic(connection: Connection, project_id: int) -> dict[int, list[GoldQuestion]]:
    """The gold questions of each topic."""
    by_topic: dict[int, list[GoldQuestion]] = {}
    for row in gold_of(connection, project_id):
        question = GoldQuestion(row["id"], row["a"], row["b"], row["answer"])
        by_topic.setdefault(row["topic"], []).append(question)
    return by_topic


def add_gold(connection: Connection, project_id: int, rows: Sequence[GoldRow], who: str) -> int:
    """Add gold questions; one with the same documents gets the new answer. Returns how many are new."""
    topics = {row.key: row.id for row in connection.execute(_of(topic, project_id))}
    documents = {row.key for row in connection.execute(_of(document, project_id))}
    new = 0
    for row in rows:
        if row.topic not in topics:
            raise InputError(f"there is no topic {row.topic!r}", "use the ids of the imported topics")
        unknown = next((key for key in (row.a, row.b) if key is not None and key not in documents), None)
        if unknown is not None:
            raise InputError(f"there is no document {unknown!r}", "use the ids of the imported documents")
        if row.a == row.b:
            raise InputError(f"document {row.a!r} is compared with itself", "give two documents")
        if row.answer not in choices(row.b):
            raise InputError(f"invalid answer {row.answer!r}", f"choose from {', '.join(choices(row.b))}")
        new += _put_gold(connection, topics[row.topic], row, who)
    return new


def _put_gold(connection: Connection, topic_id: int, row: GoldRow, who: str) -> bool:
    either = sa.and_(gold.c.a == row.a, gold.c.b.is_(None) if row.b is None else gold.c.b == row.b)
    if row.b is not None:
        either = sa.or_(either, sa.and_(gold.c.a == row.b, gold.c.b == row.a))
    removed = connection.execute(gold.delete().where(gold.c.topic == topic_id, either)).rowcount
    values = {"topic": topic_id, "a": row.a, "b": row.b, "answer": row.answer, "note": row.note}
    insert_one(connection, gold, {**values, "person": who, "created": time.time()})
    return removed == 0


def remove_gold(connection: Connection, project_id: int, number: int) -> bool:
    """Remove a gold question; the answers to it stay in the log but no longer count."""
    topics = sa.select(topic.c.id).where(topic.c.project == project_id)
    return (
        connection.execute(gold.delete().where(gold.c.id == number, gold.c.topic.in_(topics))).rowcount == 1
    )


def set_gold_rate(connection: Connection, project_id: int, rate: float) -> None:
    """Set which share of the questions are gold questions."""
    connection.execute(project.update().where(project.c.id == project_id).values(gold_rate=rate))


def _of(table: sa.Table, project_id: int) -> sa.Select[Any]:
    return sa.select(table.c.id, table.c.key).where(table.c.project == project_id)


# -- adjudications -----------------------------------------------------------------------------------------
def adjudications_of(connection: Connection, project_id: int) -> list[RowMapping]:
    """All decisions of a project, the first one first."""
    return _with_topic(connection, adjudication, project_id)


def decisions_of(connection: Connection, project_id: int) -> dict[int, dict[tuple[str, str], str]]:
    """The last decision about each settled pair, by topic. A withdrawn decision is left out."""
    by_topic: dict[int, dict[tuple[str, str], str]] = {}
    for row in adjudications_of(connection, project_id):
        decisions = by_topic.setdefault(row["topic"], {})
        decisions.pop((row["a"], row["b"]), None)
        if row["verdict"] != "open":
            decisions[row["a"], row["b"]] = row["verdict"]
    return by_topic


def adjudicate(
    connection: Connection, topic_id: int, pair: tuple[str, str], verdict: str, why: tuple[str, str]
) -> int:
    """Settle a pair of documents of a topic; ``why`` is the person and the reason.

    The documents are stored in the order of their keys, so that a pair has one form. The verdict "open"
    withdraws the decision.
    """
    known = set(
        connection.scalars(
            sa.select(document.c.key)
            .join(candidate, candidate.c.document == document.c.id)
            .where(candidate.c.topic == topic_id)
        )
    )
    a, b = pair
    if a == b or not {a, b} <= known:
        raise InputError("the two documents are not candidates of the topic", "reload the page")
    if a > b:
        a, b = b, a
        verdict = {"a": "b", "b": "a"}.get(verdict, verdict)
    who, reason = why
    values = {"topic": topic_id, "a": a, "b": b, "verdict": verdict, "reason": reason, "person": who}
    return insert_one(connection, adjudication, {**values, "time": time.time()})


# -- remarks -----------------------------------------------------------------------------------------------
def add_remark(
    connection: Connection, labelling_id: int, question: tuple[str, str | None], flagged: bool, text: str
) -> int:
    """Note what an assessor says about a question."""
    values = {"labelling": labelling_id, "a": question[0], "b": question[1], "flagged": flagged, "text": text}
    return insert_one(connection, remark, {**values, "time": time.time()})


def remarks_of(connection: Connection, project_id: int) -> list[RowMapping]:
    """The remarks of a project, open ones first, then the newest first."""
    query = (
        sa.select(
            remark,
            topic.c.key.label("topic_key"),
            topic.c.id.label("topic"),
            person.c.name.label("assessor"),
        )
        .join(labelling, labelling.c.id == remark.c.labelling)
        .join(topic, topic.c.id == labelling.c.topic)
        .join(person, person.c.id == labelling.c.person)
        .where(labelling.c.project == project_id)
        .order_by(remark.c.resolved.is_not(None), remark.c.time.desc())
    )
    return list(connection.execute(query).mappings())


def resolve_remark(connection: Connection, project_id: int, number: int, who: str) -> bool:
    """Mark a remark as dealt with."""
    labellings = sa.select(labelling.c.id).where(labelling.c.project == project_id)
    update = remark.update().where(
        remark.c.id == number, remark.c.labelling.in_(labellings), remark.c.resolved.is_(None)
    )
    return connection.execute(update.values(resolved=time.time(), resolver=who)).rowcount == 1


def document_titles(connection: Connection, project_id: int, keys: Iterable[str]) -> dict[str, RowMapping]:
    """The id and title of documents, by key."""
    query = sa.select(document.c.id, document.c.key, document.c.title).where(
        document.c.project == project_id, document.c.key.in_(set(keys))
    )
    return {row["key"]: row for row in connection.execute(query).mappings()}
