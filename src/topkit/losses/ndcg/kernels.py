"""Numba kernels of the losses modelled on NDCG; discounts follow the current order of the scores."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.base import Block
from topkit.losses.kernels import LANES, PLAIN, exp, falling_order, largest, longest_list, smallest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(**PLAIN)
def current_discounts(s: Floats, k: int) -> tuple[Floats, Floats]:
    """The discount of each document at its rank, 0 beyond rank k; ties share the mean of their ranks.

    The second array is the discount of a tie's first rank minus that of its last: what a tied document may
    gain.
    """
    n = len(s)
    order, middle, spread = np.empty(n, np.int64), np.empty(n), np.empty(n)
    falling_order(s, order)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and s[order[stop]] == s[order[start]]:
            stop += 1
        total, first, final = 0.0, 0.0, 0.0
        for rank in range(start, stop):
            discount = 1.0 / math.log2(rank + 2.0) if rank < k else 0.0
            total += discount
            first = discount if rank == start else first
            final = discount
        for rank in range(start, stop):
            middle[order[rank]] = total / (stop - start)
            spread[order[rank]] = first - final
        start = stop
    return middle, spread


@njit(**LANES)
def lambdarank(scores: Floats, gains: Floats, ideal: Floats, ptr: Ints, k: int, curved: bool) -> Block:
    """Σ |ΔNDCG@k of swapping u and v| · log(1 + e^−(s_u − s_v)) over pairs with gain_u > gain_v."""
    values, gradient = np.zeros(len(ptr) - 1), np.zeros(len(scores))
    curvature = np.zeros(len(scores) if curved else 0)
    for q in range(len(ptr) - 1):
        if ideal[q] <= 0.0:
            continue
        a, b = ptr[q], ptr[q + 1]
        s, gain, slope, bend = scores[a:b], gains[a:b], gradient[a:b], np.zeros(b - a)
        middle, spread = current_discounts(s, k)
        for u in range(b - a):
            pull, curve = 0.0, 0.0
            for v in range(b - a):
                if gain[v] < gain[u]:
                    swap = spread[u] if s[u] == s[v] else abs(middle[u] - middle[v])
                    weight = (gain[u] - gain[v]) * swap / ideal[q]
                    margin = s[u] - s[v]
                    power = exp(-abs(margin))
                    wrong = (power if margin >= 0.0 else 1.0) / (1.0 + power)
                    bending = weight * wrong * (1.0 - wrong)
                    if weight > 0.0:
                        values[q] += weight * (max(-margin, 0.0) + math.log1p(power))
                    slope[v] += weight * wrong
                    bend[v] += bending
                    pull += weight * wrong
                    curve += bending
            slope[u] -= pull
            bend[u] += curve
        if curved:
            for i in range(b - a):
                curvature[a + i] = bend[i]
    return values, gradient, curvature


@njit(**LANES)
def soft_ndcg(
    scores: Floats, gains: Floats, ideal: Floats, ptr: Ints, k: int, sigma: float, curved: bool
) -> Block:
    """1 − Σ_i g_i Σ_j c_j h_ij / DCG*; h_i is a softmax over j of −(s_i − s_j)²/σ, c_j the discount of j."""
    values, gradient = np.zeros(len(ptr) - 1), np.zeros(len(scores))
    curvature = np.zeros(len(scores) if curved else 0)
    near = np.empty(longest_list(ptr))
    for q in range(len(ptr) - 1):
        if ideal[q] <= 0.0:
            continue
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        s, gain, slope, bend = scores[a : a + n], gains[a : a + n], gradient[a : a + n], np.zeros(n)
        discount, _ = current_discounts(s, k)
        total = 0.0
        for i in range(n):
            if gain[i] <= 0.0:
                continue
            mass, expected = 0.0, 0.0
            for j in range(n):
                gap = s[i] - s[j]
                near[j] = exp(-gap * gap / sigma)
                mass += near[j]
                expected += near[j] * discount[j]
            expected /= mass
            total += gain[i] * expected
            share = 2.0 * gain[i] / (mass * sigma * ideal[q])
            push, curve = 0.0, 0.0
            for j in range(n):
                pull = share * near[j] * (discount[j] - expected) * (s[i] - s[j])
                size = share * near[j] * abs(discount[j] - expected)
                slope[j] -= pull
                bend[j] += size
                push += pull
                curve += size
            slope[i] += push
            bend[i] += curve
        values[q] = 1.0 - total / ideal[q]
        if largest(s) == smallest(s):  # no order yet: point towards the ideal one
            mean = gain.sum() / n
            for i in range(n):
                slope[i] = (mean - gain[i]) / ideal[q]
                bend[i] = 1.0
        if curved:
            for i in range(n):
                curvature[a + i] = bend[i]
    return values, gradient, curvature
