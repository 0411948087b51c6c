"""The state of a linear ranker that climbs a metric, and the gain of changing one weight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topkit.compute import Floats, Ints, Ints32
from topkit.metrics.compiled import FastMeasure, Measured

EXACT = "discounted_sum"
"""The form of a metric whose value along one weight can be computed at every step: DCG and NDCG."""
MOST_CROSSINGS = 1 << 24
"""Crossings that fit memory; with more, steps of doubling size are tried."""
NARROW = 1e-12
"""Intervals and gains below this are rounding errors."""


@dataclass
class Climb(ABC):
    """The state of a linear ranker on training data."""

    columns: Floats
    """Features × documents."""
    query_shares: Floats
    """The weight of each query; they sum to 1."""
    scores: Floats
    values: Floats
    """The metric of each query."""

    @property
    def value(self) -> float:
        """The weighted mean of the metric."""
        return float(self.query_shares @ self.values)

    @abstractmethod
    def gain(self, feature: int, step: float) -> tuple[float, int]:
        """The rise of the mean if one weight changed, and the number of lists that would re-rank."""

    @abstractmethod
    def move(self, feature: int, step: float) -> None:
        """Change one weight."""

    def best_step(self, feature: int) -> float | None:
        """The change of one weight that raises the mean most; None if it cannot be computed exactly."""
        return None


@dataclass
class FastClimb(Climb):
    """A climb with compiled metrics: a list whose order a step does not change is not sorted again."""

    fast: FastMeasure
    ptr: Ints
    movable: list[Ints]
    """For each feature, the queries whose metric it can change."""
    order: Ints32
    room: int
    """Upper limit of the number of crossings: relevant documents times documents of their query."""

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        return self._step(feature, step, keep=False)

    def best_step(self, feature: int) -> float | None:
        """The middle of the interval of steps with the best mean, the widest of equals; 0 if none is better.

        The mean is constant between the steps at which two documents swap, so all of them are visited.
        """
        if self.fast.kind != EXACT or self.room > MOST_CROSSINGS:
            return None
        from topkit.rankers.linear.kernels import crossings

        times, changes = np.empty(self.room), np.empty(self.room)
        count, start = crossings(
            self.scores, self.columns[feature], self.fast.gain, self.fast.discount, self.ptr,
            self.movable[feature], self.query_shares, times, changes,
        )  # fmt: skip
        if count == 0:
            return 0.0
        order = np.argsort(times[:count])
        at = times[order]
        edges = np.concatenate([[at[0] - max(1.0, abs(at[0]))], at, [at[-1] + max(1.0, abs(at[-1]))]])
        width = np.diff(edges)
        means = start + np.concatenate([[0.0], np.cumsum(changes[order])])
        means[width <= NARROW * np.maximum(1.0, np.abs(edges[1:]))] = -np.inf
        best = np.flatnonzero(means >= means.max() - NARROW)
        widest = int(best[np.argmax(width[best])])
        step = float(edges[widest] + edges[widest + 1]) / 2
        return step if self.gain(feature, step)[0] > NARROW else 0.0

    def move(self, feature: int, step: float) -> None:
        self._step(feature, step, keep=True)
        self.scores += step * self.columns[feature]

    def _step(self, feature: int, step: float, *, keep: bool) -> tuple[float, int]:
        from topkit.metrics.compiled import kernels

        gain, reranked = kernels.stepped_values(
            self.fast.kind, self.scores, self.columns[feature], step, self.order, self.fast.gain,
            self.fast.discount, self.ptr, self.movable[feature], self.values, self.query_shares, keep,
        )  # fmt: skip
        return gain, reranked


@dataclass
class PlainClimb(Climb):
    """A climb that evaluates all lists, for metrics without a compiled form."""

    measured: Measured

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        after = self.measured.values(self.scores + step * self.columns[feature])
        return float(self.query_shares @ (after - self.values)), int((after != self.values).sum())

    def move(self, feature: int, step: float) -> None:
        self.scores = self.scores + step * self.columns[feature]
        self.values = self.measured.values(self.scores)


def climb_on(measured: Measured, X: Floats, query_shares: Floats) -> Callable[[Floats], Climb]:
    """Weights → a climb that starts there; what all starts share is prepared once."""
    columns = np.ascontiguousarray(X.T)
    data, fast = measured.data, measured.fast
    if fast is None:

        def plain_climb(w: Floats) -> Climb:
            scores = w @ columns
            return PlainClimb(columns, query_shares, scores, measured.values(scores), measured)

        return plain_climb
    starts = data.ptr[:-1]
    differs = np.minimum.reduceat(columns, starts, axis=1) < np.maximum.reduceat(columns, starts, axis=1)
    flat = np.minimum.reduceat(data.y, starts) == np.maximum.reduceat(data.y, starts)
    open_queries = np.isnan(fast.fixed) & ~flat & (query_shares > 0)
    movable = [np.flatnonzero(row & open_queries) for row in differs]
    relevant = np.add.reduceat(fast.gain != 0, starts, dtype=np.int64)
    room = int((relevant * data.lengths)[open_queries].sum())

    def fast_climb(w: Floats) -> Climb:
        from topkit.rankers.svm.kernels import sort_rows

        scores = w @ columns
        rows = np.empty(len(scores), np.int64)
        sort_rows(scores, data.ptr, 0, data.n_queries, rows)
        order = (rows - np.repeat(starts, data.lengths)).astype(np.int32)
        values = measured.values(scores)
        return FastClimb(columns, query_shares, scores, values, fast, data.ptr, movable, order, room)

    return fast_climb
