"""Numba kernels of the radial kernel exp(−γ‖x − z‖²)."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL)
def squared_distance(X: Floats, i: int, points: Floats, j: int) -> float:
    """‖x_i − z_j‖²."""
    total = 0.0
    for f in range(X.shape[1]):
        difference = X[i, f] - points[j, f]
        total += difference * difference
    return total


@njit(**KERNEL)
def kernel_values(X: Floats, points: Floats, gamma: float, first: int, last: int, out: Floats) -> None:
    """out[i, j] = exp(−γ‖x_i − z_j‖²) for the rows first:last."""
    for i in range(first, last):
        for j in range(len(points)):
            out[i, j] = np.exp(-gamma * squared_distance(X, i, points, j))


@njit(**KERNEL)
def kernel_sums(
    X: Floats, points: Floats, weights: Floats, gamma: float, first: int, last: int, out: Floats
) -> None:
    """out[i] = Σ_j weight_j·exp(−γ‖x_i − z_j‖²) for the rows first:last."""
    for i in range(first, last):
        total = 0.0
        for j in range(len(points)):
            total += weights[j] * np.exp(-gamma * squared_distance(X, i, points, j))
        out[i] = total
