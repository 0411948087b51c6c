"""Normalisation of features within each query, in one pass over memory and without a float64 copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

Matrix = NDArray[np.float32]

MIN_MAX, Z_SCORE, SORTNET = range(3)
"""The methods; :data:`topkit.data.normalise.NORMALISATIONS` says what they do."""


@njit(**KERNEL, error_model="numpy")
def normalise_queries(
    X: Matrix, ptr: NDArray[np.int64], method: int, first: int, last: int, out: Matrix, column: int
) -> None:
    """Fill ``out`` from ``column`` on with the normalised features of the queries first:last.

    Sums are float64 and run from the first row of a query to its last, as those of NumPy's ``reduceat`` do.
    """
    width = X.shape[1]
    centre, scale, known = np.empty(width), np.empty(width), np.empty(width)
    low, high = np.empty(width, np.float32), np.empty(width, np.float32)
    for q in range(first, last):
        for f in range(width):
            centre[f], scale[f], known[f], low[f], high[f] = 0.0, 0.0, 0.0, np.inf, -np.inf
        for i in range(ptr[q], ptr[q + 1]):
            row = X[i]
            for f in range(width):
                value = row[f]
                there = value == value
                centre[f] += value if there else 0.0
                known[f] += 1.0 if there else 0.0
                low[f] = value if value < low[f] else low[f]
                high[f] = value if value > high[f] else high[f]
        for f in range(width):
            centre[f] = centre[f] / known[f]
        if method == Z_SCORE:
            for i in range(ptr[q], ptr[q + 1]):
                row = X[i]
                for f in range(width):
                    gap = row[f] - centre[f]
                    scale[f] += gap * gap if gap == gap else 0.0
        for f in range(width):
            if method == Z_SCORE:
                scale[f] = np.sqrt(scale[f] / known[f])
            elif method == SORTNET:
                scale[f] = max(abs(np.float64(low[f])), abs(np.float64(high[f])))
            else:
                centre[f], scale[f] = low[f], np.float64(high[f]) - np.float64(low[f])
            if method != SORTNET and not low[f] < high[f]:
                scale[f] = 0.0  # the deviation of a constant column is a rounding error
            if not scale[f] > 0.0 or known[f] == 0.0:
                scale[f] = np.inf
        for i in range(ptr[q], ptr[q + 1]):
            row, target = X[i], out[i]
            for f in range(width):
                target[column + f] = (row[f] - centre[f]) / scale[f]
