"""A study with five assessors and two tools, simulated: who judges what, and the judgments that come out."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from topkit.data.judgments import Judgments
from topkit.labelling.judges.judge import label
from topkit.labelling.judges.simulated import SimulatedAssessor, error_by_gap
from topkit.labelling.labelling import Labelling

FIVE = 5


class Task(NamedTuple):
    """One assessor's work on one query."""

    assessor: int
    query: int
    tool: str
    """"preferences" or "grades"."""


def cyclic_assignment(queries: int, rounds: int = 2) -> Iterator[Task]:
    """Assessor i judges fold i by preferences and fold i+1 by grades; the next round two folds further on.

    So no assessor sees a query in both tools, every assessor uses both, and with two rounds two assessors
    judge every query in each tool, which agreement needs. Folds are counted cyclically; query q is in fold
    q mod 5.

    >>> [task[1:] for task in cyclic_assignment(5) if task.assessor == 0]
    [(0, 'preferences'), (1, 'grades'), (2, 'preferences'), (3, 'grades')]
    """
    for turn in range(min(rounds, 2)):
        for assessor in range(FIVE):
            for step, tool in enumerate(("preferences", "grades")):
                fold = (assessor + 2 * turn + step) % FIVE
                yield from (Task(assessor, query, tool) for query in range(fold, queries, FIVE))


def simulated_study(
    queries: int = 50, documents: int = 50, k: int = 10, strategy: str = "heap", seed: int = 0
) -> Judgments:
    """Judgments of five simulated assessors, assigned cyclically, with both tools.

    The true relevance of a document is normal. Every assessor sees it with a deviation of their own (0.3) and
    has borders of their own between the grades, shifted by a normal 0.4. Comparing, gaps up to 0.35 are ties
    and errors fall with the gap; grading, the relevance is blurred by 0.6, because grades are harder to give:
    these are assumptions, chosen to be like the paper's assessors, and prove nothing about people. Judgments
    take 5.5 and 13.9 seconds in the mean, the paper's figures.
    """
    chance = Random(seed)
    truth = [[chance.gauss(0, 1) for _ in range(documents)] for _ in range(queries)]
    shift = [chance.gauss(0, 0.4) for _ in range(FIVE)]
    grades: list[Judgments] = []
    for task in cyclic_assignment(queries):
        items = [f"q{task.query}d{i}" for i in range(documents)]
        seen = [value + chance.gauss(0, 0.3) for value in truth[task.query]]
        by_preference = task.tool == "preferences"
        assessor = SimulatedAssessor(
            f"assessor {task.assessor + 1}",
            dict(zip(items, seen, strict=True)),
            error=error_by_gap(0.2, 0.5),
            tie_band=0.35,
            borders=[border + shift[task.assessor] for border in (-0.5, 0.5, 1.2, 1.8)],
            blur=0.6,
            seconds=5.5 if by_preference else 13.9,
            seed=seed * 1000 + task.query,
        )
        lab = Labelling(items, k, strategy if by_preference else "graded", seed + task.query)
        grades.append(label(lab, assessor, f"q{task.query}").judgments(f"q{task.query}"))
    return Judgments(
        tuple(grade for part in grades for grade in part.grades),
        tuple(preference for part in grades for preference in part.preferences),
    )
