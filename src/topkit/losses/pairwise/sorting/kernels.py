"""Numba kernels that sum over all pairs without visiting them: by factors, or by sweeps over sorted scores.

The pair set is told as in :mod:`topkit.losses.pairwise.kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.kernels import LANES, PLAIN, exp, largest, smallest
from topkit.losses.pairwise.kernels import EXPONENT_LIMIT, Outputs, PairSet

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(**LANES)
def exponential_pairs(
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Σ e^(s_v − s_u) over the pairs of each query by factors: Σ_u e^−s_u · Σ_{v below u} e^s_v."""
    order, below, whole, shared, share = truth
    values, gradient, curvature = out
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n == 0:
            continue
        middle = 0.5 * (largest(scores[a : a + n]) + smallest(scores[a : a + n]))
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


@njit(**PLAIN)
def sweep_hinges(
    squared: bool,
    focused: bool,
    scores: Floats,
    truth: PairSet,
    ptr: Ints,
    first: int,
    last: int,
    out: Outputs,
) -> None:
    """Σ max(0, 1 − (s_u − s_v)), plain or squared, in O(n log n) by two sweeps over the sorted scores."""
    order, below, whole, shared, share = truth
    values, gradient, curvature = out
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
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


@njit(**PLAIN)
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


@njit(**PLAIN)
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
