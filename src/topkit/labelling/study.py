"""A simulated study with five assessors and two tools: the assignment of queries, and the judgments."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from topkit.data.judgments import Judgments, joined_judgments
from topkit.labelling.judges.judge import label
from topkit.labelling.judges.simulated import SimulatedAssessor, error_by_gap
from topkit.labelling.labelling import Labelling

ASSESSORS = 5
"""Assessors and folds, as in the top-k labelling paper."""
ERROR_RATE, ERROR_SCALE = 0.06, 3.0
TIE_BAND, BLUR = 0.9, 0.4
ASSESSOR_DEVIATION, BORDER_SHIFT = 0.5, 0.25
BORDERS = (0.7, 1.2, 1.6, 1.9)
IRRELEVANT = 0.25
"""The assumptions of :func:`simulated_study`, searched for so that six rates are near those of the paper:
agreement, agreement without ties and share of ties, of preferences and of grades."""
PREFERENCE_SECONDS, GRADE_SECONDS = 5.51, 13.87
"""Mean time per judgment in the paper."""


class Task(NamedTuple):
    """The work of one assessor on one query."""

    assessor: int
    query: int
    tool: str
    """"preferences" or "grades"."""


class Turn(NamedTuple):
    """The folds of one assessor in one round; folds and assessors are counted from 0."""

    assessor: int
    by_preferences: int
    by_grades: int


def cyclic_folds(assessors: int, rounds: int = 2) -> Iterator[Turn]:
    """The paper's assignment: assessor i judges fold i by preferences and fold i+1 by grades.

    The next round does the same two folds later; folds are counted modulo the number of assessors. No
    assessor sees a fold in both tools, every assessor uses both, and every fold is judged in both tools in
    each round. A second round is needed to measure agreement, and it needs four assessors; with fewer there
    is one round.

    Reference: S. Niu et al., Top-k learning to rank: labeling, ranking and evaluation, SIGIR 2012, 4.1.1.

    >>> [turn[1:] for turn in cyclic_folds(5) if turn.assessor == 0]
    [(0, 1), (2, 3)]
    """
    for number in range(min(rounds, assessors // 2)):
        for assessor in range(assessors):
            first = assessor + 2 * number
            yield Turn(assessor, first % assessors, (first + 1) % assessors)


def cyclic_assignment(queries: int, rounds: int = 2) -> Iterator[Task]:
    """The work of five assessors by :func:`cyclic_folds`; query q is in fold q mod 5.

    >>> [task[1:] for task in cyclic_assignment(5) if task.assessor == 0]
    [(0, 'preferences'), (1, 'grades'), (2, 'preferences'), (3, 'grades')]
    """
    for assessor, by_preferences, by_grades in cyclic_folds(ASSESSORS, rounds):
        for fold, tool in ((by_preferences, "preferences"), (by_grades, "grades")):
            yield from (Task(assessor, query, tool) for query in range(fold, queries, ASSESSORS))


def simulated_study(
    queries: int = 50, documents: int = 50, k: int = 10, strategy: str = "heap", seed: int = 0
) -> Judgments:
    """Judgments of five simulated assessors, assigned cyclically, with both tools.

    The true relevance of a document is standard normal. Each assessor perceives it with a normal deviation
    (0.5); below 0.25 documents look equally irrelevant. In comparisons, gaps up to 0.9 are ties and the error
    rate decreases with the gap. In grading, the relevance is blurred by 0.4, because grades are harder to
    give, and each assessor has individual borders between the grades (shifted by a normal deviation of 0.25).
    These are assumptions, chosen to resemble the paper's assessors; they are not evidence about people.
    Judgments take 5.51 and 13.87 seconds on average, as in the paper.
    """
    chance = Random(seed)
    truth = [[chance.gauss(0, 1) for _ in range(documents)] for _ in range(queries)]
    shift = [chance.gauss(0, BORDER_SHIFT) for _ in range(ASSESSORS)]
    parts: list[Judgments] = []
    for task in cyclic_assignment(queries):
        items = [f"q{task.query}d{i}" for i in range(documents)]
        perceived = [
            max(value + chance.gauss(0, ASSESSOR_DEVIATION), IRRELEVANT) for value in truth[task.query]
        ]
        by_preference = task.tool == "preferences"
        assessor = SimulatedAssessor(
            f"assessor {task.assessor + 1}",
            dict(zip(items, perceived, strict=True)),
            error=error_by_gap(ERROR_RATE, ERROR_SCALE),
            tie_band=TIE_BAND,
            borders=[border + shift[task.assessor] for border in BORDERS],
            blur=BLUR,
            seconds=PREFERENCE_SECONDS if by_preference else GRADE_SECONDS,
            seed=seed * 1000 + task.query,
        )
        lab = Labelling(items, k, strategy if by_preference else "graded", seed + task.query)
        parts.append(label(lab, assessor, f"q{task.query}").judgments(f"q{task.query}"))
    return joined_judgments(parts)
