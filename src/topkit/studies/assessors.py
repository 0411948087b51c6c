"""Simulated assessors that compare and grade as reliably and as fast as those of a published study.

The true relevance of a document is its grade plus, from 0 to 1, its place among the documents of that grade
in a full order. An assessor sees it with normal noise: comparing two documents, the noise is such that two
assessors agree on 89.7 % of the pairs that a labelling asks; grading one, such that the preferences their
grades imply agree on 83.1 %, ties left out. Niu et al., SIGIR 2012, tables 1–3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.labelling import GRADES, Labelling, SimulatedAssessor, label

AGREEMENT = {"preferences": 0.897, "grades": 0.831}
"""Agreement of two assessors, ties left out, as published."""
SECONDS = {"preferences": 5.51, "grades": 13.87}
"""Time of a judgment, as published."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Deviations of what assessors see, of each of two documents and of one to grade; borders of grades."""

    comparing: float
    grading: float
    borders: tuple[float, ...]


def relevance(graded: Dataset, ordered: Dataset) -> Floats:
    """Grade + (documents of the same grade below it + ½)/(documents of that grade), query by query.

    >>> data = Dataset.build([[0.0]] * 3, [1, 0, 1], ["q"] * 3)
    >>> relevance(data, data.with_labels([3, 1, 2], Dataset.build([[0]], [1], ["q"], truth="order").truth))
    array([1.75, 0.5 , 1.25])
    """
    found = np.empty(len(graded))
    for _, rows in graded:
        grades, order = graded.y[rows], ordered.y[rows]
        for grade in np.unique(grades):
            own = np.flatnonzero(grades == grade)
            place = np.argsort(np.argsort(order[own], kind="stable"))
            found[rows.start + own] = grade + (place + 0.5) / len(own)
    return found


def borders_for(top: float) -> tuple[float, ...]:
    """Four borders between five grades, for data whose best grade is ``top``.

    Every grade of the data is a grade here; where it has fewer than five, the lowest are halved.

    >>> borders_for(2), borders_for(3), borders_for(4)
    ((0.5, 1.0, 1.5, 2.0), (0.5, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 4.0))
    """
    if not 2 <= top <= 4:
        return tuple(np.linspace(0.0, top + 1.0, 6)[1:-1].tolist())
    whole = [float(grade) for grade in range(1, int(top) + 1)]
    halves = [grade + 0.5 for grade in range(4 - int(top))]
    return tuple(sorted(whole + halves))


def error_of(noise: float) -> Callable[[float], float]:
    """P(wrong) for two documents whose relevance differs by a gap: Φ(−gap/(√2·noise))."""
    from scipy.special import ndtr

    return lambda gap: float(ndtr(-gap / (sqrt(2) * noise))) if noise > 0 else 0.0


def calibrated(
    data: Dataset, values: Floats, pairs: NDArray[np.int64], agreement: float, of_grades: float
) -> Noise:
    """The noise at which two assessors agree as wanted on these pairs of documents."""
    gaps = np.abs(values[pairs[:, 0]] - values[pairs[:, 1]])
    borders = borders_for(float(data.y.max()))
    return Noise(
        _noise_for(lambda noise: comparing_agreement(gaps, noise), agreement),
        _noise_for(lambda noise: grading_agreement(values, pairs, borders, noise), of_grades),
        borders,
    )


def asked_pairs(data: Dataset, values: Floats, k: int) -> NDArray[np.int64]:
    """Rows of the pairs that an assessor without noise is asked, heap strategy, seed 0."""
    found: list[tuple[int, int]] = []
    for number, (query, rows) in enumerate(data):
        items = [str(row) for row in range(rows.start, rows.stop)]
        judge = SimulatedAssessor("exact", {item: float(values[int(item)]) for item in items})
        done = label(Labelling(items, k, "heap", number), judge, query)
        found += [(int(a), int(b)) for a, b, *_ in done.answers if b is not None]
    return np.array(found, np.int64).reshape(-1, 2)


def comparing_agreement(gaps: Floats, noise: float) -> float:
    """How often two assessors give the same answer: the mean of (1 − e)² + e²."""
    from scipy.special import ndtr

    wrong = ndtr(-gaps / (sqrt(2) * noise))
    return float(np.mean((1 - wrong) ** 2 + wrong**2))


def grading_agreement(
    values: Floats, pairs: NDArray[np.int64], borders: Sequence[float], noise: float
) -> float:
    """How often the grades of two assessors order a pair alike, where both order it."""
    from scipy.special import ndtr

    below = ndtr((np.array(borders)[None, :] - values[:, None]) / noise)
    cumulative = np.concatenate([np.zeros((len(values), 1)), below, np.ones((len(values), 1))], axis=1)
    chance = np.diff(cumulative, axis=1)  # of each grade
    first, second = pairs[:, 0], pairs[:, 1]
    lower = cumulative[:, :-1]  # P(grade below g)
    above = (chance[first] * lower[second]).sum(axis=1)
    under = (chance[second] * lower[first]).sum(axis=1)
    return float((above**2 + under**2).sum() / ((above + under) ** 2).sum())


def _noise_for(agreement_at: Callable[[float], float], wanted: float) -> float:
    """The noise at which a falling agreement is as wanted, by bisection."""
    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = sqrt(low * high)
        low, high = (middle, high) if agreement_at(middle) > wanted else (low, middle)
    return low


def error_rate(agreement: float) -> float:
    """The error rate e of each of two assessors who agree so often: (1 − e)² + e² = agreement.

    >>> round(error_rate(0.897), 4)
    0.0545
    """
    return (1 - sqrt(max(2 * agreement - 1, 0.0))) / 2


def labels_of(
    items: Sequence[str], values: Sequence[float], strategy: str, k: int, noise: Noise, seed: int
) -> tuple[NDArray[np.float32], float]:
    """The labels one assessor gives a list, and the minutes it took; ``graded`` gives five grades."""
    judge = SimulatedAssessor(
        "assessor",
        dict(zip(items, values, strict=True)),
        error=error_of(noise.comparing),
        borders=noise.borders,
        blur=noise.grading,
        seed=seed,
    )
    done = label(Labelling(items, k, strategy, seed), judge)
    tool = "grades" if strategy == "graded" else "preferences"
    minutes = len(done.answers) * SECONDS[tool] / 60
    if tool == "grades":
        given = {item: GRADES.index(answer) for item, _, answer, *_ in done.answers}
        return np.array([given[item] for item in items], np.float32), minutes
    if done.result is None:
        raise ValueError("the labelling did not end")
    return done.result.labels(items), minutes
