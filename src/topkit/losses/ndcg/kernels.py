"""Numba kernels of the losses made after NDCG; discounts follow the present order of the scores."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.kernels import LANES, PLAIN, exp, falling_order, largest, smallest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(**PLAIN)
def _discounts(s: Floats, k: int, order: Ints, middle: Floats, spread: Floats) -> None:
    """The discount of each document at its rank, 0 beyond rank k; ties share the mean of their ranks.

    ``spread`` is the discount of a tie's first rank minus that of its last: what a tied document may gain.
    """
    n = len(s)
    falling_order(s, order)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and s[order[stop]] == s[order[start]]:
            stop += 1
        total, first, final = 0.0, 0.0, 0.0
        for rank in range(start, stop):
            worth = 1.0 / math.log2(rank + 2.0) if rank < k else 0.0
            total += worth
            first = worth if rank == start else first
            final = worth
        for rank in range(start, stop):
            middle[order[rank]] = total / (stop - start)
            spread[order[rank]] = first - final
        start = stop


@njit(**LANES)
def lambdarank(
    k: int,
    scores: Floats,
    labels: Floats,
    gains: Floats,
    ideal: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Σ |ΔNDCG@k of swapping u and v| · log(1 + e^−(s_u − s_v)) over pairs with y_u > y_v."""
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        gradient[a : a + n] = 0.0
        bend = np.zeros(n)
        if ideal[q] > 0.0:
            s, order, middle, spread = scores[a : a + n], np.empty(n, np.int64), np.empty(n), np.empty(n)
            _discounts(s, k, order, middle, spread)
            value = 0.0
            for u in range(n):
                pull, curve = 0.0, 0.0
                for v in range(n):
                    if labels[a + v] < labels[a + u]:
                        tied = s[u] == s[v]
                        swap = spread[u] if tied else abs(middle[u] - middle[v])
                        weight = (gains[a + u] - gains[a + v]) * swap / ideal[q]
                        margin = s[u] - s[v]
                        power = exp(-abs(margin))
                        wrong = (power if margin >= 0.0 else 1.0) / (1.0 + power)
                        curl = weight * wrong * (1.0 - wrong)
                        if weight > 0.0:
                            value += weight * (max(-margin, 0.0) + math.log1p(power))
                        gradient[a + v] += weight * wrong
                        bend[v] += curl
                        pull += weight * wrong
                        curve += curl
                gradient[a + u] -= pull
                bend[u] += curve
            values[q] = value
        if len(curvature) > 0:
            curvature[a : a + n] = bend


@njit(**LANES)
def soft_ndcg(
    k: int,
    sigma: float,
    scores: Floats,
    gains: Floats,
    ideal: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """1 − Σ_i g_i Σ_j c_j h_ij / DCG*; h_i is a softmax over j of −(s_i − s_j)²/σ, c_j the discount of j."""
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        slope, bend = np.zeros(n), np.zeros(n)
        if ideal[q] > 0.0:
            s, order, worth, spread = scores[a : a + n], np.empty(n, np.int64), np.empty(n), np.empty(n)
            _discounts(s, k, order, worth, spread)
            near = np.empty(n)
            found = 0.0
            for i in range(n):
                if gains[a + i] <= 0.0:
                    continue
                mass, expected = 0.0, 0.0
                for j in range(n):
                    gap = s[i] - s[j]
                    near[j] = exp(-gap * gap / sigma)
                    mass += near[j]
                    expected += near[j] * worth[j]
                expected /= mass
                found += gains[a + i] * expected
                share = 2.0 * gains[a + i] / (mass * sigma * ideal[q])
                own, curve = 0.0, 0.0
                for j in range(n):
                    pull = share * near[j] * (worth[j] - expected) * (s[i] - s[j])
                    size = share * near[j] * abs(worth[j] - expected)
                    slope[j] -= pull
                    bend[j] += size
                    own += pull
                    curve += size
                slope[i] += own
                bend[i] += curve
            values[q] = 1.0 - found / ideal[q]
            if largest(s) == smallest(s):  # no order yet: point to the ideal one
                mean = gains[a : a + n].mean()
                for i in range(n):
                    slope[i] = (mean - gains[a + i]) / ideal[q]
                    bend[i] = 1.0
        gradient[a : a + n] = slope
        if len(curvature) > 0:
            curvature[a : a + n] = bend
