"""Pairs of a training set under the hinge: value, gradient and, for the squared hinge, Hessian products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from topkit.compute import Floats, Ints, over_queries
from topkit.losses import Objective, Preferences
from topkit.losses.pairwise import PairSet, pair_set
from topkit.rankers.pairs import pair_objective
from topkit.scorers import Job
from topkit.scorers.linear import Matrix, products, row_sum

LOSSES = ("squared-hinge", "hinge")
"""Pair losses of RankSVM."""


@dataclass
class Pairs:
    """The pair loss of a training set as a function of scores; only given preferences are listed as pairs."""

    objective: Objective
    count: float
    """Weighted number of pairs: the value of either hinge at equal scores."""
    level: Ints
    """The rank of each document's label in its query, 0 for the best."""
    up: Floats
    """The weight of each document as the better member of a pair."""
    down: Floats
    """The weight of each document as the worse member of a pair."""
    latest: tuple[Floats, Callable[[Floats], Floats]] | None = field(default=None, repr=False)
    """The weights at which the Hessian was requested last, and its products."""

    @classmethod
    def of(cls, job: Job, name: str, pairs: str, k: int) -> Pairs:
        """The pairs of a job's labels or preferences, with the query weights of the job."""
        objective = pair_objective(job, name, pairs, k)
        n = len(job.train)
        level, up, down = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
        if job.preferences is None:
            ranked = pair_set(job.train.y.astype(np.float64), job.train.ptr, pairs=pairs, k=k)
            if isinstance(ranked, PairSet):
                level, up, down = levels_and_shares(ranked, job.train.ptr)
        return cls(objective, objective(np.zeros(n))[0], level, up, down)

    def __call__(self, scores: Floats) -> tuple[float, Floats]:
        """The loss and its gradient in the scores."""
        return self.objective(scores)

    def hessian(self, scores: Floats, curvature: Floats) -> Callable[[Floats], Floats]:
        """Products of the squared hinge's Hessian at these scores with a change of the scores.

        The Hessian is 2·(the Laplacian of the graph of pairs inside the margin); its diagonal is the
        curvature.
        """
        from topkit.rankers.svm import kernels

        ptr, truth = self.objective.ptr, self.objective.truth
        weights = self.objective.weights
        factor = 2.0 if weights is None else 2.0 * np.repeat(weights, np.diff(ptr))
        if isinstance(truth, Preferences):
            listed = pair_set(truth, ptr)

            def sums(change: Floats, out: Floats) -> None:
                over_queries(
                    lambda a, b: kernels.given_rival_sums(scores, listed, change, ptr, a, b, out), ptr
                )
        else:
            rows = np.empty(len(scores), np.int64)
            over_queries(lambda a, b: kernels.sort_rows(scores, ptr, a, b, rows), ptr)
            parts = (rows, self.level, self.up, self.down)

            def sums(change: Floats, out: Floats) -> None:
                over_queries(lambda a, b: kernels.rival_sums(scores, *parts, change, ptr, a, b, out), ptr)

        def product(change: Floats) -> Floats:
            out = np.empty(len(change))
            sums(change, out)
            return curvature * change - factor * out

        return product


def pair_count(pairs: Pairs, X: Matrix) -> float:
    """The weighted number of pairs of a piece."""
    return pairs.count


def hessian_sums(pairs: Pairs, X: Matrix, w: Floats, direction: Floats) -> Floats:
    """The Hessian of the squared hinge of a piece in w, times a direction.

    The orders of the lists at w are kept, because conjugate gradients ask for many directions.
    """
    if pairs.latest is None or not np.array_equal(pairs.latest[0], w):
        scores = products(X, w)
        pairs.latest = w.copy(), pairs.hessian(scores, pairs.objective.with_curvature(scores)[2])
    return row_sum(X, pairs.latest[1](products(X, direction)))


def levels_and_shares(pairs: PairSet, ptr: Ints) -> tuple[Ints, Floats, Floats]:
    """For each row: the level of its label (0 is best), and its weights as better and as worse member."""
    lengths = np.diff(ptr)
    start = np.repeat(ptr[:-1], lengths)
    place = np.arange(len(start)) - start
    rises = np.cumsum((place > 0) & (pairs.below != np.roll(pairs.below, 1)))
    inside = np.where(place < np.repeat(pairs.shared, lengths), np.repeat(pairs.share, lengths), 0.0)
    inside[place < np.repeat(pairs.whole, lengths)] = 1.0
    rows = start + pairs.order
    level, up = np.empty(len(rows), np.int64), np.empty(len(rows))
    level[rows], up[rows] = rises - rises[start], inside
    return level, up, 1.0 - up if pairs.focused else np.ones(len(rows))
