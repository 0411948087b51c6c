"""Numba kernel of LambdaLoss: it visits all pairs of a query."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.base import Block
from topkit.losses.kernels import LANES, PLAIN, exp, falling_order
from topkit.losses.ndcg.kernels import current_discounts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
        stop = start + 1
        while stop < n and s[order[stop]] == s[order[start]]:
            stop += 1
        for place in range(start, stop):
            ranks[order[place]] = (start + stop + 1) / 2.0
        start = stop
    return ranks


@njit(**LANES, inline="always")
def rank_gap_weight(rank: float, other: float, k: int) -> float:
    """δ of two ranks: what one place more between them costs, larger beyond rank k."""
    gap = max(abs(rank - other), 1.0)
    delta = 1.0 / math.log2(1.0 + gap) - 1.0 / math.log2(2.0 + gap)
    deeper = max(rank, other)
    return delta / (1.0 - 1.0 / math.log2(1.0 + deeper)) if deeper > k else delta


@njit(**PLAIN)
def weighted_pairs(
    scores: Floats, gains: Floats, ptr: Ints, k: int, scheme: int, mu: float, curved: bool
) -> Block:
    """Σ_uv w_uv·log(1 + e^−(s_u − s_v)) of each query."""
    values, gradient, curvature = np.zeros(len(ptr) - 1), np.zeros(len(scores)), np.zeros(len(scores))
    one_sided = scheme in (NDCG1, ARP1)
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        s, gain, slope, bend = scores[a:b], gains[a:b], gradient[a:b], curvature[a:b]
        ranks = mean_ranks(s)
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
                    weight *= rank_gap_weight(ranks[u], ranks[v], k)
                elif scheme == NDCG2_PLUS:
                    swap = spread[u] if s[u] == s[v] else abs(middle[u] - middle[v])
                    weight *= swap + mu * rank_gap_weight(ranks[u], ranks[v], k)
                margin = s[u] - s[v]
                power = exp(-abs(margin))
                wrong = (power if margin >= 0.0 else 1.0) / (1.0 + power)
                values[q] += weight * (max(-margin, 0.0) + math.log1p(power))
                slope[u] -= weight * wrong
                slope[v] += weight * wrong
                bend[u] += weight * wrong * (1.0 - wrong)
                bend[v] += weight * wrong * (1.0 - wrong)
    return values, gradient, curvature if curved else np.empty(0)
