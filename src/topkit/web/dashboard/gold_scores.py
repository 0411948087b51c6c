"""The accuracy of each assessor on gold questions, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from topkit.labelling.judges.routing import wilson
from topkit.web.gold import GoldQuestion, unmarked
from topkit.web.judging import SKIP, standing_answers
from topkit.web.records import Record

WINDOW = 10
"""Accuracy over time is the share of right answers among the last ten."""


@dataclass(frozen=True)
class GoldScore:
    """How often an assessor answered gold questions correctly, with a 95 % interval (Wilson)."""

    assessor: str
    answered: int
    right: int
    accuracy: float
    low: float
    high: float
    recent: float
    """Accuracy of the last ten."""
    times: list[float]
    moving: list[float]
    """For each answer, in the order of ``times``: the accuracy of the last ten up to it."""


@dataclass(frozen=True)
class GoldMistake:
    """A wrong answer to a gold question."""

    time: float
    assessor: str
    topic_key: str
    gold: int
    a: str
    b: str | None
    answer: str
    mixed_in: bool
    """False if the strategy asked the same question by itself."""


def gold_scores(
    records: Sequence[Record], questions: Mapping[int, Sequence[GoldQuestion]]
) -> tuple[list[GoldScore], list[GoldMistake]]:
    """Scores by assessor, and the wrong answers, the newest first.

    Every standing answer about the documents of a gold question counts, also one that the strategy asked for.
    """
    answers: dict[str, list[tuple[float, bool]]] = {}
    mistakes: list[GoldMistake] = []
    for record in records:
        by_documents = {question.documents: question for question in questions.get(record.topic_id, ())}
        for judgment in standing_answers(record.log) if by_documents else ():
            documents = frozenset(key for key in (judgment.a, judgment.b) if key is not None)
            question, answer = by_documents.get(documents), unmarked(judgment.answer)
            if question is None or answer == SKIP:
                continue
            right = question.is_right(judgment.a, answer)
            answers.setdefault(record.assessor, []).append((judgment.time, right))
            if not right:
                mixed_in = answer != judgment.answer
                where = (record.assessor, record.topic, question.id, judgment.a, judgment.b)
                mistakes.append(GoldMistake(judgment.time, *where, answer, mixed_in))
    scores = [_score(assessor, sorted(rows)) for assessor, rows in sorted(answers.items())]
    return scores, sorted(mistakes, key=lambda mistake: -mistake.time)


def _score(assessor: str, rows: list[tuple[float, bool]]) -> GoldScore:
    outcomes = [right for _, right in rows]
    moving = []
    for end in range(1, len(outcomes) + 1):
        last = outcomes[max(0, end - WINDOW) : end]
        moving.append(sum(last) / len(last))
    right, count = sum(outcomes), len(outcomes)
    low, high = wilson(right, count)
    times = [time for time, _ in rows]
    return GoldScore(assessor, count, right, right / count, low, high, moving[-1], times, moving)
