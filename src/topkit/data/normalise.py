"""Normalisation of features within each query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topkit.compute import over_queries
from topkit.compute.kernel_options import WORTH_COMPILING
from topkit.data.dataset import Dataset
from topkit.data.words import lookup

Matrix = NDArray[np.float64]
Parts = tuple[Matrix, Matrix]
"""What to subtract and what to divide by, one row per query; a divisor of 0 gives 0."""


def min_max(X: NDArray[np.float32], ptr: NDArray[np.int64]) -> Parts:
    """(x − min) / (max − min) of each column; a constant column is 0."""
    low, high = _range(X, ptr)
    return low, high - low


def z_score(X: NDArray[np.float32], ptr: NDArray[np.int64]) -> Parts:
    """(x − mean) / standard deviation of each column (dividing by n); a constant column is 0."""
    wide = X.astype(np.float64)
    mean = _mean(wide, ptr)
    wide -= np.repeat(mean, np.diff(ptr), axis=0)
    deviation = np.sqrt(_mean(np.square(wide, out=wide), ptr))
    low, high = _range(X, ptr)
    # The deviation of a constant column is a rounding error; dividing by it would give ±1.
    return mean, np.where(low == high, 0, deviation)


def sortnet(X: NDArray[np.float32], ptr: NDArray[np.int64]) -> Parts:
    """(x − mean) / max|x| of each column, as SortNet's paper scales features; an all-zero column is 0."""
    low, high = _range(X, ptr)
    return _mean(X.astype(np.float64), ptr), np.maximum(np.abs(low), np.abs(high))


def _range(X: NDArray[np.float32], ptr: NDArray[np.int64]) -> Parts:
    low: Matrix = np.fmin.reduceat(X, ptr[:-1], axis=0).astype(np.float64)
    high: Matrix = np.fmax.reduceat(X, ptr[:-1], axis=0).astype(np.float64)
    return low, high


def _mean(X: Matrix, ptr: NDArray[np.int64]) -> Matrix:
    """The mean of the values that are not missing; NaN if all are."""
    sums: Matrix = np.add.reduceat(X, ptr[:-1], axis=0)
    if not np.isnan(sums).any():
        sums /= np.diff(ptr)[:, None]
        return sums
    known = ~np.isnan(X)
    total = np.add.reduceat(np.where(known, X, 0), ptr[:-1], axis=0)
    count = np.add.reduceat(known, ptr[:-1], axis=0, dtype=np.int64)
    mean: Matrix = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


NORMALISATIONS: dict[str, Callable[[NDArray[np.float32], NDArray[np.int64]], Parts]] = {
    "min-max": min_max,
    "z-score": z_score,
    "sortnet": sortnet,
}


RAW = "none"
"""Features as they are."""
AUGMENTED = "raw+z-score"
"""Features as they are, followed by their z-scores."""
FEATURE_FORMS = (RAW, *NORMALISATIONS, AUGMENTED)
"""What a ranker can learn from: raw features, one of the normalisations, or both."""


def with_form(data: Dataset, form: str) -> Dataset:
    """The data set with its features in one of :data:`FEATURE_FORMS`.

    >>> ds = Dataset.build([[2.0], [4.0]], [0, 1], ["q", "q"])
    >>> with_form(ds, "raw+z-score").X.tolist()
    [[2.0, -1.0], [4.0, 1.0]]
    """
    if form == RAW:
        return data
    return normalise(data, "z-score", "append") if form == AUGMENTED else normalise(data, form)


def normalise(
    data: Dataset, method: str = "min-max", mode: Literal["replace", "append"] = "replace"
) -> Dataset:
    """The data set with features normalised within each query, which replace the originals or are appended.

    Missing values stay missing and are ignored.

    >>> ds = Dataset.build([[2.0], [4.0], [3.0], [7.0]], [0, 1, 0, 0], ["q", "q", "q", "r"])
    >>> normalise(ds).X.ravel().tolist()
    [0.0, 1.0, 0.5, 0.0]
    """
    parts = lookup(NORMALISATIONS, method, "normalisation")
    first = 0 if mode == "replace" else data.n_features
    X = np.empty((len(data), first + data.n_features), np.float32)
    X[:, :first] = data.X[:, :first]
    if data.X.size < WORTH_COMPILING:
        X[:, first:] = _normalised(data, parts)
    else:  # twenty times as fast, and the same numbers
        from topkit.data.kernels.normalise import normalise_queries

        number = list(NORMALISATIONS).index(method)
        over_queries(lambda a, b: normalise_queries(data.X, data.ptr, number, a, b, X, first), data.ptr)
    if mode == "replace":
        return data.with_features(X, data.feature_names)
    names = data.names_of_features()
    return data.with_features(X, [*names, *(f"{name}:{method}" for name in names)])


def _normalised(data: Dataset, parts: Callable[[NDArray[np.float32], NDArray[np.int64]], Parts]) -> Matrix:
    """The normalised features by NumPy."""
    centre, scale = parts(data.X, data.ptr)
    X: Matrix = np.subtract(data.X, np.repeat(centre, data.lengths, axis=0), dtype=np.float64)
    X /= np.repeat(np.where(scale > 0, scale, np.inf), data.lengths, axis=0)
    return X
