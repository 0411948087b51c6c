"""The state of a linear ranker that climbs a metric, and the gain of changing one weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from topkit.metrics.compiled import FastMeasure, Measured
from topkit.scorers import Floats


class Climb(Protocol):
    """The state of a linear ranker on training data."""

    @property
    def value(self) -> float:
        """The weighted mean of the metric."""
        ...

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        """The rise of the mean if one weight changed, and the number of lists that would re-rank."""
        ...

    def move(self, feature: int, step: float) -> None:
        """Change one weight."""
        ...


@dataclass
class FastClimb:
    """A climb with compiled metrics: a list whose order a step does not change is not sorted again."""

    fast: FastMeasure
    ptr: NDArray[np.int64]
    columns: Floats
    """Features × documents."""
    movable: list[NDArray[np.int64]]
    """For each feature, the queries whose metric it can change."""
    query_shares: Floats
    """The weight of each query; they sum to 1."""
    scores: Floats
    order: NDArray[np.int32]
    values: Floats

    @property
    def value(self) -> float:
        return float(self.query_shares @ self.values)

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        return self._step(feature, step, keep=False)

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
class PlainClimb:
    """A climb that evaluates all lists, for metrics without a compiled form."""

    measured: Measured
    columns: Floats
    query_shares: Floats
    scores: Floats
    values: Floats

    @property
    def value(self) -> float:
        return float(self.query_shares @ self.values)

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
            return PlainClimb(measured, columns, query_shares, scores, measured.values(scores))

        return plain_climb
    starts = data.ptr[:-1]
    differs = np.minimum.reduceat(columns, starts, axis=1) < np.maximum.reduceat(columns, starts, axis=1)
    flat = np.minimum.reduceat(data.y, starts) == np.maximum.reduceat(data.y, starts)
    open_queries = np.isnan(fast.fixed) & ~flat & (query_shares > 0)
    movable = [np.flatnonzero(row & open_queries) for row in differs]

    def fast_climb(w: Floats) -> Climb:
        from topkit.rankers.svm.kernels import sort_rows

        scores = w @ columns
        rows = np.empty(len(scores), np.int64)
        sort_rows(scores, data.ptr, 0, data.n_queries, rows)
        order = (rows - np.repeat(starts, data.lengths)).astype(np.int32)
        values = measured.values(scores)
        return FastClimb(fast, data.ptr, columns, movable, query_shares, scores, order, values)

    return fast_climb
