"""Normalisation of features within each query, in one pass over memory and without a float64 copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

Matrix = NDArray[np.float32]

MIN_MAX, Z_SCORE, SORTNET = range(3)
"""The methods; :data:`topkit.data.normalise.NORMALISATIONS` says what they do."""


NEARLY_CONSTANT = 1e-6
"""A deviation up to this, relative to the mean, may be the rounding error of a constant column."""


@njit(**KERNEL, error_model="numpy")
def normalise_queries(
    X: Matrix, ptr: NDArray[np.int64], method: int, first: int, last: int, out: Matrix, column: int
) -> None:
    """Fill ``out`` from ``column`` on with the normalised features of the queries first:last.

    Sums are float64 and run from the first row of a query to its last, as those of NumPy's ``reduceat`` do.
    Loops over features are short, so that each runs in vector registers.
    """
    width = X.shape[1]
    centre, scale, known = np.empty(width), np.empty(width), np.empty(width)
    low, high = np.empty(width, np.float32), np.empty(width, np.float32)
    for q in range(first, last):
        start, stop = ptr[q], ptr[q + 1]
        means(X, start, stop, centre, known)
        if method == Z_SCORE:
            for f in range(width):
                scale[f] = 0.0
            for i in range(start, stop):
                row = X[i]
                for f in range(width):
                    gap = row[f] - centre[f]
                    scale[f] += gap * gap if gap == gap else 0.0
            for f in range(width):
                scale[f] = np.sqrt(scale[f] / known[f])
                if scale[f] <= NEARLY_CONSTANT * abs(centre[f]) and constant(X, start, stop, f):
                    scale[f] = 0.0  # the deviation of a constant column is a rounding error
        else:
            extremes(X, start, stop, low, high)
            for f in range(width):
                smallest, largest = np.float64(low[f]), np.float64(high[f])
                if method == SORTNET:
                    scale[f] = max(abs(smallest), abs(largest))
                else:
                    centre[f], scale[f] = smallest, largest - smallest
        for f in range(width):
            if not scale[f] > 0.0 or known[f] == 0.0:
                scale[f] = np.inf
        for i in range(start, stop):
            row, target = X[i], out[i]
            for f in range(width):
                target[column + f] = (row[f] - centre[f]) / scale[f]


@njit(**KERNEL, error_model="numpy")
def means(X: Matrix, first: int, last: int, mean: NDArray[np.float64], known: NDArray[np.float64]) -> None:
    """The mean of each column of the rows first:last and its count, without missing values."""
    width, complete = X.shape[1], True
    for f in range(width):
        mean[f], known[f] = 0.0, last - first
    for i in range(first, last):
        row = X[i]
        for f in range(width):
            mean[f] += row[f]
    for f in range(width):
        complete &= mean[f] == mean[f]
    if not complete:
        for f in range(width):
            mean[f], known[f] = 0.0, 0.0
        for i in range(first, last):
            row = X[i]
            for f in range(width):
                there = row[f] == row[f]
                mean[f] += row[f] if there else 0.0
                known[f] += 1.0 if there else 0.0
    for f in range(width):
        mean[f] /= known[f]


@njit(**KERNEL)
def extremes(X: Matrix, first: int, last: int, low: NDArray[np.float32], high: NDArray[np.float32]) -> None:
    """The minimum and the maximum of each column of the rows first:last, without missing values."""
    for f in range(X.shape[1]):
        low[f], high[f] = np.inf, -np.inf
    for i in range(first, last):
        row = X[i]
        for f in range(X.shape[1]):
            value, smallest, largest = row[f], low[f], high[f]
            low[f] = value if value < smallest else smallest
            high[f] = value if value > largest else largest


@njit(**KERNEL)
def constant(X: Matrix, first: int, last: int, f: int) -> bool:
    """Whether all values of a column that are not missing are equal."""
    value = X[first, f]
    for i in range(first, last):
        if value != value:
            value = X[i, f]
        if X[i, f] == X[i, f] and X[i, f] != value:
            return False
    return True
