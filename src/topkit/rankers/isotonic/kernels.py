"""Numba kernels of QBRank and IsoRank: pooling, the slack of the margins, pair violations, contradictions."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STEPS = 200
"""Newton steps for the slack; a dozen is usual, and every step at least halves what is left or is
Newton's."""


@njit(cache=True, nogil=True)
def pool(values: Floats, fitted: Floats, starts: Ints) -> int:
    """The nearest rising sequence (pool adjacent violators) into ``fitted``; the number of its blocks.

    ``starts`` gets the place where each block starts, and the end after the last one.
    """
    blocks = 0
    sums = np.empty(len(values))
    for i in range(len(values)):
        starts[blocks] = i
        sums[blocks] = values[i]
        blocks += 1
        while blocks > 1:
            last, before = starts[blocks - 1], starts[blocks - 2]
            # mean of the block before > mean of the last one, without dividing
            if sums[blocks - 2] * (i + 1 - last) <= sums[blocks - 1] * (last - before):
                break
            sums[blocks - 2] += sums[blocks - 1]
            blocks -= 1
    starts[blocks] = len(values)
    for b in range(blocks):
        fitted[starts[b] : starts[b + 1]] = sums[b] / (starts[b + 1] - starts[b])
    return blocks


@njit(cache=True, nogil=True)
def graded_change(
    scores: Floats,
    grades: Floats,
    slack: float,
    ptr: Ints,
    first: int,
    last: int,
    change: Floats,
    zeta: Floats,
) -> None:
    """The least change of each query's scores that its grades ask for, with margins and one slack a query.

    In u = s + δ − g·(1 − ζ) the constraints are u_i ≥ u_j for better i: isotonic regression of
    v(ζ) = s − g·(1 − ζ), whose documents of one grade are free among themselves and so keep their order. Half
    the slope of the objective in ζ, ψ(ζ) = ⟨v − u, g⟩ + λnζ, rises in straight pieces from ψ(0) ≤ 0, so
    Newton's steps, kept inside a bracket, find its zero exactly. ``slack`` is λ; infinity is a hard margin.
    """
    for q in range(first, last):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        s, g = scores[a : a + n], grades[a : a + n]
        order = np.argsort(s, kind="mergesort")
        order = order[np.argsort(g[order], kind="mergesort")]
        value, fitted, starts = np.empty(n), np.empty(n), np.empty(n + 1, np.int64)
        low, high, at = 0.0, np.inf, 0.0
        for _ in range(MOST_STEPS):
            for i in range(n):
                value[i] = s[order[i]] - g[order[i]] * (1.0 - at)
            blocks = pool(value, fitted, starts)
            if slack == np.inf:
                break
            psi, size, slope = slack * n * at, slack * n * at, slack * n
            for b in range(blocks):
                mean = 0.0
                for i in range(starts[b], starts[b + 1]):
                    mean += g[order[i]]
                mean /= starts[b + 1] - starts[b]
                for i in range(starts[b], starts[b + 1]):
                    part = (value[i] - fitted[i]) * g[order[i]]
                    psi += part
                    size += abs(part)
                    slope += (g[order[i]] - mean) ** 2
            if abs(psi) <= 1e-14 * size:
                break
            if psi > 0:
                high = at
            else:
                low = at
            step = at - psi / slope
            if not low < step < high:
                step = 0.5 * (low + high) if high < np.inf else 2.0 * low + 1.0
            if step == at:
                break
            at = step
        zeta[q] = at
        for i in range(n):
            change[a + order[i]] = fitted[i] - value[i]


@njit(cache=True, nogil=True)
def pair_changes(
    scores: Floats,
    grades: Floats,
    ptr: Ints,
    first: int,
    last: int,
    value: Floats,
    change: Floats,
    pairs: Floats,
) -> None:
    """Sums over the pairs of each document of what it lacks to the margin, the number of pairs, and the loss.

    A pair of grades g_i > g_j lacks max(0, g_i − g_j − (s_i − s_j)).
    """
    for q in range(first, last):
        total = 0.0
        for i in range(ptr[q], ptr[q + 1]):
            for j in range(ptr[q], ptr[q + 1]):
                margin = grades[i] - grades[j]
                if margin <= 0:
                    continue
                lack = max(0.0, margin - (scores[i] - scores[j]))
                total += 0.5 * lack * lack
                change[i] += lack
                change[j] -= lack
                pairs[i] += 1.0
                pairs[j] += 1.0
        value[q] = total


@njit(cache=True, nogil=True)
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
    """As :func:`pair_changes` for given pairs with weights and a margin of 1."""
    for q in range(first, last):
        total = 0.0
        for p in range(pair_ptr[q], pair_ptr[q + 1]):
            i, j = ptr[q] + better[p], ptr[q] + worse[p]
            lack = max(0.0, 1.0 - (scores[i] - scores[j]))
            total += 0.5 * weight[p] * lack * lack
            change[i] += weight[p] * lack
            change[j] -= weight[p] * lack
            pairs[i] += weight[p]
            pairs[j] += weight[p]
        value[q] = total


@njit(cache=True, nogil=True)
def count_contradictions(
    scores: Floats, grades: Floats, ptr: Ints, first: int, last: int, found: Ints
) -> None:
    """Pairs of each query whose better document does not have the larger score."""
    for q in range(first, last):
        count = 0
        for i in range(ptr[q], ptr[q + 1]):
            for j in range(ptr[q], ptr[q + 1]):
                count += grades[i] > grades[j] and scores[i] <= scores[j]
        found[q] = count
