"""Numba kernels of the measures with approximate ranks."""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import LANES, PLAIN, exp, longest_list, zeros_of_block


@njit(**LANES)
def approx_rank(s: Floats, i: int, temperature: float, force: Floats) -> float:
    """1 + Σ_{j≠i} σ((s_j − s_i)/T); fills the derivative of the rank by each other score."""
    rank = 0.5  # the document itself adds σ(0) = ½ to the sum
    for j in range(len(s)):
        gap = (s[j] - s[i]) / temperature
        power = exp(-abs(gap))
        inverse = 1.0 / (1.0 + power)
        rank += (1.0 if gap >= 0.0 else power) * inverse
        force[j] = power * inverse * inverse / temperature
    force[i] = 0.0
    return rank


@njit(**LANES)
def move_rank(i: int, force: Floats, slope_of_rank: float, scale: float, slope: Floats, bend: Floats) -> None:
    """Add the gradient of slope_of_rank·(rank of i), and a curvature of that size over the scale."""
    total = 0.0
    for j in range(len(force)):
        pull = slope_of_rank * force[j]
        slope[j] += pull
        bend[j] += pull / scale
        total += pull
    slope[i] -= total
    bend[i] += total / scale


@njit(**PLAIN)
def approx_ndcg(
    scores: Floats, gains: Floats, ideal: Floats, ptr: Ints, temperature: float, curved: bool
) -> Block:
    """1 − Σ_i g_i/log2(1 + r_i) / ideal of each query."""
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    room = np.empty(longest_list(ptr))
    for q in range(len(ptr) - 1):
        if ideal[q] <= 0.0:
            continue
        a, b = ptr[q], ptr[q + 1]
        s, gain, force = scores[a:b], gains[a:b], room[: b - a]
        reached = 0.0
        for i in range(b - a):
            if gain[i] > 0.0:
                rank = approx_rank(s, i, temperature, force)
                log = math.log(1.0 + rank)
                share = gain[i] * math.log(2.0) / ideal[q]
                reached += share / log
                move_rank(
                    i, force, share / (log * log * (1.0 + rank)), temperature, gradient[a:b], curvature[a:b]
                )
        values[q] = 1.0 - reached
    return values, gradient, curvature if curved else np.empty(0)


@njit(**PLAIN)
def approx_mrr(scores: Floats, relevant: Floats, ptr: Ints, temperature: float, curved: bool) -> Block:
    """1 − max_i w_i/r_i of each query; the documents that share the maximum share the gradient."""
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    room, reached = np.empty(longest_list(ptr)), np.empty(longest_list(ptr))
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        s, weight, force = scores[a:b], relevant[a:b], room[: b - a]
        best, ties = 0.0, 0
        for i in range(b - a):
            reached[i] = 0.0
            if weight[i] > 0.0:
                reached[i] = weight[i] / approx_rank(s, i, temperature, force)
                best = max(best, reached[i])
        if best <= 0.0:
            continue
        for i in range(b - a):
            ties += reached[i] >= best * (1.0 - 1e-12)
        for i in range(b - a):
            if reached[i] >= best * (1.0 - 1e-12):
                rank = approx_rank(s, i, temperature, force)
                move_rank(
                    i, force, weight[i] / (rank * rank * ties), temperature, gradient[a:b], curvature[a:b]
                )
        values[q] = 1.0 - best
    return values, gradient, curvature if curved else np.empty(0)
