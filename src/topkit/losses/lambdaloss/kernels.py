"""Numba kernel of LambdaLoss: it visits all pairs of a query."""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import PLAIN, end_of_tie, exp, falling_order, zeros_of_block
from topkit.losses.ndcg.kernels import current_discounts

NDCG1, NDCG2, NDCG2_PLUS, ARP1, ARP2 = range(5)
"""The schemes, as in :data:`topkit.losses.lambdaloss.SCHEMES`."""


@njit(**PLAIN)
def mean_ranks(s: Floats) -> Floats:
    """The current rank of each document, from 1; equal scores share the mean of their ranks."""
    n = len(s)
    order, ranks = np.empty(n, np.int64), np.empty(n)
    falling_order(s, order)
    start = 0
    while start < n:
        stop = end_of_tie(s, order, start)
        for place in range(start, stop):
            ranks[order[place]] = (start + stop + 1) / 2.0
        start = stop
    return ranks


@njit(**PLAIN)
def gap_tables(n: int, k: int) -> tuple[Floats, Floats]:
    """δ of twice a difference of ranks, and the factor of δ for twice the larger rank: larger beyond k.

    Twice, because mean ranks of ties may end in ½.
    """
    delta, beyond = np.zeros(2 * n + 1), np.ones(2 * n + 1)
    for half in range(2 * n + 1):
        gap = max(half / 2.0, 1.0)
        delta[half] = 1.0 / math.log2(1.0 + gap) - 1.0 / math.log2(2.0 + gap)
        if half > 2 * min(k, n):
            beyond[half] = 1.0 / (1.0 - 1.0 / math.log2(1.0 + half / 2.0))
    return delta, beyond


@njit(**PLAIN)
def weighted_pairs(
    scores: Floats, gains: Floats, ptr: Ints, k: int, scheme: int, mu: float, curved: bool
) -> Block:
    """Σ_uv w_uv·log(1 + e^−(s_u − s_v)) of each query."""
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    one_sided = scheme in (NDCG1, ARP1)
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        s, gain, slope, bend = scores[a:b], gains[a:b], gradient[a:b], curvature[a:b]
        twice = (2.0 * mean_ranks(s)).astype(np.int64)
        delta, beyond = gap_tables(b - a, k)
        middle, spread = current_discounts(s, k)
        for u in range(b - a):
            if gain[u] <= 0.0:
                continue
            for v in range(b - a):
                if u == v or not (one_sided or gain[u] > gain[v]):
                    continue
                weight = gain[u] if one_sided else gain[u] - gain[v]
                if scheme == NDCG1:
                    weight *= middle[u]
                elif scheme == NDCG2:
                    weight *= delta[abs(twice[u] - twice[v])] * beyond[max(twice[u], twice[v])]
                elif scheme == NDCG2_PLUS:
                    swap = spread[u] if s[u] == s[v] else abs(middle[u] - middle[v])
                    apart = delta[abs(twice[u] - twice[v])] * beyond[max(twice[u], twice[v])]
                    weight *= swap + mu * apart
                margin = s[u] - s[v]
                power = exp(-abs(margin))
                wrong = (power if margin >= 0.0 else 1.0) / (1.0 + power)
                values[q] += weight * (max(-margin, 0.0) + math.log1p(power))
                slope[u] -= weight * wrong
                slope[v] += weight * wrong
                bend[u] += weight * wrong * (1.0 - wrong)
                bend[v] += weight * wrong * (1.0 - wrong)
    return values, gradient, curvature if curved else np.empty(0)
