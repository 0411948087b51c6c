"""Numba kernels that update the weights of AdaBoost.MH after a round; ``signed`` is w·y."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL)
def update_by_leaves(
    signed: Floats, rows: Ints, bounds: Ints, votes: NDArray[np.int8], leaves: int, alpha: float
) -> float:
    """Multiply the weights by exp(−α·y·h) of a tree; the sum of their absolute values."""
    right, wrong = np.exp(-alpha), np.exp(alpha)
    total = 0.0
    for leaf in range(leaves):
        for j in range(bounds[leaf, 0], bounds[leaf, 1]):
            i = rows[j]
            for c in range(signed.shape[1]):
                s = signed[i, c]
                s *= right if (s > 0) == (votes[leaf, c] > 0) else wrong
                signed[i, c] = s
                total += abs(s)
    return total


@njit(**KERNEL)
def update_by_parity(signed: Floats, parity: Floats, vote: NDArray[np.int8], alpha: float) -> float:
    """As :func:`update_by_leaves`, for the h = vote·parity of a product."""
    right, wrong = np.exp(-alpha), np.exp(alpha)
    total = 0.0
    for i in range(len(signed)):
        for c in range(signed.shape[1]):
            s = signed[i, c]
            s *= right if (s > 0) == (vote[c] * parity[i] > 0) else wrong
            signed[i, c] = s
            total += abs(s)
    return total
