"""Which query next: by promise, uncertainty, expected change of the ranker, coverage, or at random.

- promise: the mean score of the three best documents minus the median of the list. A list in which nothing
  stands out often has no relevant document at all, and then its answers are noise.
- uncertainty: rankers fitted with random weights on the labelled queries (Bayesian bootstrap) score the
  documents of each query; the value is how much these scores differ, relative to their spread in the list.
- change: Σ P(i above j)·P(j above i)·‖x_i − x_j‖ over pairs of documents: how much a gradient step on the
  answers is expected to move a linear ranker.
- coverage: the distance of the query's mean features from the nearest labelled query.

The next queries are drawn at random from the best quarter: a batch of near duplicates would be wasted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.data import Dataset, normalise
from topkit.loop.training import Labelled, fit
from topkit.rankers import Learner

BEST = 3
"""The documents that should stand out."""
COMMITTEE = 5
"""Rankers with random weights that measure the uncertainty."""
TOP = 8
"""The documents, first by the scores of the ranker, whose order matters."""
BEST_SHARE = 0.25
"""The share of the queries, best first, from which the next are drawn."""


@dataclass(frozen=True)
class Situation:
    """What is known when queries are chosen."""

    template: Learner
    queries: Dataset
    done: Sequence[Labelled]
    scores: Floats | None
    """The scores of the fitted ranker for all documents; None before the first fit."""
    seed: int

    @cached_property
    def features(self) -> Floats:
        """Features from 0 to 1 within each list, as pairs of documents differ by them."""
        return np.nan_to_num(normalise(self.queries, "min-max").X.astype(np.float64))

    def top(self, query: int) -> NDArray[np.int64]:
        """Rows of the first documents of a query by the scores."""
        first, stop = int(self.queries.ptr[query]), int(self.queries.ptr[query + 1])
        if self.scores is None:
            return np.arange(first, min(stop, first + TOP))
        return first + np.argsort(-self.scores[first:stop], kind="stable")[:TOP]


def promise(situation: Situation, left: Ints) -> Floats:
    """How far the best three documents of each query stand out from its median document."""
    if situation.scores is None:
        return np.zeros(len(left))
    values = []
    for query in left.tolist():
        scores = np.sort(situation.scores[situation.queries.ptr[query] : situation.queries.ptr[query + 1]])
        values.append(float(scores[-BEST:].mean() - scores[len(scores) // 2]))
    return np.array(values)


def uncertainty(situation: Situation, left: Ints) -> Floats:
    """How much rankers with random weights differ about the first documents of each query."""
    chance = np.random.default_rng([situation.seed, 2, len(situation.done)])
    committee = []
    for _ in range(COMMITTEE):
        member = fit(
            situation.template,
            situation.queries,
            situation.done,
            chance.exponential(size=len(situation.done)),
        )
        if member is not None:
            committee.append(_standardised(situation.queries, member.ordering_scores(situation.queries)))
    if not committee:
        return np.zeros(len(left))
    deviation = np.std(committee, axis=0)
    return np.array([deviation[situation.top(query)].mean() for query in left.tolist()])


def change(situation: Situation, left: Ints) -> Floats:
    """The expected length of a gradient step on the answers about the first documents of each query."""
    if situation.scores is None:
        return np.zeros(len(left))
    scores = _standardised(situation.queries, situation.scores)
    values = []
    for query in left.tolist():
        rows = situation.top(query)
        gaps = np.subtract.outer(scores[rows], scores[rows])
        above = 1 / (1 + np.exp(-gaps))
        x = situation.features[rows]
        squares = (x * x).sum(1)
        distances = np.sqrt(np.maximum(np.add.outer(squares, squares) - 2 * x @ x.T, 0.0))
        values.append(float((above * (1 - above) * distances).sum()))
    return np.array(values)


def coverage(situation: Situation, left: Ints) -> Floats:
    """The distance of each query's mean features from the nearest labelled query."""
    queries = situation.queries
    X = np.nan_to_num(queries.X.astype(np.float64))
    means = np.add.reduceat(X, queries.ptr[:-1]) / queries.lengths[:, None]
    means = (means - means.mean(0)) / (means.std(0) + 1e-12)
    labelled = np.unique([part.query for part in situation.done]).astype(np.int64)
    if not len(labelled):
        return np.zeros(len(left))
    nearest = np.full(len(left), np.inf)
    for query in labelled.tolist():
        nearest = np.minimum(nearest, ((means[left] - means[query]) ** 2).sum(1))
    distances: Floats = np.sqrt(nearest)
    return distances


CRITERIA: Mapping[str, Callable[[Situation, Ints], Floats]] = {
    "promise": promise,
    "uncertainty": uncertainty,
    "change": change,
    "coverage": coverage,
}
"""Name → value of each query; larger is better."""


def choose_queries(situation: Situation, choose: str, left: Ints, count: int) -> list[tuple[int, str]]:
    """The next queries among those that are left, and why."""
    chance = np.random.default_rng([situation.seed, 3, len(situation.done)])
    if choose == "random" or situation.scores is None:
        why = "at random" if choose == "random" else "at random: no answers yet to choose by"
        return [(int(query), why) for query in chance.permutation(left)[:count]]
    ranks = _ranks(CRITERIA[choose](situation, left))
    best = np.argsort(-ranks, kind="stable")[: max(count, round(BEST_SHARE * len(left)))]
    return [
        (int(left[place]), f"{choose}: rank {ranks[place]:.2f} of 0 to 1 among {len(left)} queries")
        for place in chance.permutation(best)[:count].tolist()
    ]


def _ranks(values: Floats) -> Floats:
    """Ranks from 0 to 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts) - 1
    mean: Floats = (last - (counts - 1) / 2)[place] / max(len(values) - 1, 1)
    return mean


def _standardised(queries: Dataset, scores: Floats) -> Floats:
    """Scores with mean 0 and deviation 1 within each list."""
    centred = scores - np.repeat(np.add.reduceat(scores, queries.ptr[:-1]) / queries.lengths, queries.lengths)
    deviation = np.sqrt(np.add.reduceat(centred**2, queries.ptr[:-1]) / queries.lengths)
    standardised: Floats = centred / np.repeat(np.maximum(deviation, 1e-12), queries.lengths)
    return standardised
