"""Numba kernels of QBRank and IsoRank: pooling, the slack of the margins, violated pairs."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.compute.kernel_options import KERNEL

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
    """The smallest change of each query's scores that satisfies its grades, with one slack per query.

    In u = s + δ − g·(1 − ζ) the constraints are u_i ≥ u_j for better i: isotonic regression of
    v(ζ) = s − g·(1 − ζ), where documents of equal grade are not constrained and keep their order. Half the
    slope of the objective in ζ, ψ(ζ) = ⟨v − u, g⟩ + λnζ, is piecewise linear and rises from ψ(0) ≤ 0, so
    Newton steps inside a bracket find its zero exactly. ``slack`` is λ; infinity is a hard margin.
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


@njit(**KERNEL, forceinline=True)
def add_pair(i: int, j: int, lack: float, weight: float, change: Floats, pairs: Floats) -> float:
    """Add the lack of one pair (i better than j) to the sums of both documents; returns its loss."""
    change[i] += weight * lack
    change[j] -= weight * lack
    pairs[i] += weight
    pairs[j] += weight
    return 0.5 * weight * lack * lack


@njit(**KERNEL)
def pair_changes(
    scores: Floats, grades: Floats, ptr: Ints, first: int, last: int, value: Floats, change: Floats,
    pairs: Floats,
) -> None:  # fmt: skip
    """For each document, the sum of lacking margins and the number of its pairs; the loss of each query.

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
                total += add_pair(i, j, lack, 1.0, change, pairs)
        value[q] = total


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
    """As :func:`pair_changes`, for given pairs with weights and a margin of 1."""
    for q in range(first, last):
        total = 0.0
        for p in range(pair_ptr[q], pair_ptr[q + 1]):
            i, j = ptr[q] + better[p], ptr[q] + worse[p]
            lack = max(0.0, 1.0 - (scores[i] - scores[j]))
            total += add_pair(i, j, lack, weight[p], change, pairs)
        value[q] = total


@njit(**KERNEL)
def count_contradictions(
    scores: Floats, grades: Floats, ptr: Ints, first: int, last: int, counts: Ints
) -> None:
    """The number of pairs per query whose better document does not have the larger score."""
    for q in range(first, last):
        count = 0
        for i in range(ptr[q], ptr[q + 1]):
            for j in range(ptr[q], ptr[q + 1]):
                count += grades[i] > grades[j] and scores[i] <= scores[j]
        counts[q] = count
