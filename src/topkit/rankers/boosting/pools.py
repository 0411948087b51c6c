"""Weak rankers to select from: single features, or thresholds on single features, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topkit.compute import Bytes, Floats, Floats32, Ints, row_chunks, thread_map
from topkit.metrics.compiled import Measured
from topkit.rankers.boosting.borders import borders_in_pieces, borders_of
from topkit.rankers.boosting.steps import Steps
from topkit.rankers.pieces import Pieces, Whole
from topkit.scorers import Linear, Model
from topkit.scorers.linear import Matrix, row_sum

WEAK = ("threshold", "feature")
"""Kinds of weak rankers."""
MOST_THRESHOLDS = 255
"""Thresholds per feature: the bins between them are stored in one byte."""
LARGE = 1 << 19
"""Bins that justify threads: one round over fewer takes less time than starting them."""


class HasPtr(Protocol):
    """The state of a piece of boosting."""

    ptr: Ints


class Pool(Protocol):
    """Weak rankers f_0 … f_(size−1), whose values differ by at most 1 within a query."""

    @property
    def size(self) -> int: ...
    def bind(self, X: Matrix) -> Any:
        """What :meth:`sums` needs to know of a piece, computed once."""
        ...

    def sums(self, bound: Any, X: Matrix, weight: Floats) -> Floats:
        """Σ_x weight(x)·f(x) of every weak ranker over a piece."""
        ...

    def column(self, which: int, X: Matrix, bound: Any = None) -> Floats:
        """The values of one weak ranker on documents; faster with what :meth:`bind` returned for them."""
        ...

    def model(self, chosen: Ints, alphas: Floats) -> Model:
        """Σ α_t·f_t as a model."""
        ...


@dataclass(frozen=True)
class FeaturePool:
    """A weak ranker is a feature, divided by its largest range within a query."""

    scale: Floats

    @classmethod
    def of(cls, largest: Floats) -> FeaturePool:
        """The pool for the largest range of each feature within a query."""
        return cls(np.divide(1.0, largest, out=np.zeros(len(largest)), where=largest > 0))

    @property
    def size(self) -> int:
        return len(self.scale)

    def bind(self, X: Matrix) -> None:
        """Nothing: features are used as they are."""

    def sums(self, bound: None, X: Matrix, weight: Floats) -> Floats:
        sums: Floats = row_sum(X, weight) * self.scale
        return sums

    def column(self, which: int, X: Matrix, bound: None = None) -> Floats:
        column = X[:, which].astype(np.float64)
        values: Floats = np.where(np.isnan(column), 0.0, column) * self.scale[which]
        return values

    def model(self, chosen: Ints, alphas: Floats) -> Linear:
        weights = np.bincount(chosen, weights=alphas, minlength=self.size).astype(np.float64)
        return Linear(weights * self.scale)


@dataclass(frozen=True)
class ThresholdPool:
    """A weak ranker is 1[x_f > θ], for the thresholds θ between the bins of each feature."""

    borders: Floats
    """Features × thresholds; NaN where a feature has fewer thresholds."""

    @classmethod
    def of(cls, X: Floats32, thresholds: int) -> ThresholdPool:
        """The pool for all training data."""
        borders = np.full((X.shape[1], thresholds), np.nan)

        def work(f: int) -> None:
            of_feature = borders_of(np.ascontiguousarray(X[:, f]), thresholds)
            borders[f, : len(of_feature)] = of_feature

        thread_map(work, range(X.shape[1]))
        return cls(borders)

    @property
    def size(self) -> int:
        return int(self.borders.size)

    def bind(self, X: Matrix) -> Bytes:
        """Features × documents; bin b holds values above b thresholds."""
        bins = np.empty((X.shape[1], len(X)), np.uint8)

        def work(f: int) -> None:
            column, borders = np.ascontiguousarray(X[:, f]), self.borders[f]
            above = np.searchsorted(borders[~np.isnan(borders)], column, side="left")
            bins[f] = np.where(np.isnan(column), 0, above)

        thread_map(work, range(X.shape[1]))
        return bins

    def sums(self, bound: Bytes, X: Matrix, weight: Floats) -> Floats:
        from topkit.rankers.boosting import kernels

        features, thresholds = self.borders.shape
        out = np.empty((features, thresholds))
        chunks = row_chunks(features, 1) if bound.size > LARGE else [(0, features)]
        thread_map(
            lambda chunk: kernels.bin_sums(bound, weight, thresholds, *chunk, np.empty((4, 256)), out), chunks
        )
        return out.ravel()

    def column(self, which: int, X: Matrix, bound: Bytes | None = None) -> Floats:
        feature, threshold = divmod(which, self.borders.shape[1])
        if bound is None:
            above = X[:, feature] > self.borders[feature, threshold]
        else:
            above = bound[feature] > threshold
        column: Floats = above.astype(np.float64)
        return column

    def model(self, chosen: Ints, alphas: Floats) -> Steps:
        feature, threshold = np.divmod(chosen, self.borders.shape[1])
        return Steps(feature.astype(np.int64), self.borders[feature, threshold], alphas)


def pool_of(pieces: Pieces, weak: str, thresholds: int) -> Pool:
    """The weak rankers of this kind for training data; the state of each piece has a ``ptr``."""
    if weak == "feature":
        return FeaturePool.of(pieces.reduce(np.maximum, largest_ranges))
    if isinstance(pieces, Whole):  # sorted once instead of counted several times; the result is the same
        return ThresholdPool.of(pieces.X.astype(np.float32, copy=False), thresholds)
    return ThresholdPool(borders_in_pieces(pieces, thresholds))


def largest_ranges(piece: HasPtr, X: Matrix) -> Floats:
    """The largest difference of each feature within a query of a piece."""
    starts = piece.ptr[:-1]
    if not len(X):
        return np.zeros(X.shape[1])
    high, low = np.maximum.reduceat(X, starts), np.minimum.reduceat(X, starts)
    largest: Floats = (high.astype(np.float64) - low).max(axis=0, initial=0)
    return largest


def list_values(pool: Pool, X: Matrix, measured: Measured) -> Floats:
    """The metric of every weak ranker, then of every reversed one, on each query: (2·size, queries)."""
    out = np.empty((2 * pool.size, measured.data.n_queries))

    def work(which: int) -> None:
        column = pool.column(which, X)
        out[which] = measured.values(column)
        out[pool.size + which] = measured.values(-column)

    thread_map(work, range(pool.size))
    return out
