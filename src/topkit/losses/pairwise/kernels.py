"""Numba kernels of the pairwise losses. Rows of a query are visited by falling label; nothing stores pairs.

Which pairs count is told by three numbers a query, ``whole``, ``shared`` and ``share``: in falling order of
labels, places below ``whole`` belong to the top set with weight 1, places from there to ``shared`` (ties at
the border) with weight ``share``, the rest not at all. ``focused`` keeps only pairs from inside to outside.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.kernels import COUNTING_LIMIT, LANES, exp, falling_order, largest, smallest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HINGE, SQUARED_HINGE, EXPONENTIAL, LOGISTIC, SIGMOID, FIDELITY = range(6)
CHUNK = 64
"""Factors 1+e^−|m| ≤ 2 multiplied before one logarithm is taken."""
EXPONENT_LIMIT = 300.0
"""Scores further than this from the middle of their query's range are treated as this far, for e^s."""


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True, fastmath=LANES, inline="always")
def _pair(kind: int, margin: float) -> tuple[float, float, float]:
    """Value (for a logistic pair without log(1+e^−|m|)), slope downwards and curvature of one pair."""
    if kind == HINGE:
        active = 1.0 if margin < 1.0 else 0.0
        return active * (1.0 - margin), active, active
    if kind == SQUARED_HINGE:
        gap = max(1.0 - margin, 0.0)
        return gap * gap, 2.0 * gap, 2.0 if margin < 1.0 else 0.0
    power = exp(-abs(margin))
    inverse = 1.0 / (1.0 + power)
    right = inverse if margin >= 0.0 else power * inverse
    wrong = power * inverse if margin >= 0.0 else inverse
    if kind == LOGISTIC:
        return max(-margin, 0.0), wrong, wrong * right
    if kind == SIGMOID:
        return wrong, wrong * right, wrong * right
    root = math.sqrt(right)
    return wrong / (1.0 + root), 0.5 * root * wrong, 0.5 * root * wrong


@njit(cache=True, nogil=True, fastmath=LANES)
def _against(
    kind: int, s: Floats, u: int, start: int, stop: int, weight: float, slope: Floats, bend: Floats
) -> float:
    """Pairs of the document at place u with all at places start:stop; their loss."""
    value, pull, curve = 0.0, 0.0, 0.0
    score = s[u]
    for chunk in range(start, stop, CHUNK):
        product = 1.0
        for v in range(chunk, min(chunk + CHUNK, stop)):
            loss, down, curl = _pair(kind, score - s[v])
            value += loss
            slope[v] += weight * down
            bend[v] += weight * curl
            pull += down
            curve += curl
            if kind == LOGISTIC:
                product *= 1.0 + exp(-abs(score - s[v]))
        value += math.log(product)
    slope[u] -= weight * pull
    bend[u] += weight * curve
    return weight * value


@njit(cache=True, nogil=True)
def enumerate_pairs(
    kind: int,
    steepness: float,
    focused: bool,
    scores: Floats,
    order: NDArray[np.int32],
    below: NDArray[np.int32],
    whole: Ints,
    shared: Ints,
    share: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Σ φ(steepness·(s_u − s_v)) over the pairs of each query, visited one by one in vector registers."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, ptr[q + 1] - ptr[q])
    s, slope, bend = np.empty(longest), np.empty(longest), np.empty(longest)
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        for i in range(n):
            s[i] = steepness * scores[a + order[a + i]]
        slope[:n] = 0.0
        bend[:n] = 0.0
        value = 0.0
        for u in range(shared[q]):
            weight = 1.0 if u < whole[q] else share[q]
            start = below[a + u]
            if start >= n:
                break
            if focused:
                rest = max(start, shared[q])
                if share[q] < 1.0:
                    value += _against(
                        kind, s, u, max(start, whole[q]), rest, weight * (1.0 - share[q]), slope, bend
                    )
                value += _against(kind, s, u, rest, n, weight, slope, bend)
            else:
                value += _against(kind, s, u, start, n, weight, slope, bend)
        values[q] = value
        for i in range(n):
            gradient[a + order[a + i]] = steepness * slope[i]
        if len(curvature) > 0:
            for i in range(n):
                curvature[a + order[a + i]] = steepness * steepness * bend[i]


@njit(cache=True, nogil=True)
def given_pairs(
    kind: int,
    steepness: float,
    scores: Floats,
    better: Ints,
    worse: Ints,
    weight: Floats,
    pair_ptr: Ints,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Σ w·φ(steepness·(s_better − s_worse)) over the listed pairs of each query."""
    for q in range(first, last):
        a = ptr[q]
        gradient[a : ptr[q + 1]] = 0.0
        if len(curvature) > 0:
            curvature[a : ptr[q + 1]] = 0.0
        value = 0.0
        for p in range(pair_ptr[q], pair_ptr[q + 1]):
            u, v = a + better[p], a + worse[p]
            margin = steepness * (scores[u] - scores[v])
            if kind == EXPONENTIAL:
                loss = exp(min(-margin, 2.0 * EXPONENT_LIMIT))
                down, curl = loss, loss
            else:
                loss, down, curl = _pair(kind, margin)
                if kind == LOGISTIC:
                    loss += math.log1p(exp(-abs(margin)))
            value += weight[p] * loss
            gradient[u] -= weight[p] * steepness * down
            gradient[v] += weight[p] * steepness * down
            if len(curvature) > 0:
                curvature[u] += weight[p] * steepness * steepness * curl
                curvature[v] += weight[p] * steepness * steepness * curl
        values[q] = value


@njit(cache=True, nogil=True, fastmath=LANES)
def exponential_pairs(
    focused: bool,
    scores: Floats,
    order: NDArray[np.int32],
    below: NDArray[np.int32],
    whole: Ints,
    shared: Ints,
    share: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Σ e^(s_v − s_u) over the pairs of each query by factors: Σ_u e^−s_u · Σ_{v below u} e^s_v."""
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n == 0:
            continue
        middle = 0.5 * (largest(scores, a, a + n) + smallest(scores, a, a + n))
        up, down, lower = np.empty(n), np.empty(n), np.empty(n + 1)
        for i in range(n):
            s = scores[a + order[a + i]] - middle
            down[i] = exp(max(min(s, EXPONENT_LIMIT), -EXPONENT_LIMIT))
            up[i] = 1.0 / down[i]
            inside = 1.0 if i < whole[q] else (share[q] if i < shared[q] else 0.0)
            up[i] *= inside
            if focused:
                down[i] *= 1.0 - inside
        lower[n] = 0.0
        for i in range(n - 1, -1, -1):
            lower[i] = lower[i + 1] + down[i]
        value, upper, taken = 0.0, 0.0, 0
        for i in range(n):
            while below[a + taken] <= i:
                upper += up[taken]
                taken += 1
            loss = up[i] * lower[below[a + i]]
            lost = down[i] * upper
            value += loss
            gradient[a + order[a + i]] = lost - loss
            if len(curvature) > 0:
                curvature[a + order[a + i]] = lost + loss
        values[q] = value


@njit(cache=True, nogil=True)
def sweep_hinges(
    squared: bool,
    focused: bool,
    scores: Floats,
    order: NDArray[np.int32],
    below: NDArray[np.int32],
    whole: Ints,
    shared: Ints,
    share: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Σ max(0, 1 − (s_u − s_v)), plain or squared, in O(n log n) by two sweeps over the sorted scores.

    Lists of up to COUNTING_LIMIT documents are faster pair by pair.
    """
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n <= COUNTING_LIMIT:
            enumerate_pairs(
                SQUARED_HINGE if squared else HINGE,
                1.0,
                focused,
                scores,
                order,
                below,
                whole,
                shared,
                share,
                ptr,
                q,
                q + 1,
                values,
                gradient,
                curvature,
            )
            continue
        rows = order[a : a + n]
        s = np.empty(n)
        for i in range(n):
            s[i] = scores[a + rows[i]]
        s -= s.mean()
        up, down, level = np.zeros(n), np.ones(n), np.empty(n, np.int64)
        levels = 0
        for i in range(n):
            inside = 1.0 if i < whole[q] else (share[q] if i < shared[q] else 0.0)
            up[i] = inside
            if focused:
                down[i] = 1.0 - inside
            levels += i > 0 and below[a + i] != below[a + i - 1]
            level[i] = levels
        slope, bend = np.zeros(n), np.zeros(n)
        by_score = np.argsort(s, kind="mergesort")
        values[q] = _sweep_better(squared, s, level, levels + 1, up, down, by_score, slope, bend)
        _sweep_worse(squared, s, level, levels + 1, up, down, by_score, slope, bend)
        for i in range(n):
            gradient[a + rows[i]] = slope[i]
        if len(curvature) > 0:
            for i in range(n):
                curvature[a + rows[i]] = bend[i]


@njit(cache=True, nogil=True)
def _sweep_better(
    squared: bool,
    s: Floats,
    level: Ints,
    levels: int,
    up: Floats,
    down: Floats,
    by_score: Ints,
    slope: Floats,
    bend: Floats,
) -> float:
    """Loss, and slopes of the better members: scores falling, a Fenwick tree over levels holds the rivals.

    Level 0 is the best label, so the rivals of u are the levels above its own number.
    """
    n = len(s)
    tree = np.zeros((levels + 1, 3))
    value = 0.0
    entered = n - 1
    for place in range(n - 1, -1, -1):
        u = by_score[place]
        while entered >= 0 and s[u] - s[by_score[entered]] < 1.0:
            v = by_score[entered]
            node = levels - level[v]
            while node <= levels:
                tree[node, 0] += down[v]
                tree[node, 1] += down[v] * s[v]
                tree[node, 2] += down[v] * s[v] * s[v]
                node += node & -node
            entered -= 1
        if up[u] == 0.0:
            continue
        count, total, squares = 0.0, 0.0, 0.0
        node = levels - level[u] - 1
        while node > 0:
            count += tree[node, 0]
            total += tree[node, 1]
            squares += tree[node, 2]
            node -= node & -node
        gap = 1.0 - s[u]
        if squared:
            value += up[u] * (count * gap * gap + 2.0 * gap * total + squares)
            slope[u] -= 2.0 * up[u] * (count * gap + total)
            bend[u] += 2.0 * up[u] * count
        else:
            value += up[u] * (count * gap + total)
            slope[u] -= up[u] * count
            bend[u] += up[u] * count
    return value


@njit(cache=True, nogil=True)
def _sweep_worse(
    squared: bool,
    s: Floats,
    level: Ints,
    levels: int,
    up: Floats,
    down: Floats,
    by_score: Ints,
    slope: Floats,
    bend: Floats,
) -> None:
    """Slopes of the worse members: scores rising, the tree holds the documents they should be below."""
    n = len(s)
    tree = np.zeros((levels + 1, 2))
    entered = 0
    for place in range(n):
        v = by_score[place]
        while entered < n and s[by_score[entered]] - s[v] < 1.0:
            u = by_score[entered]
            node = level[u] + 1
            while node <= levels:
                tree[node, 0] += up[u]
                tree[node, 1] += up[u] * s[u]
                node += node & -node
            entered += 1
        count, total = 0.0, 0.0
        node = level[v]
        while node > 0:
            count += tree[node, 0]
            total += tree[node, 1]
            node -= node & -node
        if squared:
            slope[v] += 2.0 * down[v] * (count * (1.0 + s[v]) - total)
            bend[v] += 2.0 * down[v] * count
        else:
            slope[v] += down[v] * count
            bend[v] += down[v] * count
