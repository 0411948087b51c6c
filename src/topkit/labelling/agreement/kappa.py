"""Agreement beyond chance: Cohen's and Fleiss' kappa, Krippendorff's alpha.

Ratings of a subject must come from different assessors: at most one per assessor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, JudgedPairs

Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(first: Sequence[float], second: Sequence[float], weights: Weights = "none") -> float:
    """Agreement of two assessors beyond chance: κ = 1 − Σ w·observed / Σ w·expected.

    ``weights`` is the cost of a disagreement: 1, or |i − j| or (i − j)² for the positions of the two values
    among all values used. NaN if both always give the same single value.

    >>> round(cohen_kappa([0, 0, 1, 2, 2, 1], [0, 0, 1, 2, 1, 1]), 4)
    0.75
    """
    values = sorted({*first, *second})
    place = {value: i for i, value in enumerate(values)}
    table = np.zeros((len(values), len(values)))
    for a, b in zip(first, second, strict=True):
        table[place[a], place[b]] += 1
    gap = np.abs(np.subtract.outer(np.arange(len(values)), np.arange(len(values)))).astype(np.float64)
    cost = {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}[weights]
    expected = np.outer(table.sum(1), table.sum(0)) / max(table.sum(), 1)
    by_chance = float((cost * expected).sum())
    return 1 - float((cost * table).sum()) / by_chance if by_chance else float("nan")


def fleiss_kappa(counts: ArrayLike) -> float:
    """Agreement of many assessors beyond chance; ``counts[i, j]`` assessors put subject i in category j.

    κ = (P̄ − P̄e)/(1 − P̄e) with P_i = (Σ n_ij² − n_i)/(n_i(n_i − 1)). Subjects may have different numbers of
    ratings n_i; those with fewer than two are ignored. P̄ is the mean over subjects. P̄e = Σ p_j², where p_j is
    the share of category j in all ratings.

    >>> round(fleiss_kappa([[3, 0], [2, 1], [0, 3], [1, 2]]), 4)
    0.3333
    """
    table = np.asarray(counts, np.float64)
    ratings = table.sum(1)
    table, ratings = table[ratings > 1], ratings[ratings > 1]
    if not len(table):
        return float("nan")
    observed = float((((table**2).sum(1) - ratings) / (ratings * (ratings - 1))).mean())
    expected = float(((table.sum(0) / table.sum()) ** 2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def krippendorff_alpha(units: Sequence[Sequence[float]], level: Level = "nominal") -> float:
    """Krippendorff's α = 1 − D_observed/D_expected; ``units`` are the values given to each unit.

    Units with fewer than two values are ignored. ``ordinal`` measures distance by the number of ratings
    between two values, ``interval`` by their squared difference. NaN if all values are the same.

    Reference: K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
    """
    paired = [list(unit) for unit in units if len(unit) > 1]
    values = sorted({value for unit in paired for value in unit})
    place = {value: i for i, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for unit in paired:
        counts = np.bincount([place[value] for value in unit], minlength=len(values))
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(1)
    distance = _distances(np.array(values, np.float64), totals, level)
    expected = float((np.outer(totals, totals) * distance).sum()) / max(totals.sum() - 1, 1)
    return 1 - float((coincidences * distance).sum()) / expected if expected else float("nan")


def _distances(values: NDArray[np.float64], totals: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """Squared distances between all values."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    if level == "ordinal":  # the number of ratings between two values, with half of those at both ends
        values = np.cumsum(totals) - totals / 2
    squared: NDArray[np.float64] = np.subtract.outer(values, values) ** 2
    return squared


class BeyondChance(NamedTuple):
    """Agreement on pairs beyond chance, with the three answers as categories; NaN if it is not defined."""

    fleiss: float
    alpha: float
    """Krippendorff's α, nominal."""
    ordinal_alpha: float
    """Krippendorff's α with A ≻ B, A ∼ B, A ≺ B as an ordinal scale."""


def beyond_chance(pairs: JudgedPairs) -> BeyondChance:
    """κ and α of judged pairs. Pairs that fewer than two assessors judged are ignored.

    >>> from topkit.labelling.agreement.pairs import Pair
    >>> opposed = {Pair("q", "x", doc): {"ann": FIRST, "bob": SECOND} for doc in "yz"}
    >>> beyond_chance(opposed).fleiss
    -1.0
    """
    ratings = [list(answers.values()) for answers in pairs.values() if len(answers) > 1]
    counts = np.array([[unit.count(answer) for answer in (FIRST, TIE, SECOND)] for unit in ratings])
    return BeyondChance(
        fleiss_kappa(counts.reshape(-1, 3)),
        krippendorff_alpha(ratings),
        krippendorff_alpha(ratings, "ordinal"),
    )
