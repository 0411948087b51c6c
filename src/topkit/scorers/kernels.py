"""Numba kernels of linear models on large data: float32 features in place, sums in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

Matrix = NDArray[np.float32]

SUMS = {**KERNEL, "fastmath": {"reassoc", "nsz", "contract"}}
"""The terms of a sum may be added in vector lanes."""


@njit(**SUMS)
def add_products(X: Matrix, weights: Floats, first: int, last: int, scores: Floats) -> None:
    """scores_i += x_i·w for the rows first:last."""
    for i in range(first, last):
        row = X[i]
        total = 0.0
        for f in range(len(weights)):
            total += row[f] * weights[f]
        scores[i] += total


@njit(**SUMS)
def add_rows(X: Matrix, slope: Floats, first: int, last: int, gradient: Floats) -> None:
    """gradient += Σ slope_i·x_i over the rows first:last."""
    for i in range(first, last):
        row, factor = X[i], slope[i]
        for f in range(len(gradient)):
            gradient[f] += factor * row[f]
