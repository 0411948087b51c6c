"""Models beside people: a chat model answers the questions of its labellings, as an assessor of the project.

Off by default: the server must be started with ``--models``, and an admin must add a model to a project. What
a model is unsure of, and a random share of the rest, waits for a person in the adjudication queue (routing by
confidence, as in :mod:`topkit.labelling.judges.routing`); a decision there outweighs the model's answer.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.engine import RowMapping

from topkit.data.errors import InputError
from topkit.labelling import Question
from topkit.labelling.judges import ChatJudge, Endpoint, NoAnswer, UnclearError
from topkit.labelling.judges.routing import Check, Cost, cost_of, goes_to_person, is_checked
from topkit.labelling.judges.spending import BudgetError
from topkit.web.document_kinds import plain_text
from topkit.web.journal import Journal
from topkit.web.judging import Judgment, ShownDocument, counted_answers
from topkit.web.names import MODEL_MARK
from topkit.web.records import Record
from topkit.web.store import Store, labellings, models

LEASE = 300.0
"""Seconds for which a process keeps a model to itself."""
ANSWERS_PER_ROUND = 40
"""A round of the background thread is not longer than this, so that a stopping server does not wait."""
log = logging.getLogger(__name__)


def work_for_models(store: Store, journal: Journal) -> int:
    """Let each active model answer some of its open questions; returns how many answers were saved."""
    with store.read() as connection:
        rows = [row for row in models.models_of(connection) if row["active"]]
    answered = 0
    for row in rows:
        with store.write() as connection:
            if not models.claim_model(connection, row, LEASE):
                continue
        problem = ""
        try:
            answered += _work(store, journal, row)
        except (InputError, BudgetError, UnclearError) as error:
            problem = str(error)[:500]
            log.warning("the model %s stopped: %s", row["name"], error)
        with store.write() as connection:
            # An admin may have stopped the model in the meantime: it is never started here.
            stopped = {"problem": problem, "active": False} if problem else {}
            models.change_model(connection, row["project"], row["id"], next=0.0, **stopped)
    return answered


def _work(store: Store, journal: Journal, row: RowMapping) -> int:
    count = 0
    with store.read() as connection:
        assigned = labellings.labellings_of(connection, project_id=row["project"], person_id=row["person"])
    for labelling in assigned:
        if count >= ANSWERS_PER_ROUND:
            break
        with _judge(store, row, labelling["topic"]) as judge, warnings.catch_warnings():
            warnings.simplefilter("ignore", NoAnswer)  # such an answer has confidence 0, so a person decides
            try:
                count += _answer(store, journal, judge, labelling, ANSWERS_PER_ROUND - count)
            finally:
                with store.write() as connection:
                    spent = row["requests"] + judge.requests
                    models.change_model(connection, row["project"], row["id"], requests=spent)
                row = {**row, "requests": row["requests"] + judge.requests}  # type: ignore[assignment]
    return count


def _judge(store: Store, row: RowMapping, topic: int) -> ChatJudge:
    with store.read() as connection:
        query, documents = models.texts_of_topic(connection, topic)

    def text(key: str) -> str:
        document = documents[key]
        return plain_text(document["kind"], document["title"], document["body"])

    endpoint = Endpoint(row["url"], row["model"], row["key_variable"] or None)
    left = max(0, row["budget"] - row["requests"])
    return ChatJudge(row["name"], endpoint, text, lambda _: query, budget=left)


def _answer(store: Store, journal: Journal, judge: ChatJudge, labelling: RowMapping, most: int) -> int:
    """Answer the open questions of a labelling; returns how many."""
    number, who = int(labelling["id"]), int(labelling["person"])
    turn = asyncio.run(journal.current_turn(who, number))
    count = 0
    while turn.question is not None and count < most:
        a, b = turn.question.a.key, None if turn.question.b is None else turn.question.b.key
        verdict = judge.judge(labelling["topic_key"], Question(a, b))
        seq, key = turn.seq + 1, secrets.token_hex(16)
        judgment = Judgment(seq, key, a, b, verdict.answer, round(verdict.seconds or 0.0, 3))
        reply = asyncio.run(journal.save(who, number, judgment))
        if reply.outcome == "saved":
            with store.write() as connection:
                models.note_answer(connection, number, seq, verdict.confidence)
        turn, count = reply.turn, count + 1
    return count


# -- routing -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Waiting:
    """An answer of a model that a person should check: it is unsure, or was chosen at random."""

    topic: int
    topic_key: str
    query: str
    documents: list[ShownDocument]
    model: str
    answer: str
    confidence: float | None
    unsure: bool


@dataclass(frozen=True)
class Routing:
    """What waits for people, and what the share of the models cost in quality so far."""

    waiting: list[Waiting]
    cost: Cost
    statement: str


def routing(
    records: Sequence[Record],
    rows: Sequence[RowMapping],
    sure_of: Mapping[tuple[int, int], float | None],
) -> Routing:
    """Which answers of models people should check, and what the checks so far say."""
    by_person = {row["person"]: row for row in rows}
    waiting: list[Waiting] = []
    checks: list[Check] = []
    by_people = by_model = 0
    for record in records:
        row = by_person.get(record.row["person"])
        if row is None:
            by_people += len(counted_answers(record.log))
            continue
        for judgment in counted_answers(record.log):
            if judgment.b is None:
                continue
            question, sure = Question(judgment.a, judgment.b), sure_of.get((record.row["id"], judgment.seq))
            decided = decision_on(record, question)
            unsure = goes_to_person(sure, row["sure"])
            if decided is not None:
                by_people += 1
                if not unsure:
                    checks.append(Check(record.topic, question, judgment.answer, decided, sure or 0.0))
                continue
            by_model += 1
            if unsure or is_checked(record.topic, question, row["check"]):
                shown = [record.task.documents[key] for key in (judgment.a, judgment.b)]
                where = (record.topic_id, record.topic, str(record.row["query"]), shown)
                waiting.append(Waiting(*where, row["name"], judgment.answer, sure, unsure))
    cost = cost_of(checks, by_people, by_model)
    waiting.sort(key=lambda item: (item.confidence is not None, item.confidence or 0.0))
    return Routing(waiting, cost, str(cost))


def decision_on(record: Record, question: Question) -> str | None:
    """The decision about the documents of a question as an answer to it, or None."""
    a, b = question.a, question.b or ""
    verdict = record.decisions.get((a, b))
    if verdict is None:
        verdict = record.decisions.get((b, a))
        verdict = {"a": "b", "b": "a"}.get(verdict, verdict) if verdict is not None else None
    return verdict


@dataclass(frozen=True)
class Suggestion:
    """What a model says about a pair; shown only to somebody who has answered it."""

    model: str
    prefers: str | None
    """The key of the better document; None: about the same."""
    stated: bool
    """False if the model's other answers imply it."""


def suggestion(records: Sequence[Record], topic: int, a: str, b: str) -> Suggestion | None:
    """What the first model that judged this topic says or implies about two documents."""
    for record in records:
        if record.topic_id != topic or not record.assessor.startswith(MODEL_MARK):
            continue
        items = list(record.lab.items)
        relation = record.lab.known().relation(items.index(a), items.index(b))
        if relation is not None:
            stated = any({row.a, row.b} == {a, b} for row in record.lab.answers)
            prefers = {"a": a, "b": b}.get(relation)
            return Suggestion(record.assessor.removeprefix(MODEL_MARK), prefers, stated)
    return None
