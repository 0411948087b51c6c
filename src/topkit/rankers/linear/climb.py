"""Where a climber stands: scores, orders and values of all lists, and what a step of one weight gains."""

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
        """The weighted mean of the measure."""
        ...

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        """How much the mean would rise if one weight changed, and how many lists would re-rank."""
        ...

    def move(self, feature: int, step: float) -> None:
        """Change one weight."""
        ...


@dataclass
class FastClimb:
    """A climb by kernels: a list that a step leaves in order is not sorted, only looked at."""

    fast: FastMeasure
    ptr: NDArray[np.int64]
    columns: Floats
    """Features, one row each."""
    movable: list[NDArray[np.int64]]
    """For each feature, the queries in which it differs and which have more than one value."""
    heavy: Floats
    scores: Floats
    order: NDArray[np.int32]
    values: Floats

    @property
    def value(self) -> float:
        return float(self.heavy @ self.values)

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        return self._step(feature, step, keep=False)

    def move(self, feature: int, step: float) -> None:
        self._step(feature, step, keep=True)
        self.scores += step * self.columns[feature]

    def _step(self, feature: int, step: float, *, keep: bool) -> tuple[float, int]:
        from topkit.metrics.compiled import kernels

        found: tuple[float, int] = kernels.stepped_values(
            self.fast.kind, self.scores, self.columns[feature], step, self.order, self.fast.gain,
            self.fast.discount, self.ptr, self.movable[feature], self.values, self.heavy, keep,
        )  # fmt: skip
        return found


@dataclass
class PlainClimb:
    """A climb by evaluation of all lists, for measures that the kernels do not know."""

    measured: Measured
    columns: Floats
    heavy: Floats
    scores: Floats
    values: Floats

    @property
    def value(self) -> float:
        return float(self.heavy @ self.values)

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        after = self.measured.values(self.scores + step * self.columns[feature])
        return float(self.heavy @ (after - self.values)), int((after != self.values).sum())

    def move(self, feature: int, step: float) -> None:
        self.scores = self.scores + step * self.columns[feature]
        self.values = self.measured.values(self.scores)


def climb_on(measured: Measured, X: Floats, heavy: Floats) -> Callable[[Floats], Climb]:
    """Weights → a climb that starts there; what all starts share is prepared once."""
    columns = np.ascontiguousarray(X.T)
    data, fast = measured.data, measured.fast
    if fast is None:

        def plainly(w: Floats) -> Climb:
            scores = w @ columns
            return PlainClimb(measured, columns, heavy, scores, measured.values(scores))

        return plainly
    starts = data.ptr[:-1]
    differs = np.minimum.reduceat(columns, starts, axis=1) < np.maximum.reduceat(columns, starts, axis=1)
    flat = np.minimum.reduceat(data.y, starts) == np.maximum.reduceat(data.y, starts)
    open_queries = np.isnan(fast.fixed) & ~flat & (heavy > 0)
    movable = [np.flatnonzero(row & open_queries) for row in differs]

    def quickly(w: Floats) -> Climb:
        from topkit.rankers.svm.kernels import sort_rows

        scores = w @ columns
        rows = np.empty(len(scores), np.int64)
        sort_rows(scores, data.ptr, 0, data.n_queries, rows)
        order = (rows - np.repeat(starts, data.lengths)).astype(np.int32)
        return FastClimb(fast, data.ptr, columns, movable, heavy, scores, order, measured.values(scores))

    return quickly
