"""Simulated assessors with the agreement and the speed that a published study measured.

The true relevance of a document is its grade plus a fraction from 0 to 1 for its position, in a full order,
among the documents of that grade. An assessor sees the relevance with normal noise. The noise of comparisons
is calibrated so that two assessors agree on 89.7 % of the pairs that a labelling asks; the noise of grades so
that the preferences implied by the grades agree on 83.1 %, without ties. Niu et al., SIGIR 2012, tables 1–3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.labelling import GRADES, Labelling, SimulatedAssessor, label

AGREEMENT = {"preferences": 0.897, "grades": 0.831}
"""Published agreement of two assessors, without ties."""
SECONDS = {"preferences": 5.51, "grades": 13.87}
"""Published time per judgment."""


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the noise when comparing and when grading, and the borders between grades."""

    comparing: float
    grading: float
    borders: tuple[float, ...]


def relevance(graded: Dataset, ordered: Dataset) -> Floats:
    """Per document: grade + (documents of the same grade below it + ½)/(documents of that grade).

    >>> data = Dataset.build([[0.0]] * 3, [1, 0, 1], ["q"] * 3)
    >>> relevance(data, data.with_labels([3, 1, 2], Dataset.build([[0]], [1], ["q"], truth="order").truth))
    array([1.75, 0.5 , 1.25])
    """
    values = np.empty(len(graded))
    for _, rows in graded:
        grades, order = graded.y[rows], ordered.y[rows]
        for grade in np.unique(grades):
            same_grade = np.flatnonzero(grades == grade)
            below = np.argsort(np.argsort(order[same_grade], kind="stable"))
            values[rows.start + same_grade] = grade + (below + 0.5) / len(same_grade)
    return values


def borders_for(top: float) -> tuple[float, ...]:
    """Four borders between five grades, for data whose highest grade is ``top``.

    Every grade of the data is kept; if there are fewer than five, the lowest ones are split in half.

    >>> borders_for(2), borders_for(3), borders_for(4)
    ((0.5, 1.0, 1.5, 2.0), (0.5, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 4.0))
    """
    if not 2 <= top <= 4:
        return tuple(np.linspace(0.0, top + 1.0, 6)[1:-1].tolist())
    whole = [float(grade) for grade in range(1, int(top) + 1)]
    halves = [grade + 0.5 for grade in range(4 - int(top))]
    return tuple(sorted(whole + halves))


def error_of(noise: float) -> Callable[[float], float]:
    """Difference in relevance → probability of a wrong answer: Φ(−difference/(√2·noise))."""
    from scipy.special import ndtr

    return lambda gap: float(ndtr(-gap / (sqrt(2) * noise))) if noise > 0 else 0.0


def calibrated(
    data: Dataset, values: Floats, pairs: NDArray[np.int64], agreement: float, of_grades: float
) -> Noise:
    """The noise at which two assessors have these agreements on these pairs of documents."""
    gaps = np.abs(values[pairs[:, 0]] - values[pairs[:, 1]])
    borders = borders_for(float(data.y.max()))
    return Noise(
        _noise_for(lambda noise: comparing_agreement(gaps, noise), agreement),
        _noise_for(lambda noise: grading_agreement(values, pairs, borders, noise), of_grades),
        borders,
    )


def asked_pairs(data: Dataset, values: Floats, k: int) -> NDArray[np.int64]:
    """Rows of the pairs that the heap strategy asks of an assessor without noise."""
    pairs: list[tuple[int, int]] = []
    for number, (query, rows) in enumerate(data):
        items = [str(row) for row in range(rows.start, rows.stop)]
        judge = SimulatedAssessor("exact", {item: float(values[int(item)]) for item in items})
        done = label(Labelling(items, k, "heap", number), judge, query)
        pairs += [(int(a), int(b)) for a, b, *_ in done.answers if b is not None]
    return np.array(pairs, np.int64).reshape(-1, 2)


def comparing_agreement(gaps: Floats, noise: float) -> float:
    """How often two assessors give the same answer: the mean of (1 − e)² + e² over the error rates e."""
    from scipy.special import ndtr

    wrong = ndtr(-gaps / (sqrt(2) * noise))
    return float(np.mean((1 - wrong) ** 2 + wrong**2))


def grading_agreement(
    values: Floats, pairs: NDArray[np.int64], borders: Sequence[float], noise: float
) -> float:
    """How often the grades of two assessors order a pair the same way, if both order it."""
    from scipy.special import ndtr

    below = ndtr((np.array(borders)[None, :] - values[:, None]) / noise)
    cumulative = np.concatenate([np.zeros((len(values), 1)), below, np.ones((len(values), 1))], axis=1)
    probability = np.diff(cumulative, axis=1)  # P(grade = g)
    first, second = pairs[:, 0], pairs[:, 1]
    lower = cumulative[:, :-1]  # P(grade < g)
    above = (probability[first] * lower[second]).sum(axis=1)
    under = (probability[second] * lower[first]).sum(axis=1)
    return float((above**2 + under**2).sum() / ((above + under) ** 2).sum())


def _noise_for(agreement_at: Callable[[float], float], target: float) -> float:
    """The noise at which the agreement, which falls with the noise, has the target value, by bisection."""
    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = sqrt(low * high)
        low, high = (middle, high) if agreement_at(middle) > target else (low, middle)
    return low


def error_rate(agreement: float) -> float:
    """The error rate e of two assessors with this agreement: (1 − e)² + e² = agreement.

    >>> round(error_rate(0.897), 4)
    0.0545
    """
    return (1 - sqrt(max(2 * agreement - 1, 0.0))) / 2


def labels_of(
    items: Sequence[str], values: Sequence[float], strategy: str, k: int, noise: Noise, seed: int
) -> tuple[NDArray[np.float32], float]:
    """The labels that one assessor gives to a list, and the minutes; the strategy ``graded`` gives grades."""
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
        grades = {item: GRADES.index(answer) for item, _, answer, *_ in done.answers}
        return np.array([grades[item] for item in items], np.float32), minutes
    if done.result is None:
        raise ValueError("the labelling has not finished")
    return done.result.labels(items), minutes
