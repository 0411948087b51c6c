"""The 3×3 table of the answers of two assessors, rates of agreement, and the χ² test of two methods."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, JudgedPairs

NAMES = ("A≻B", "A∼B", "A≺B")


@dataclass(frozen=True, eq=False)
class Agreement:
    """The answers of two assessors to the same pair, counted over pairs and assessors.

    ``counts[x1, x2]`` is the number of (pair, assessor, other assessor) where one said x1 and the other x2.
    Every two assessors are counted in both directions, so the table is symmetric.
    """

    counts: NDArray[np.int64]

    @property
    def rows(self) -> NDArray[np.float64]:
        """P(another assessor says X2 | one said X1) in row X1; NaN if nobody said X1."""
        totals = self.counts.sum(1, keepdims=True)
        with np.errstate(invalid="ignore"):
            shares: NDArray[np.float64] = self.counts / totals
        return shares

    @property
    def agreed(self) -> int:
        """How often two assessors gave the same answer to a pair."""
        return int(np.trace(self.counts)) // 2

    @property
    def disagreed(self) -> int:
        """How often two assessors gave different answers to a pair."""
        return int(self.counts.sum()) // 2 - self.agreed

    @property
    def overall(self) -> float:
        """The share of agreement; NaN if no pair was judged twice."""
        return _share(self.agreed, self.disagreed)

    @property
    def agreed_without_ties(self) -> int:
        """How often two assessors preferred the same document."""
        return int(self.counts[FIRST, FIRST] + self.counts[SECOND, SECOND]) // 2

    @property
    def disagreed_without_ties(self) -> int:
        """How often two assessors preferred different documents."""
        return int(self.counts[FIRST, SECOND] + self.counts[SECOND, FIRST]) // 2

    @property
    def without_ties(self) -> float:
        """The share of agreement where neither answer is a tie."""
        return _share(self.agreed_without_ties, self.disagreed_without_ties)

    @property
    def tie_share(self) -> float:
        """The share of answers that are ties."""
        return float(self.counts[TIE].sum() / self.counts.sum()) if self.counts.any() else float("nan")


def _share(agreed: int, disagreed: int) -> float:
    return agreed / (agreed + disagreed) if agreed + disagreed else float("nan")


def agreement(pairs: JudgedPairs) -> Agreement:
    """Agreement between different assessors on the same pairs.

    >>> from topkit.labelling.agreement.pairs import Pair
    >>> table = agreement({Pair("q", "x", "y"): {"ann": 0, "bob": 0, "cem": 1}})
    >>> table.counts.tolist(), round(table.overall, 3)
    ([[2, 2, 0], [2, 0, 0], [0, 0, 0]], 0.333)
    """
    counts = np.zeros((3, 3), np.int64)
    for answers in pairs.values():
        for answer, other_answer in combinations(answers.values(), 2):
            counts[answer, other_answer] += 1
            counts[other_answer, answer] += 1
    return Agreement(counts)


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's χ² of a 2×2 table (one degree of freedom, no continuity correction)."""

    statistic: float
    p: float


def chi_square(first: Agreement, second: Agreement, *, ties: bool = True) -> ChiSquare:
    """The χ² test of whether two methods differ in agreed : disagreed; ``ties=False`` ignores ties.

    χ² = N(ad − bc)²/((a+b)(c+d)(a+c)(b+d)). Every two assessors of a pair count as one observation, as if
    observations were independent; with many assessors per pair the p value is therefore too small.

    >>> chi_square(Agreement(np.diag([120, 0, 0]) + 0), Agreement(np.diag([80, 0, 0])))
    Traceback (most recent call last):
    topkit.data.errors.InputError: the χ² test needs agreement and disagreement; judge more pairs
    """
    if ties:
        a, b, c, d = map(float, (first.agreed, first.disagreed, second.agreed, second.disagreed))
    else:
        a, b = float(first.agreed_without_ties), float(first.disagreed_without_ties)
        c, d = float(second.agreed_without_ties), float(second.disagreed_without_ties)
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if not margins:
        raise InputError("the χ² test needs agreement and disagreement", "judge more pairs")
    statistic = (a + b + c + d) * (a * d - b * c) ** 2 / margins
    # With one degree of freedom, χ² is the square of a standard normal variable.
    return ChiSquare(statistic, erfc(sqrt(statistic / 2)))
