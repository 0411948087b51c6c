"""Numba kernels: likelihoods of Plackett–Luce lists and Bradley–Terry wins with their gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit

Places = NDArray[np.int32]


@njit(cache=True, nogil=True)
def plackett_luce_loss(items: Places, ptr: Ints, strength: Floats, gradient: Floats) -> float:
    """−log likelihood of lists ``items[ptr[i]:ptr[i+1]]``; adds to ``gradient``. See likelihood.py."""
    n = len(strength)
    top = strength.max()
    power = np.exp(strength - top)
    value = 0.0
    shares = np.zeros(n)
    listed = np.zeros(n, np.bool_)
    for i in range(len(ptr) - 1):
        first, last = ptr[i], ptr[i + 1]
        if first == last:
            continue
        listed[:] = False
        for j in range(first, last):
            listed[items[j]] = True
        left = 0.0
        for d in range(n):  # a fresh sum: subtracting the listed ones from the total would lose precision
            if not listed[d]:
                left += power[d]
        for j in range(last - 1, first - 1, -1):
            left += power[items[j]]
            value += np.log(left) + top - strength[items[j]]
            shares[j - first] = 1.0 / left
        total = 0.0
        for j in range(first, last):
            total += shares[j - first]
            gradient[items[j]] += power[items[j]] * total - 1.0
        for d in range(n):
            if not listed[d]:
                gradient[d] += power[d] * total
    return value


@njit(cache=True, nogil=True)
def bradley_terry_loss(wins: NDArray[np.floating], strength: Floats, gradient: Floats) -> float:
    """−log likelihood of ``wins[a, b]`` times a over b; adds to ``gradient``."""
    value = 0.0
    for a in range(len(strength)):
        for b in range(a):
            up, down = np.float64(wins[a, b]), np.float64(wins[b, a])
            if up + down == 0.0:
                continue
            gap = strength[a] - strength[b]
            small = np.exp(-abs(gap))
            p = 1.0 / (1.0 + small) if gap > 0 else small / (1.0 + small)  # the probability that a wins
            both = np.log1p(small)
            value += up * (both + max(-gap, 0.0)) + down * (both + max(gap, 0.0))
            slope = down * p - up * (1.0 - p)
            gradient[a] += slope
            gradient[b] -= slope
    return value
