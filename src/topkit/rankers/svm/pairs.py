"""Pairs of a training set under the hinge: value, gradient and, for its square, products with the Hessian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.compute import over_queries
from topkit.data import InputError
from topkit.losses import Objective, Preferences, loss
from topkit.rankers.contract import Job
from topkit.scorers import Floats

LOSSES = ("squared-hinge", "hinge")
PAIR_SETS = ("all", "topk", "focused", "given")


@dataclass(frozen=True)
class Pairs:
    """The pair loss of a training set as a function of scores; pairs are listed only if they are given."""

    objective: Objective
    count: float
    """Weighted number of pairs: the value of either hinge at equal scores."""
    level: NDArray[np.int64]
    up: Floats
    down: Floats

    @classmethod
    def of(cls, job: Job, name: str, pairs: str, k: int) -> Pairs:
        """The pairs that a job's truth and a pair set make, with the query weights of the job."""
        if (job.preferences is not None) != (pairs == "given"):
            raise InputError(
                "preferences and pairs='given' belong together",
                "give preferences to fit with pairs='given', or neither",
            )
        settings: dict[str, object] = {"pairs": pairs}
        if pairs in ("topk", "focused"):
            settings["k"] = k
        truth = job.train.y if job.preferences is None else job.preferences
        bound = loss(name, **settings).on(truth, job.train.ptr, job.weights)
        n = len(job.train)
        level, up, down = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
        if job.preferences is None:
            _fill_levels(job, 1 << 62 if pairs == "all" else k, pairs == "focused", level, up, down)
        return cls(bound, bound(np.zeros(n))[0], level, up, down)

    def hessian(self, scores: Floats, curvature: Floats) -> Callable[[Floats], Floats]:
        """Products of the squared hinge's Hessian at these scores with a change of the scores.

        The Hessian is 2·(the Laplacian of the graph of pairs inside the margin); its diagonal is the
        curvature.
        """
        from topkit.rankers.svm import kernels

        ptr, truth = self.objective.ptr, self.objective.truth
        weights = self.objective.weights
        each = 2.0 if weights is None else 2.0 * np.repeat(weights, np.diff(ptr))
        if isinstance(truth, Preferences):
            given = (truth.better, truth.worse, truth.weight, truth.ptr)

            def sums(change: Floats, out: Floats) -> None:
                over_queries(
                    lambda a, b: kernels.given_rival_sums(scores, *given, change, ptr, a, b, out), ptr
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
            return curvature * change - each * out

        return product


def _fill_levels(job: Job, k: int, focused: bool, level: NDArray[np.int64], up: Floats, down: Floats) -> None:
    from topkit.losses.pairwise.kernels.visits import rank_labels
    from topkit.rankers.svm import kernels

    labels, ptr = job.train.y.astype(np.float64), job.train.ptr
    kernels.levels_and_shares(*rank_labels(labels, ptr, k), focused, ptr, level, up, down)
