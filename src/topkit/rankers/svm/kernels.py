"""Numba kernels of the SVM rankers: Hessian products over active pairs, most violated rankings of AP."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from topkit.compute import Bools, Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL
from topkit.losses.pairwise import ListedPairs
from topkit.metrics.compiled.kernels import falling_order


@njit(**KERNEL)
def sort_rows(scores: Floats, ptr: Ints, first: int, last: int, rows: Ints) -> None:
    """Rows of each query by descending score."""
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        falling_order(scores[a:b], rows[a:b])
        for place in range(a, b):
            rows[place] += a


@register_jitable
def add_from(tree: Floats, node: int, amount: float) -> None:
    """Add an amount to a Fenwick tree at a node (from 1)."""
    while node < len(tree):
        tree[node] += amount
        node += node & -node


@register_jitable
def sum_to(tree: Floats, node: int) -> float:
    """The sum of a Fenwick tree over the nodes 1 to ``node``."""
    total = 0.0
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@njit(**KERNEL)
def rival_sums(
    scores: Floats,
    rows: Ints,
    level: Ints,
    up: Floats,
    down: Floats,
    change: Floats,
    ptr: Ints,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """out_i = Σ w_ij·change_j over the rivals j of i: pairs (u, v) with u better and s_u − s_v < 1.

    w_uv = up_u·down_v. Two sweeps over the sorted scores; a Fenwick tree over levels holds the rivals
    inside the margin, so a list of n documents costs O(n log levels).
    """
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        levels = 0
        for row in range(a, b):
            levels = max(levels, level[row] + 1)
        tree = np.zeros(levels + 1)
        entered = a
        for place in range(a, b):  # descending: for every better u, the worse v with s_v > s_u − 1
            u = rows[place]
            while entered < b and scores[u] - scores[rows[entered]] < 1.0:
                v = rows[entered]
                add_from(tree, levels - level[v], down[v] * change[v])
                entered += 1
            out[u] = up[u] * sum_to(tree, levels - level[u] - 1)
        for node in range(levels + 1):
            tree[node] = 0.0
        entered = b - 1
        for place in range(b - 1, a - 1, -1):  # ascending: for every worse v, the better u with s_u < s_v + 1
            v = rows[place]
            while entered >= a and scores[rows[entered]] - scores[v] < 1.0:
                u = rows[entered]
                add_from(tree, level[u] + 1, up[u] * change[u])
                entered -= 1
            out[v] += down[v] * sum_to(tree, level[v])


@njit(**KERNEL)
def given_rival_sums(
    scores: Floats, pairs: ListedPairs, change: Floats, ptr: Ints, first: int, last: int, out: Floats
) -> None:
    """The same sums over listed pairs."""
    for q in range(first, last):
        a = ptr[q]
        for row in range(a, ptr[q + 1]):
            out[row] = 0.0
        for p in range(pairs.ptr[q], pairs.ptr[q + 1]):
            u, v = a + pairs.better[p], a + pairs.worse[p]
            if scores[u] - scores[v] < 1.0:
                out[u] += pairs.weight[p] * change[v]
                out[v] += pairs.weight[p] * change[u]


@njit(**KERNEL)
def worst_interleaving(good: Floats, bad: Floats, above: Ints) -> None:
    """The number of relevant documents that the most violated ranking puts above each irrelevant one.

    ``good`` and ``bad`` are the descending scores of relevant and irrelevant documents. The ranking maximises
    1 − AP + Σ z_ij (s_i − s_j)/(|R||N|) with z_ij = ±1. Moving the j-th irrelevant document above the i-th
    relevant one gains i/((i+j−1)(i+j)|R|) − 2(s_i − s_j)/(|R||N|), which decreases with j. So the best
    places increase with j, and halving the range of j while narrowing that of i finds all of them in
    O((|R|+|N|) log |N|).
    """
    relevant, others = len(good), len(bad)
    stack = np.empty((2 * 64, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, others, 0, relevant
    depth = 1
    while depth > 0:
        depth -= 1
        low, high, fewest, most = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        middle = (low + high) // 2
        j = middle + 1
        best, best_gain, gain = most, 0.0, 0.0
        for i in range(most, fewest, -1):  # also above the i-th relevant document
            gain += i / ((i + j - 1.0) * (i + j)) - 2.0 * (good[i - 1] - bad[middle]) / others
            if gain > best_gain:
                best, best_gain = i - 1, gain
        above[middle] = best
        if low < middle:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, middle, fewest, best
            depth += 1
        if middle + 1 < high:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = middle + 1, high, best, most
            depth += 1


@njit(**KERNEL)
def average_precision_hinge(
    scores: Floats,
    relevant: Bools,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
) -> None:
    """max over rankings z of 1 − AP(z) + Ψ(z) − Ψ(truth), and its gradient in the scores, per query.

    The value is 0 if all or none of the documents are relevant.
    """
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        values[q] = 0.0
        count = 0
        for i in range(n):
            gradient[a + i] = 0.0
            count += relevant[a + i]
        others = n - count
        if count == 0 or others == 0:
            continue
        order = np.empty(n, np.int64)
        falling_order(scores[a : a + n], order)
        good_rows, bad_rows = np.empty(count, np.int64), np.empty(others, np.int64)
        good, bad = np.empty(count), np.empty(others)
        i, j = 0, 0
        for place in range(n):
            row = a + order[place]
            if relevant[row]:
                good_rows[i], good[i] = row, scores[row]
                i += 1
            else:
                bad_rows[j], bad[j] = row, scores[row]
                j += 1
        above = np.empty(others, np.int64)
        worst_interleaving(good, bad, above)
        unit = 2.0 / (count * others)
        precision, change, passed = 0.0, 0.0, 0
        for i in range(count):  # `passed` irrelevant documents are above the i-th relevant one
            while passed < others and above[passed] <= i:
                passed += 1
            precision += (i + 1.0) / (i + 1.0 + passed)
            gradient[good_rows[i]] = -unit * passed
            change -= unit * passed * good[i]
        for j in range(others):
            beaten = count - above[j]
            gradient[bad_rows[j]] = unit * beaten
            change += unit * beaten * bad[j]
        values[q] = 1.0 - precision / count + change
