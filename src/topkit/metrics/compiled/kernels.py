"""Numba kernels of measures for training: the value of every list, and of lists that one step re-ranks."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COUNTING_LIMIT = 256
"""Up to this length, counting the greater elements of each element sorts faster than a comparison sort."""

SUM, PRECISION, CASCADE, FIRST = range(4)
"""Σ gain·discount; precision at the relevant; Σ discount·stop·Π(1 − earlier stops); discount of the first."""


@njit(cache=True, nogil=True, error_model="numpy")
def whole_levels(values: Floats) -> int:
    """One more than the largest value if all are small whole numbers from 0, as grades are; else 0."""
    limit = 2.0 * len(values) + 64.0
    top = 0.0
    for i in range(len(values)):
        value = values[i]
        if not (0.0 <= value < limit) or value != math.floor(value):
            return 0
        top = max(top, value)
    return int(top) + 1


@njit(cache=True, nogil=True, error_model="numpy")
def falling_order(values: Floats, order: Ints) -> None:
    """Fill ``order`` with the positions of ``values`` from the largest down; ties keep their order."""
    n = len(values)
    levels = whole_levels(values)
    if levels > 0:
        starts = np.zeros(levels + 1, np.int64)
        for i in range(n):
            starts[levels - np.int64(values[i])] += 1
        for level in range(levels):
            starts[level + 1] += starts[level]
        for i in range(n):
            level = levels - 1 - np.int64(values[i])
            order[starts[level]] = i
            starts[level] += 1
        return
    if n > COUNTING_LIMIT:
        order[:] = np.argsort(-values, kind="mergesort")
        return
    for i in range(n):
        value = values[i]
        place = 0
        for j in range(np.uint64(i)):
            place += 1 if values[j] >= value else 0
        for j in range(np.uint64(i + 1), np.uint64(n)):
            place += 1 if values[j] > value else 0
        order[place] = i


@njit(cache=True, nogil=True)
def ranked_value(kind: int, gain: Floats, order: Ints, start: int, discount: Floats) -> float:
    """The measure of one list whose documents, counted from ``start``, stand in this order."""
    depth = min(len(order), len(discount))
    value = 0.0
    if kind == SUM:
        for r in range(depth):
            value += gain[start + order[r]] * discount[r]
    elif kind == PRECISION:  # the gain of a relevant document is 1 over the number of relevant ones
        found = 0
        for r in range(depth):
            g = gain[start + order[r]]
            if g > 0.0:
                found += 1
                value += g * found / (r + 1.0)
    elif kind == CASCADE:
        reached = 1.0
        for r in range(depth):
            g = gain[start + order[r]]
            value += reached * g * discount[r]
            reached *= 1.0 - g
    else:
        for r in range(depth):
            if gain[start + order[r]] > 0.0:
                return float(discount[r])
    return value


@njit(cache=True, nogil=True)
def list_values(
    kind: int,
    scores: Floats,
    gain: Floats,
    discount: Floats,
    fixed: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
) -> None:
    """The measure of each query by falling score, ties in input order; ``fixed`` where it is not NaN."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, ptr[q + 1] - ptr[q])
    order = np.empty(longest, np.int64)
    for q in range(first, last):
        if not np.isnan(fixed[q]):
            values[q] = fixed[q]
            continue
        a, b = ptr[q], ptr[q + 1]
        falling_order(scores[a:b], order[: b - a])
        values[q] = ranked_value(kind, gain, order[: b - a], a, discount)


@njit(cache=True, nogil=True)
def stepped_values(
    kind: int,
    scores: Floats,
    column: Floats,
    step: float,
    order: NDArray[np.int32],
    gain: Floats,
    discount: Floats,
    ptr: Ints,
    queries: Ints,
    values: Floats,
    weights: Floats,
    keep: bool,
) -> tuple[float, int]:
    """How much the weighted sum of values rises when scores move by step·column, and how many lists re-rank.

    ``order`` holds each list as it stands. A list that the step leaves in order costs one look at it; another
    is sorted by insertion from where it stands. With ``keep`` the new orders and values are stored.
    """
    longest = 0
    for q in queries:
        longest = max(longest, ptr[q + 1] - ptr[q])
    moved, place = np.empty(longest), np.empty(longest, np.int64)
    rise, changed = 0.0, 0
    for q in queries:
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        row = order[a]
        last = scores[a + row] + step * column[a + row]
        moved[0], place[0] = last, row
        fine = True
        for i in range(1, n):
            before = row
            row = order[a + i]
            s = scores[a + row] + step * column[a + row]
            moved[i], place[i] = s, row
            fine &= last > s or (last == s and before < row)
            last = s
        if fine:
            continue
        changed += 1
        if n > COUNTING_LIMIT:
            by_row = np.empty(n)
            by_row[place[:n]] = moved[:n]
            falling_order(by_row, place[:n])
        else:
            for i in range(1, n):
                s, row = moved[i], place[i]
                j = i
                while j > 0 and (moved[j - 1] < s or (moved[j - 1] == s and place[j - 1] > row)):
                    moved[j], place[j] = moved[j - 1], place[j - 1]
                    j -= 1
                moved[j], place[j] = s, row
        value = ranked_value(kind, gain, place[:n], a, discount)
        rise += weights[q] * (value - values[q])
        if keep:
            values[q] = value
            for i in range(n):
                order[a + i] = place[i]
    return rise, changed
