"""Numba kernels that sum over pairs without visiting them: by factors, or by sweeps over sorted scores."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import (
    LANES,
    PLAIN,
    exp,
    extent,
    falling_order,
    longest_list,
    total_of,
    zeros_of_block,
)
from topkit.losses.pairwise import PairSet
from topkit.losses.pairwise.kernels.margins import EXPONENT_LIMIT
from topkit.losses.pairwise.kernels.visits import gather, scatter

SortedQuery = tuple[Floats, Ints, Floats, Floats, Ints]
"""One query by descending label: scores, levels, weights as better and as worse, ranks by ascending score."""


@njit(**PLAIN)
def memberships(pairs: PairSet, q: int, better: Floats, worse: Floats) -> None:
    """How far each document of query q, by descending label, counts as better and as worse member."""
    for i in range(len(better)):
        better[i] = 1.0 if i < pairs.whole[q] else (pairs.share[q] if i < pairs.shared[q] else 0.0)
        worse[i] = 1.0 - better[i] if pairs.focused else 1.0


@njit(**LANES)
def exponential_pairs(scores: Floats, pairs: PairSet, ptr: Ints, curved: bool) -> Block:
    """Σ e^(s_v − s_u) over the pairs of each query by factors: Σ_u e^−s_u · Σ_{v below u} e^s_v."""
    values, gradient = np.zeros(len(ptr) - 1), np.empty(len(scores))
    curvature = np.empty(len(scores) if curved else 0)
    room = longest_list(ptr)
    up, down, powers, lower = np.empty(room), np.empty(room), np.empty(room), np.empty(room + 1)
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n == 0:
            continue
        rows, below = pairs.order[a : a + n], pairs.below[a : a + n]
        low, high = extent(scores[a : a + n])
        middle = 0.5 * (low + high)
        memberships(pairs, q, up[:n], down[:n])
        for i in range(n):
            powers[i] = max(min(scores[a + rows[i]] - middle, EXPONENT_LIMIT), -EXPONENT_LIMIT)
        for i in range(n):  # a loop of its own runs in vector registers
            power = exp(powers[i])
            down[i] *= power
            up[i] /= power
        lower[n] = 0.0
        for i in range(n - 1, -1, -1):
            lower[i] = lower[i + 1] + down[i]
        value, upper, taken = 0.0, 0.0, 0
        for i in range(n):
            while below[taken] <= i:
                upper += up[taken]
                taken += 1
            as_better, as_worse = up[i] * lower[below[i]], down[i] * upper
            value += as_better
            gradient[a + rows[i]] = as_worse - as_better
            if curved:
                curvature[a + rows[i]] = as_worse + as_better
        values[q] = value
    return values, gradient, curvature


@njit(**PLAIN)
def sweep_hinges(
    scores: Floats, pairs: PairSet, ptr: Ints, squared: bool, longer_than: int, curved: bool
) -> Block:
    """Σ max(0, 1 − (s_u − s_v)), plain or squared, in O(n log n) by two sweeps over the sorted scores.

    Queries with at most ``longer_than`` documents are left at 0.
    """
    values, gradient, curvature = zeros_of_block(scores, ptr, curved)
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n <= longer_than:
            continue
        rows, below = pairs.order[a : a + n], pairs.below[a : a + n]
        s, slope, bend, level = np.empty(n), np.empty(n), np.empty(n), np.zeros(n, np.int64)
        gather(scores[a : a + n], rows, 1.0, s, slope, bend)
        for i in range(1, n):
            level[i] = level[i - 1] + (below[i] != below[i - 1])
        mean = total_of(s) / n
        for i in range(n):
            s[i] -= mean
        up, down = np.empty(n), np.empty(n)
        memberships(pairs, q, up, down)
        by_score = np.empty(n, np.int64)
        falling_order(-s, by_score)  # ascending
        query = (s, level, up, down, by_score)
        values[q] = sweep_better(query, squared, slope, bend)
        sweep_worse(query, squared, slope, bend)
        scatter(slope, rows, 1.0, gradient[a : a + n])
        if curved:
            scatter(bend, rows, 1.0, curvature[a : a + n])
    return values, gradient, curvature


@njit(**PLAIN)
def tree_add(tree: Floats, node: int, amount: tuple[float, float, float]) -> None:
    """Add to one position of a Fenwick tree of three sums."""
    while node < len(tree):
        tree[node, 0] += amount[0]
        tree[node, 1] += amount[1]
        tree[node, 2] += amount[2]
        node += node & -node


@njit(**PLAIN)
def tree_sum(tree: Floats, node: int) -> tuple[float, float, float]:
    """The three sums up to a position of a Fenwick tree."""
    first, second, third = 0.0, 0.0, 0.0
    while node > 0:
        first += tree[node, 0]
        second += tree[node, 1]
        third += tree[node, 2]
        node -= node & -node
    return first, second, third


@njit(**PLAIN)
def sweep_better(query: SortedQuery, squared: bool, slope: Floats, bend: Floats) -> float:
    """Loss, and slopes of the better members: scores descend, a tree over levels holds the rivals.

    Level 0 is the best label, so the rivals of u are the levels with greater numbers.
    """
    s, level, up, down, by_score = query
    n, levels = len(s), level[-1] + 1
    tree = np.zeros((levels + 1, 3))
    value = 0.0
    entering = n - 1
    for place in range(n - 1, -1, -1):
        u = by_score[place]
        while entering >= 0 and s[u] - s[by_score[entering]] < 1.0:
            v = by_score[entering]
            tree_add(tree, levels - level[v], (down[v], down[v] * s[v], down[v] * s[v] * s[v]))
            entering -= 1
        if up[u] == 0.0:
            continue
        count, total, squares = tree_sum(tree, levels - level[u] - 1)
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
def sweep_worse(query: SortedQuery, squared: bool, slope: Floats, bend: Floats) -> None:
    """Slopes of the worse members: scores ascend, the tree holds the documents that should be above them."""
    s, level, up, down, by_score = query
    n, levels = len(s), level[-1] + 1
    tree = np.zeros((levels + 1, 3))
    entering = 0
    for place in range(n):
        v = by_score[place]
        while entering < n and s[by_score[entering]] - s[v] < 1.0:
            u = by_score[entering]
            tree_add(tree, level[u] + 1, (up[u], up[u] * s[u], 0.0))
            entering += 1
        count, total, _ = tree_sum(tree, level[v])
        if squared:
            slope[v] += 2.0 * down[v] * (count * (1.0 + s[v]) - total)
            bend[v] += 2.0 * down[v] * count
        else:
            slope[v] += down[v] * count
            bend[v] += down[v] * count
