"""Numba kernels over pairs of documents: their support, and the search for Kemeny orders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit

Table = NDArray[np.float32]


@njit(cache=True, nogil=True)
def pair_support(items: NDArray[np.int32], ptr: Ints, weights: Floats, support: Table) -> None:
    """Add to ``support[a, b]`` the weight of every ranker with a above b (b lower in its list, or absent)."""
    n = len(support)
    below = np.empty(n, np.bool_)
    for i in range(len(weights)):
        if weights[i] == 0.0:
            continue
        weight = np.float32(weights[i])
        below[:] = True
        for j in range(ptr[i], ptr[i + 1]):
            a = items[j]
            below[a] = False
            for b in range(n):
                if below[b]:
                    support[a, b] += weight


@njit(cache=True, nogil=True)
def insertion_search(order: Ints, margin: Table) -> float:
    """Move single documents while that lowers the Kemeny score, in place; returns the total decrease.

    ``margin[a, b]`` is the support for a above b minus that for b above a.
    """
    n = len(order)
    gained = 0.0
    improved = True
    while improved:
        improved = False
        for start in range(n):
            a = order[start]
            best, best_place, gain = 1e-6, start, 0.0
            for p in range(start - 1, -1, -1):  # move up past order[p]
                gain += np.float64(margin[a, order[p]])
                if gain > best:
                    best, best_place = gain, p
            gain = 0.0
            for p in range(start + 1, n):
                gain -= np.float64(margin[a, order[p]])
                if gain > best:
                    best, best_place = gain, p
            if best_place < start:
                for p in range(start, best_place, -1):
                    order[p] = order[p - 1]
            else:
                for p in range(start, best_place):
                    order[p] = order[p + 1]
            if best_place != start:
                order[best_place] = a
                gained += best
                improved = True
    return gained


@njit(cache=True, nogil=True)
def exact_kemeny(support: Table) -> Ints:
    """The order with the smallest Kemeny score, by dynamic programming over sets: 2^n·n² steps."""
    n = len(support)
    best = np.full(1 << n, np.inf)
    last = np.zeros(1 << n, np.int8)
    best[0] = 0.0
    for chosen in range(1 << n):  # the documents already placed on top
        for a in range(n):
            if chosen >> a & 1:
                continue
            total = best[chosen]
            for b in range(n):
                if b != a and not chosen >> b & 1:
                    total += np.float64(support[b, a])
            after = chosen | 1 << a
            if total < best[after] - 1e-9:
                best[after] = total
                last[after] = a
    order = np.empty(n, np.int64)
    chosen = (1 << n) - 1
    for p in range(n - 1, -1, -1):
        order[p] = last[chosen]
        chosen ^= 1 << order[p]
    return order
