"""Numba kernels of the pairwise losses. They visit the pairs of a query and never store them.

``pair_kernel(phi)``, ``listed_kernel(phi)`` and ``gap_kernel(phi)`` compile one kernel for one φ of
:mod:`topkit.losses.pairwise.kernels.margins`, on its first use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import INLINED, LANES, PLAIN, exp, extent, longest_list, zeros_of_block
from topkit.losses.pairwise import ListedPairs, PairSet
from topkit.losses.pairwise.kernels.margins import Phi, logistic

PairKernel = Callable[..., Block]

FACTORS = 64
"""Factors 1 + e^−|m| ≤ 2 that are multiplied before one logarithm is taken."""
NEAR = 12.0
"""Range of scores up to which 1 + e^−m is multiplied directly; the smallest factor keeps ten digits."""
NEAR_FACTORS = 32
"""Such factors before one logarithm: (1 + e^12)^32 fits float64."""


@cache
def pair_kernel(phi: Phi) -> PairKernel:
    """The kernel that sums φ over a :class:`PairSet`.

    ``kernel(scores, pairs, ptr, steepness, longest, curved)`` gives Σ φ(steepness·(s_u − s_v)) of each query
    with at most ``longest`` documents, and 0 for longer ones.
    """
    logarithms = phi is logistic  # a constant of the kernel: only one of the two loops is compiled

    @njit(**LANES)
    def visit(
        scores: Floats, pairs: PairSet, ptr: Ints, steepness: float, longest: int, curved: bool
    ) -> Block:
        values, gradient, curvature = zeros_of_block(scores, ptr, curved)
        room = longest_list(ptr)
        # separate arrays: rows of one array would keep the loops out of vector registers
        s, slope, bend = np.empty(room), np.empty(room), np.empty(room)
        up, down = np.empty(room), np.empty(room)
        for q in range(len(ptr) - 1):
            a, n = ptr[q], ptr[q + 1] - ptr[q]
            if n > longest:
                continue
            rows = pairs.order[a : a + n]
            gather(scores[a : a + n], rows, steepness, s, slope, bend)
            near = logarithms and fill_powers(s[:n], up, down)
            for u in range(pairs.shared[q]):
                inside = 1.0 if u < pairs.whole[q] else pairs.share[q]
                first = pairs.below[a + u]
                if first >= n:
                    break
                outside = first
                if pairs.focused:  # documents of the tie at the border count by their share outside
                    first, outside = max(first, pairs.whole[q]), max(first, pairs.shared[q])
                for part in range(2):
                    tied = (first, outside, inside * (1.0 - pairs.share[q]))
                    start, stop, weight = tied if part == 0 else (outside, n, inside)
                    if start >= stop or weight == 0.0:
                        continue
                    if logarithms:
                        sums = (s, up, down, u, start, stop, weight, slope, bend)
                        loss, pull, curve = near_logistic(*sums) if near else far_logistic(*sums)
                    else:
                        top, loss, pull, curve = s[u], 0.0, 0.0, 0.0
                        for v in range(np.uint64(start), np.uint64(stop)):
                            cost, force, bending = phi(top - s[v])
                            loss += cost
                            pull += force
                            curve += bending
                            slope[v] += weight * force
                            bend[v] += weight * bending
                    values[q] += weight * loss
                    slope[u] -= weight * pull
                    bend[u] += weight * curve
            scatter(slope, rows, steepness, gradient[a : a + n])
            if curved:
                scatter(bend, rows, steepness * steepness, curvature[a : a + n])
        return values, gradient, curvature

    return visit  # type: ignore[no-any-return]


@register_jitable(error_model="numpy")
def gather(
    scores: Floats, rows: NDArray[np.int32], steepness: float, s: Floats, slope: Floats, bend: Floats
) -> None:
    """Fill s with the scores of one query by descending label; set slope and bend to 0."""
    for i in range(len(rows)):
        s[i] = steepness * scores[rows[i]]
        slope[i] = 0.0
        bend[i] = 0.0


@register_jitable(error_model="numpy")
def scatter(values: Floats, rows: NDArray[np.int32], factor: float, out: Floats) -> None:
    """Write values by descending label back to the rows of the query."""
    for i in range(len(rows)):
        out[rows[i]] = factor * values[i]


@register_jitable(error_model="numpy")
def add_pair(
    u: int,
    v: int,
    weight: float,
    scale: float,
    force: float,
    bending: float,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Add the slope of weight·φ(scale·(s_u − s_v)) to the gradient, and the curvature unless it is empty."""
    gradient[u] -= weight * scale * force
    gradient[v] += weight * scale * force
    if len(curvature) > 0:
        curvature[u] += weight * scale * scale * bending
        curvature[v] += weight * scale * scale * bending


@cache
def listed_kernel(phi: Phi) -> PairKernel:
    """The kernel that sums φ over :class:`ListedPairs`: Σ weight·φ(steepness·(s_better − s_worse))."""

    @njit(**PLAIN)
    def visit(scores: Floats, pairs: ListedPairs, ptr: Ints, steepness: float, curved: bool) -> Block:
        values, gradient, curvature = zeros_of_block(scores, ptr, curved)
        for q in range(len(ptr) - 1):
            for p in range(pairs.ptr[q], pairs.ptr[q + 1]):
                u, v, weight = ptr[q] + pairs.better[p], ptr[q] + pairs.worse[p], pairs.weight[p]
                cost, force, bending = phi(steepness * (scores[u] - scores[v]))
                values[q] += weight * cost
                add_pair(u, v, weight, steepness, force, bending, gradient, curvature)
        return values, gradient, curvature

    return visit  # type: ignore[no-any-return]


@cache
def gap_kernel(phi: Phi) -> PairKernel:
    """The kernel that sums φ over a :class:`PairSet` with margins (y_u − y_v)(s_u − s_v)."""

    @njit(**PLAIN)
    def visit(scores: Floats, pairs: PairSet, ptr: Ints, steepness: float, curved: bool) -> Block:
        values, gradient, curvature = zeros_of_block(scores, ptr, curved)
        for q in range(len(ptr) - 1):
            a, n = ptr[q], ptr[q + 1] - ptr[q]
            for better in range(pairs.shared[q]):
                inside = 1.0 if better < pairs.whole[q] else pairs.share[q]
                u = a + pairs.order[a + better]
                first = pairs.below[a + better]
                if pairs.focused:
                    first = max(first, pairs.whole[q])
                for worse in range(first, n):
                    v = a + pairs.order[a + worse]
                    weight = inside
                    if pairs.focused and worse < pairs.shared[q]:
                        weight *= 1.0 - pairs.share[q]
                    if weight == 0.0:
                        continue
                    scale = steepness * (pairs.gap_labels[a + better] - pairs.gap_labels[a + worse])
                    cost, force, bending = phi(scale * (scores[u] - scores[v]))
                    values[q] += weight * cost
                    add_pair(u, v, weight, scale, force, bending, gradient, curvature)
        return values, gradient, curvature

    return visit  # type: ignore[no-any-return]


def logistic_pairs(near: bool) -> Any:
    """The kernel of the logistic pairs of document u with start:stop; many factors share one logarithm.

    Near scores take powers from up = e^(c−s) and down = e^(s−c), without an exponential per pair.
    """
    factors = NEAR_FACTORS if near else FACTORS

    @njit(**LANES)
    def visit(
        s: Floats, up: Floats, down: Floats, u: int, start: int, stop: int, weight: float, slope: Floats,
        bend: Floats,
    ) -> tuple[float, float, float]:  # fmt: skip
        top, rise, value, pull, curve = s[u], up[u], 0.0, 0.0, 0.0
        for chunk in range(start, stop, factors):
            product = 1.0
            for v in range(np.uint64(chunk), np.uint64(min(chunk + factors, stop))):
                margin = top - s[v]
                power = rise * down[v] if near else exp(-abs(margin))
                inverse = 1.0 / (1.0 + power)
                wrong = (power if near or margin >= 0.0 else 1.0) * inverse
                bending = power * inverse * inverse
                if not near:
                    value += max(-margin, 0.0)
                product *= 1.0 + power
                pull += wrong
                curve += bending
                slope[v] += weight * wrong
                bend[v] += weight * bending
            value += math.log(product)
        return value, pull, curve

    return visit


far_logistic, near_logistic = logistic_pairs(near=False), logistic_pairs(near=True)


@register_jitable(**INLINED)
def fill_powers(s: Floats, up: Floats, down: Floats) -> bool:
    """Whether the scores lie within NEAR of each other; then up = e^(c−s) and down = e^(s−c) are filled."""
    if len(s) == 0:
        return False
    low, high = extent(s)
    if high - low > NEAR:
        return False
    middle = 0.5 * (high + low)
    for i in range(len(s)):
        down[i] = exp(s[i] - middle)
        up[i] = 1.0 / down[i]
    return True
