"""Numba kernels of QBRank and IsoRank: pooling, the slack of the margins, violated pairs."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL
from topkit.metrics.compiled.kernels import falling_order

MOST_STEPS = 200
"""Newton steps for the slack; about a dozen are usual, as each is a Newton step or halves the bracket."""


@njit(**KERNEL)
def pool(values: Floats, fitted: Floats, starts: Ints) -> int:
    """The nearest rising sequence (pool adjacent violators) goes to ``fitted``; returns the number of blocks.

    ``starts`` gets the start of each block, and the end of the last one.
    """
    blocks = 0
    sums = np.empty(len(values))
    for i in range(len(values)):
        starts[blocks] = i
        sums[blocks] = values[i]
        blocks += 1
        while blocks > 1:
            last, before = starts[blocks - 1], starts[blocks - 2]
            # Compare the means of the last two blocks without dividing.
            if sums[blocks - 2] * (i + 1 - last) <= sums[blocks - 1] * (last - before):
                break
            sums[blocks - 2] += sums[blocks - 1]
            blocks -= 1
    starts[blocks] = len(values)
    for b in range(blocks):
        for i in range(starts[b], starts[b + 1]):
            fitted[i] = sums[b] / (starts[b + 1] - starts[b])
    return blocks


@njit(**KERNEL)
def rising_order(scores: Floats, rows: Ints, ends: Ints, a: int, n: int) -> Ints:
    """The rows of the query of rows a:a+n by rising grade, and within a grade by rising score."""
    order, within, falling = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    start = 0
    while start < n:
        size = ends[a + start] - a - start
        for i in range(size):
            falling[i] = -scores[rows[a + start + i]]
        falling_order(falling[:size], within[:size])
        for i in range(size):
            order[start + i] = rows[a + start + within[i]]
        start += size
    return order


@njit(**KERNEL)
def objective_slope(
    value: Floats, fitted: Floats, g: Floats, starts: Ints, blocks: int, cost: float, zeta: float
) -> tuple[float, float, float]:
    """ψ(ζ), the sum of the absolute values of its terms, and its own slope; ``cost`` is λn."""
    psi, size, slope = cost * zeta, cost * zeta, cost
    for b in range(blocks):
        mean = 0.0
        for i in range(starts[b], starts[b + 1]):
            mean += g[i]
        mean /= starts[b + 1] - starts[b]
        for i in range(starts[b], starts[b + 1]):
            part = (value[i] - fitted[i]) * g[i]
            psi += part
            size += abs(part)
            slope += (g[i] - mean) ** 2
    return psi, size, slope


@njit(**KERNEL)
def graded_change(
    scores: Floats,
    grades: Floats,
    rows: Ints,
    ends: Ints,
    slack: float,
    ptr: Ints,
    first: int,
    last: int,
    change: Floats,
    zeta: Floats,
) -> None:
    """The smallest change of each query's scores that satisfies its grades, with one slack per query.

    ``rows`` has the rows of each query by rising grade, and ``ends`` the place after each grade.

    In u = s + δ − g·(1 − ζ) the constraints are u_i ≥ u_j for better i: isotonic regression of
    v(ζ) = s − g·(1 − ζ), where documents of equal grade are not constrained and keep their order. Half the
    slope of the objective in ζ, ψ(ζ) = ⟨v − u, g⟩ + λnζ, is piecewise linear and rises from ψ(0) ≤ 0, so
    Newton steps inside a bracket find its zero exactly. They start at ``zeta``. ``slack`` is λ; infinity is
    a hard margin.
    """
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        order = rising_order(scores, rows, ends, a, n)
        s, g = np.empty(n), np.empty(n)
        for i in range(n):
            s[i], g[i] = scores[order[i]], grades[order[i]]
        value, fitted, starts = np.empty(n), np.empty(n), np.empty(n + 1, np.int64)
        low, high, at = -1.0, np.inf, zeta[q]  # low < 0 until ζ is known to be larger
        for _ in range(MOST_STEPS):
            for i in range(n):
                value[i] = s[i] - g[i] * (1.0 - at)
            blocks = pool(value, fitted, starts)
            if slack == np.inf:
                break
            psi, size, slope = objective_slope(value, fitted, g, starts, blocks, slack * n, at)
            if abs(psi) <= 1e-14 * size:
                break
            if psi > 0:
                high = at
            else:
                low = at
            step = at - psi / slope
            if low < 0.0 and step <= 0.0:
                step = 0.0  # no margin is reduced: the smallest ζ, which halving would never reach
            elif not low < step < high:
                step = 0.5 * (max(low, 0.0) + high) if high < np.inf else 2.0 * low + 1.0
            if step == at:
                break
            at = step
        zeta[q] = at
        for i in range(n):
            change[order[i]] = fitted[i] - value[i]


@njit(**KERNEL, fastmath={"reassoc", "nsz"})
def pair_changes(
    scores: Floats,
    grades: Floats,
    rows: Ints,
    ends: Ints,
    ptr: Ints,
    first: int,
    last: int,
    value: Floats,
    change: Floats,
) -> None:
    """For each document, the sum of lacking margins over its pairs; the loss of each query.

    A pair of grades g_i > g_j lacks max(0, g_i − g_j − (s_i − s_j)). ``rows`` has the rows of each query by
    falling grade, and ``ends`` the place after each grade, so that the worse documents of one document are
    contiguous.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, ptr[q + 1] - ptr[q])
    gap, lacks = np.empty(longest), np.empty(longest)
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        for i in range(n):
            row = rows[a + i]
            gap[i] = grades[row] - scores[row]
            lacks[i] = 0.0
        total = 0.0
        for i in range(n):
            own, lacking = gap[i], 0.0
            for j in range(np.uint64(ends[a + i] - a), np.uint64(n)):
                lack = own - gap[j]
                lack = lack if lack > 0.0 else 0.0
                lacks[j] -= lack
                lacking += lack
                total += lack * lack
            lacks[i] += lacking
        value[q] = 0.5 * total
        for i in range(n):
            change[rows[a + i]] = lacks[i]


@njit(**KERNEL)
def given_pair_changes(
    scores: Floats,
    better: Ints,
    worse: Ints,
    weight: Floats,
    pair_ptr: Ints,
    ptr: Ints,
    first: int,
    last: int,
    value: Floats,
    change: Floats,
    pairs: Floats,
) -> None:
    """As :func:`pair_changes` for given pairs with a margin of 1; also the weights of their pairs."""
    for q in range(first, last):
        total = 0.0
        for p in range(pair_ptr[q], pair_ptr[q + 1]):
            i, j = ptr[q] + better[p], ptr[q] + worse[p]
            lack = max(0.0, 1.0 - (scores[i] - scores[j]))
            change[i] += weight[p] * lack
            change[j] -= weight[p] * lack
            pairs[i] += weight[p]
            pairs[j] += weight[p]
            total += 0.5 * weight[p] * lack * lack
        value[q] = total


@njit(**KERNEL)
def count_contradictions(
    scores: Floats, rows: Ints, ends: Ints, ptr: Ints, first: int, last: int, counts: Ints
) -> None:
    """The number of pairs per query whose better document does not have the larger score.

    ``rows`` has the rows of each query by falling grade, and ``ends`` the place after each grade.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, ptr[q + 1] - ptr[q])
    s = np.empty(longest)
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        for i in range(n):
            s[i] = scores[rows[a + i]]
        count = 0
        for i in range(n):
            own = s[i]
            for j in range(np.uint64(ends[a + i] - a), np.uint64(n)):
                count += 1 if own <= s[j] else 0
        counts[q] = count
