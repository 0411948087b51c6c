"""The unbiased estimate: random pairs of documents from random queries that the ranker never learns from.

The loop learns from queries and documents that it chose itself, so its success on them says little about
other queries. A random share of the queries is therefore set aside before the first question. Judges compare
random pairs of their documents. The share of these pairs that the ranker orders as the judges do is an
unbiased estimate of its agreement with the judges on a random pair of a random query.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.loop.events import Interval

RESERVED = 0.1
"""The share of the queries that are set aside."""
QUANTILE = 1.959964
"""The 97.5 % quantile of the standard normal distribution."""


class Checked(NamedTuple):
    """The answer to a random pair of a reserved query; rows of the data set."""

    query: int
    better: int
    worse: int
    tie: bool


def reserved_queries(queries: Dataset, share: float, seed: int) -> NDArray[np.int64]:
    """A random tenth of the queries that have two or more documents, in random order; none if share is 0."""
    eligible = np.flatnonzero(queries.lengths >= 2)
    count = min(max(round(RESERVED * len(eligible)), 1), len(eligible) - 1) if share > 0 else 0
    return np.random.default_rng([seed, 0]).permutation(eligible)[: max(count, 0)]


def estimate(scores: Floats, checked: Sequence[Checked]) -> Interval | None:
    """The mean over queries of the agreement with their answers, and its 95 % interval; None without any.

    Equal scores and ties count half. The interval is Wilson's for the number of queries, which is slightly
    too wide if a query has several pairs.

    >>> print(estimate(np.array([2.0, 1.0]), [Checked(0, 0, 1, False)]))
    1.000 [0.207, 1.000]
    """
    by_query: dict[int, list[float]] = {}
    for query, better, worse, tie in checked:
        gap = scores[better] - scores[worse]
        by_query.setdefault(query, []).append(0.5 if tie or gap == 0 else float(gap > 0))
    if not by_query:
        return None
    return wilson(float(np.mean([np.mean(values) for values in by_query.values()])), len(by_query))


def wilson(share: float, n: int) -> Interval:
    """Wilson's 95 % interval of a share of n.

    >>> print(wilson(0.5, 100))  # Agresti and Coull 1998: 0.404, 0.596
    0.500 [0.404, 0.596]
    """
    z2 = QUANTILE**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = QUANTILE / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return Interval(share, max(middle - half, 0.0), min(middle + half, 1.0))
