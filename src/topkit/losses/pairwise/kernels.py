"""Numba kernels of the pairwise losses. Rows of a query are visited by falling label; nothing stores pairs.

Which pairs count is told by three numbers a query, ``whole``, ``shared`` and ``share``: in falling order of
labels, places below ``whole`` belong to the top set with weight 1, places from there to ``shared`` (ties at
the border) with weight ``share``, the rest not at all. ``focused`` keeps only pairs from inside to outside.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.kernels import LANES, PLAIN, exp, falling_order, largest, longest_list, smallest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PairSet = tuple[NDArray[np.int32], NDArray[np.int32], Ints, Ints, Floats]
"""order, below, whole, shared, share, as :func:`rank_labels` fills them."""
Pairs = tuple[Ints, Ints, Floats, Ints]
"""better, worse, weight, and where the pairs of each query start."""
Outputs = tuple[Floats, Floats, Floats]
"""values, gradient, curvature; an empty curvature is not filled."""

HINGE, SQUARED_HINGE, EXPONENTIAL, LOGISTIC, SIGMOID, FIDELITY = range(6)
CHUNK = 64
"""Factors 1 + e^−|m| ≤ 2 multiplied before one logarithm is taken."""
NEAR = 12.0
"""Range of scores up to which 1 + e^−m may be multiplied as it is, with ten digits left of the smallest."""
NEAR_CHUNK = 32
"""Such factors before one logarithm: (1 + e^12)^32 is within float64."""
EXPONENT_LIMIT = 300.0
"""Scores further than this from the middle of their query's range are treated as this far, for e^s."""


@njit(**PLAIN)
def rank_labels(
    labels: Floats,
    ptr: Ints,
    k: int,
    order: NDArray[np.int32],
    below: NDArray[np.int32],
    whole: Ints,
    shared: Ints,
    share: Floats,
) -> None:
    """Rows by falling label, the place where lower labels start for each, and the top set of each query."""
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        rows = np.empty(n, np.int64)
        falling_order(labels[a : a + n], rows)
        end = n
        for i in range(n - 1, -1, -1):
            order[a + i] = rows[i]
            if i + 1 < n and labels[a + rows[i]] != labels[a + rows[i + 1]]:
                end = i + 1
            below[a + i] = end
        whole[q], shared[q], share[q] = n, n, 1.0
        if k < n:
            border = labels[a + rows[k - 1]]
            above = 0
            while labels[a + rows[above]] > border:
                above += 1
            whole[q], shared[q] = above, below[a + k - 1]
            share[q] = (k - above) / (shared[q] - above)


@njit(**LANES)
def _hinge(
    s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    top, value, pull = s[u], 0.0, 0.0
    for v in range(np.uint64(start), np.uint64(stop)):
        gap = 1.0 - (top - s[v])
        active = 1.0 if gap > 0.0 else 0.0
        value += max(gap, 0.0)
        pull += active
        slope[v] += weight * active
        bend[v] += weight * active
    return value, pull, pull


@njit(**LANES)
def _squared_hinge(
    s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    top, value, pull, active = s[u], 0.0, 0.0, 0.0
    for v in range(np.uint64(start), np.uint64(stop)):
        gap = max(1.0 - (top - s[v]), 0.0)
        on = 2.0 if gap > 0.0 else 0.0
        value += gap * gap
        pull += gap
        active += on
        slope[v] += 2.0 * weight * gap
        bend[v] += weight * on
    return value, 2.0 * pull, active


@njit(**LANES)
def _exponential(
    s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    top, value = s[u], 0.0
    for v in range(np.uint64(start), np.uint64(stop)):
        power = exp(min(s[v] - top, 2.0 * EXPONENT_LIMIT))
        value += power
        slope[v] += weight * power
        bend[v] += weight * power
    return value, value, value


@njit(**LANES)
def _logistic(
    s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    top, value, pull, curve = s[u], 0.0, 0.0, 0.0
    for chunk in range(start, stop, CHUNK):
        product = 1.0
        for v in range(np.uint64(chunk), np.uint64(min(chunk + CHUNK, stop))):
            margin = top - s[v]
            power = exp(-abs(margin))
            inverse = 1.0 / (1.0 + power)
            wrong = (power if margin >= 0.0 else 1.0) * inverse
            bending = power * inverse * inverse
            value += max(-margin, 0.0)
            product *= 1.0 + power
            pull += wrong
            curve += bending
            slope[v] += weight * wrong
            bend[v] += weight * bending
        value += math.log(product)
    return value, pull, curve


@njit(**LANES)
def _near_logistic(
    up: Floats, down: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    """Logistic pairs from up = e^(c−s) and down = e^(s−c), for scores within NEAR of each other."""
    rise, value, pull, curve = up[u], 0.0, 0.0, 0.0
    for chunk in range(start, stop, NEAR_CHUNK):
        product = 1.0
        for v in range(np.uint64(chunk), np.uint64(min(chunk + NEAR_CHUNK, stop))):
            power = rise * down[v]
            inverse = 1.0 / (1.0 + power)
            wrong = power * inverse
            bending = wrong * inverse
            product *= 1.0 + power
            pull += wrong
            curve += bending
            slope[v] += weight * wrong
            bend[v] += weight * bending
        value += math.log(product)
    return value, pull, curve


@njit(**LANES)
def _sigmoid(
    s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    top, value, pull = s[u], 0.0, 0.0
    for v in range(np.uint64(start), np.uint64(stop)):
        margin = top - s[v]
        power = exp(-abs(margin))
        inverse = 1.0 / (1.0 + power)
        force = power * inverse * inverse
        value += (power if margin >= 0.0 else 1.0) * inverse
        pull += force
        slope[v] += weight * force
        bend[v] += weight * force
    return value, pull, pull


@njit(**LANES)
def _fidelity(
    s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    top, value, pull = s[u], 0.0, 0.0
    for v in range(np.uint64(start), np.uint64(stop)):
        margin = top - s[v]
        power = exp(-abs(margin))
        inverse = 1.0 / (1.0 + power)
        root = math.sqrt((1.0 if margin >= 0.0 else power) * inverse)
        wrong = (power if margin >= 0.0 else 1.0) * inverse
        force = 0.5 * root * wrong
        value += wrong / (1.0 + root)
        pull += force
        slope[v] += weight * force
        bend[v] += weight * force
    return value, pull, pull


@njit(**PLAIN, inline="always")
def _visit(
    pairs_of: Any,
    near_logistic: bool,
    steepness: float,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Σ φ(steepness·(s_u − s_v)) over the pairs of each query; ``pairs_of`` is one of the loops above."""
    order, below, whole, shared, share = truth
    values, gradient, curvature = out
    longest = longest_list(ptr, first, last)
    s, slope, bend = np.empty(longest), np.empty(longest), np.empty(longest)
    up, down = np.empty(longest), np.empty(longest)
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        rows = order[a : a + n]
        for i in range(n):
            s[i] = steepness * scores[a + rows[i]]
            slope[i] = 0.0
            bend[i] = 0.0
        near = near_logistic and _powers(s[:n], up, down)
        value = 0.0
        for u in range(shared[q]):
            weight = 1.0 if u < whole[q] else share[q]
            start = below[a + u]
            if start >= n:
                break
            if focused:  # rivals in the tie at the border count by their share outside
                middle, start = max(start, whole[q]), max(start, shared[q])
                outside = weight * (1.0 - share[q])
                if middle < start and outside > 0.0:
                    loss, pull, curve = pairs_of(s, u, middle, start, outside, slope, bend)
                    value += outside * loss
                    slope[u] -= outside * pull
                    bend[u] += outside * curve
            if near:
                loss, pull, curve = _near_logistic(up, down, u, start, n, weight, slope, bend)
            else:
                loss, pull, curve = pairs_of(s, u, start, n, weight, slope, bend)
            value += weight * loss
            slope[u] -= weight * pull
            bend[u] += weight * curve
        values[q] = value
        for i in range(n):
            gradient[a + rows[i]] = steepness * slope[i]
        if len(curvature) > 0:
            for i in range(n):
                curvature[a + rows[i]] = steepness * steepness * bend[i]


@njit(**LANES)
def _powers(s: Floats, up: Floats, down: Floats) -> bool:
    """Whether the scores lie within NEAR of each other; then up = e^(c−s) and down = e^(s−c) are filled."""
    if len(s) == 0:
        return False
    high, low = largest(s), smallest(s)
    if high - low > NEAR:
        return False
    middle = 0.5 * (high + low)
    for i in range(len(s)):
        down[i] = exp(s[i] - middle)
        up[i] = 1.0 / down[i]
    return True


# One kernel for each loss: a choice inside the loop would cost more than the pairs themselves.
@njit(**PLAIN)
def hinge_pairs(
    steepness: float,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Hinge over a pair set."""
    _visit(_hinge, False, steepness, focused, scores, truth, ptr, first, last, out)


@njit(**PLAIN)
def squared_hinge_pairs(
    steepness: float,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Squared hinge over a pair set."""
    _visit(_squared_hinge, False, steepness, focused, scores, truth, ptr, first, last, out)


@njit(**PLAIN)
def logistic_pairs(
    steepness: float,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Logistic over a pair set."""
    _visit(_logistic, True, steepness, focused, scores, truth, ptr, first, last, out)


@njit(**PLAIN)
def sigmoid_pairs(
    steepness: float,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Sigmoid over a pair set."""
    _visit(_sigmoid, False, steepness, focused, scores, truth, ptr, first, last, out)


@njit(**PLAIN)
def fidelity_pairs(
    steepness: float,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Fidelity over a pair set."""
    _visit(_fidelity, False, steepness, focused, scores, truth, ptr, first, last, out)


@njit(**PLAIN)
def given_pairs(
    kind: int,
    steepness: float,
    scores: Floats,
    pairs: Pairs,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Σ w·φ(steepness·(s_better − s_worse)) over the listed pairs of each query."""
    better, worse, weight, pair_ptr = pairs
    values, gradient, curvature = out
    longest = longest_list(ptr, first, last)
    s, slope, bend = np.empty(longest), np.empty(longest), np.empty(longest)
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        for i in range(n):
            s[i], slope[i], bend[i] = steepness * scores[a + i], 0.0, 0.0
        value = 0.0
        for p in range(pair_ptr[q], pair_ptr[q + 1]):
            u, v, w = better[p], worse[p], weight[p]
            if kind == HINGE:
                loss, pull, curve = _hinge(s, u, v, v + 1, w, slope, bend)
            elif kind == SQUARED_HINGE:
                loss, pull, curve = _squared_hinge(s, u, v, v + 1, w, slope, bend)
            elif kind == EXPONENTIAL:
                loss, pull, curve = _exponential(s, u, v, v + 1, w, slope, bend)
            elif kind == LOGISTIC:
                loss, pull, curve = _logistic(s, u, v, v + 1, w, slope, bend)
            elif kind == SIGMOID:
                loss, pull, curve = _sigmoid(s, u, v, v + 1, w, slope, bend)
            else:
                loss, pull, curve = _fidelity(s, u, v, v + 1, w, slope, bend)
            value += w * loss
            slope[u] -= w * pull
            bend[u] += w * curve
        values[q] = value
        for i in range(n):
            gradient[a + i] = steepness * slope[i]
        if len(curvature) > 0:
            for i in range(n):
                curvature[a + i] = steepness * steepness * bend[i]
