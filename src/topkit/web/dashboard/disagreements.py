"""The adjudication queue: pairs of documents on which assessors disagree, and how they were settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.engine import RowMapping

from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, Pair
from topkit.web.dashboard.agreements import all_pairs
from topkit.web.judging import ShownDocument
from topkit.web.records import Record, judgments_of

Verdict = Literal["a", "b", "tie"]


@dataclass(frozen=True)
class View:
    """What an assessor's answers say or imply about a pair; ``prefers`` is None for a tie."""

    assessor: str
    prefers: str | None
    asked: bool


@dataclass(frozen=True)
class Settlement:
    """Who settled a pair, when and why; ``prefers`` is None for a tie."""

    prefers: str | None
    person: str
    reason: str
    time: float


@dataclass(frozen=True)
class Disagreement:
    """Two documents on which assessors disagree, and the decision about them if there is one."""

    topic: int
    topic_key: str
    query: str
    documents: list[ShownDocument]
    opposed: int
    views: list[View]
    settled: Settlement | None = None


def disagreements(
    records: list[Record], decisions: Iterable[RowMapping] = (), limit: int | None = None
) -> list[Disagreement]:
    """Pairs on which assessors disagree: open ones first, the most contested first, then those asked.

    ``decisions`` are the rows of the table ``adjudication``. Only the last decision on a pair counts.
    """
    asked = {(p.query, p.assessor, frozenset((p.a, p.b))) for p in judgments_of(records).preferences}
    by_topic = {record.topic: record for record in records}
    settled = _settlements(decisions)
    contested = []
    for pair, answers in all_pairs(records).items():
        counts = Counter(answers.values())
        if len(counts) < 2:
            continue
        record = by_topic[pair.query]
        contested.append(
            Disagreement(
                record.topic_id,
                pair.query,
                str(record.row["query"]),
                [record.task.documents[key] for key in (pair.a, pair.b)],
                min(counts[FIRST], counts[SECOND]),
                [_view(pair, assessor, answer, asked) for assessor, answer in answers.items()],
                settled.get((record.topic_id, frozenset((pair.a, pair.b)))),
            )
        )
    contested.sort(
        key=lambda row: (
            row.settled is not None,
            -row.opposed,
            -sum(view.asked for view in row.views),
            row.topic_key,
        )
    )
    return contested[:limit]


def _view(pair: Pair, assessor: str, answer: int, asked: set[tuple[str, str, frozenset[str]]]) -> View:
    prefers = None if answer == TIE else pair.a if answer == FIRST else pair.b
    return View(assessor, prefers, (pair.query, assessor, frozenset((pair.a, pair.b))) in asked)


def _settlements(decisions: Iterable[RowMapping]) -> dict[tuple[int, frozenset[str]], Settlement]:
    settled: dict[tuple[int, frozenset[str]], Settlement] = {}
    for row in decisions:
        key = row["topic"], frozenset((row["a"], row["b"]))
        settled.pop(key, None)
        if row["verdict"] != "open":
            prefers = {"a": row["a"], "b": row["b"]}.get(row["verdict"])
            settled[key] = Settlement(prefers, row["person"], row["reason"], row["time"])
    return settled
