"""Weak rankers to select from: single features, or thresholds on single features, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, row_chunks, thread_map
from topkit.data import Dataset
from topkit.metrics.compiled import Measured
from topkit.rankers.boosting.steps import Steps
from topkit.scorers import Linear, Model
from topkit.scorers.model import filled

WEAK = ("threshold", "feature")
"""Kinds of weak rankers."""
MOST_THRESHOLDS = 255
"""Thresholds per feature: the bins between them are stored in one byte."""
LARGE = 1 << 19
"""Bins that justify threads: one round over fewer takes less time than starting them."""


class Pool(Protocol):
    """Weak rankers f_0 … f_(size−1), whose values differ by at most 1 within a query."""

    @property
    def size(self) -> int: ...
    def sums(self, weight: Floats) -> Floats:
        """Σ_x weight(x)·f(x) of every weak ranker."""
        ...

    def column(self, which: int, data: Dataset) -> Floats:
        """The values of one weak ranker on documents."""
        ...

    def model(self, chosen: NDArray[np.int64], alphas: Floats) -> Model:
        """Σ α_t·f_t as a model."""
        ...


@dataclass(frozen=True)
class FeaturePool:
    """A weak ranker is a feature, divided by its largest range within a query."""

    X: Floats
    scale: Floats

    @classmethod
    def of(cls, data: Dataset) -> FeaturePool:
        X = filled(data.X)
        if not len(X):
            return cls(X, np.ones(X.shape[1]))
        span = np.maximum.reduceat(X, data.ptr[:-1]) - np.minimum.reduceat(X, data.ptr[:-1])
        largest = span.max(axis=0, initial=0)
        return cls(X, np.divide(1.0, largest, out=np.zeros(X.shape[1]), where=largest > 0))

    @property
    def size(self) -> int:
        return len(self.scale)

    def sums(self, weight: Floats) -> Floats:
        sums: Floats = (weight @ self.X) * self.scale
        return sums

    def column(self, which: int, data: Dataset) -> Floats:
        column = data.X[:, which].astype(np.float64)
        values: Floats = np.where(np.isnan(column), 0.0, column) * self.scale[which]
        return values

    def model(self, chosen: NDArray[np.int64], alphas: Floats) -> Linear:
        weights = np.bincount(chosen, weights=alphas, minlength=self.size).astype(np.float64)
        return Linear(weights * self.scale)


@dataclass(frozen=True)
class ThresholdPool:
    """A weak ranker is 1[x_f > θ], for the thresholds θ between the bins of each feature."""

    bins: NDArray[np.uint8]
    """Features × documents; bin b holds values above b thresholds."""
    borders: Floats
    """Features × thresholds; NaN where a feature has fewer thresholds."""

    @classmethod
    def of(cls, data: Dataset, thresholds: int) -> ThresholdPool:
        columns = np.ascontiguousarray(data.X.T)
        borders = np.full((data.n_features, thresholds), np.nan)
        bins = np.empty(columns.shape, np.uint8)

        def work(f: int) -> None:
            of_feature = borders_of(columns[f], thresholds)
            borders[f, : len(of_feature)] = of_feature
            above = np.searchsorted(of_feature, columns[f], side="left")
            bins[f] = np.where(np.isnan(columns[f]), 0, above)

        thread_map(work, range(data.n_features))
        return cls(bins, borders)

    @property
    def size(self) -> int:
        return int(self.borders.size)

    def sums(self, weight: Floats) -> Floats:
        from topkit.rankers.boosting import kernels

        features, thresholds = self.borders.shape
        out = np.empty((features, thresholds))
        chunks = row_chunks(features, 1) if self.bins.size > LARGE else [(0, features)]
        thread_map(lambda chunk: kernels.bin_sums(self.bins, weight, thresholds, *chunk, out), chunks)
        return out.ravel()

    def column(self, which: int, data: Dataset) -> Floats:
        feature, threshold = divmod(which, self.borders.shape[1])
        above: Floats = (data.X[:, feature] > self.borders[feature, threshold]).astype(np.float64)
        return above

    def model(self, chosen: NDArray[np.int64], alphas: Floats) -> Steps:
        feature, threshold = np.divmod(chosen, self.borders.shape[1])
        return Steps(feature.astype(np.int64), self.borders[feature, threshold], alphas)


def pool_of(data: Dataset, weak: str, thresholds: int) -> Pool:
    """The weak rankers of this kind for training data."""
    return FeaturePool.of(data) if weak == "feature" else ThresholdPool.of(data, thresholds)


def borders_of(column: NDArray[np.float32], most: int) -> Floats:
    """Thresholds between the values of a feature: all of them, or at most ``most``.

    Then half are evenly spaced in the values, which suits spread-out features, and half in the ranks, which
    suits features with crowded values.
    """
    values = np.unique(column[~np.isnan(column)]).astype(np.float64)
    between = (values[1:] + values[:-1]) / 2
    if len(between) <= most:
        return between
    by_rank = np.quantile(column[~np.isnan(column)], np.arange(1, most // 2 + 1) / (most // 2 + 1))
    by_value = np.linspace(values[0], values[-1], most - most // 2 + 2)[1:-1]
    places = np.searchsorted(between, np.concatenate([by_rank, by_value]))
    borders: Floats = between[np.unique(np.minimum(places, len(between) - 1))]
    return borders


def list_values(pool: Pool, data: Dataset, measured: Measured) -> Floats:
    """The metric of every weak ranker, then of every reversed one, on each query: (2·size, queries)."""
    out = np.empty((2 * pool.size, data.n_queries))

    def work(which: int) -> None:
        column = pool.column(which, data)
        out[which] = measured.values(column)
        out[pool.size + which] = measured.values(-column)

    thread_map(work, range(pool.size))
    return out
