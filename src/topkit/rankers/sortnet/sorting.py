"""Merge sort by any comparison, all queries and merges at once, so that comparisons come in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints

Compare = Callable[[Ints, Ints], Floats]
"""(rows, rows) → above 0 where the first of a pair is preferred, below 0 where the second is, 0 for a tie."""


def merge_sort(compare: Compare, ptr: Ints, start: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of each query, best first, and the compared pairs (winners, losers).

    Bottom-up: in each step every merge of every query makes one comparison, and all of them go to ``compare``
    together. O(n log n) comparisons per query for any comparison. If the comparison is not transitive, the
    order depends on ``start``; tied documents keep their order in ``start``.

    >>> values = np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    >>> by_value = lambda a, b: values[a] - values[b]
    >>> order, winners, losers = merge_sort(by_value, np.array([0, 3, 5]), np.arange(5))
    >>> order.tolist(), len(winners)
    ([1, 2, 0, 3, 4], 4)
    """
    rows = np.array(start, np.int64)
    winners: list[Ints] = []
    losers: list[Ints] = []
    longest, width = int(np.diff(ptr).max(initial=0)), 1
    while width < longest:
        left, middle, right = _runs(ptr, width)
        merged = rows.copy()
        i, j, place = left.copy(), middle.copy(), left.copy()
        live = np.arange(len(left))
        while len(live):
            a, b = rows[i[live]], rows[j[live]]
            second = compare(b, a) > 0  # a tie keeps the first run first
            taken, other = np.where(second, b, a), np.where(second, a, b)
            winners.append(taken)
            losers.append(other)
            merged[place[live]] = taken
            place[live] += 1
            j[live] += second
            i[live] += ~second
            live = live[(i[live] < middle[live]) & (j[live] < right[live])]
        # One run of each merge is empty; copy the rest of the other run.
        rest_start = np.where(i < middle, i, j)
        rest_length = np.where(i < middle, middle - i, right - j)
        offset = _ranges(rest_length)
        merged[np.repeat(place, rest_length) + offset] = rows[np.repeat(rest_start, rest_length) + offset]
        rows, width = merged, 2 * width
    empty = [np.zeros(0, np.int64)]
    return rows, np.concatenate(winners or empty), np.concatenate(losers or empty)


def _runs(ptr: Ints, width: int) -> tuple[Ints, Ints, Ints]:
    """Start, middle and end of each pair of adjacent sorted runs of this width, in all queries."""
    count = np.maximum(np.diff(ptr) - width + 2 * width - 1, 0) // (2 * width)
    left = np.repeat(ptr[:-1], count) + _ranges(count) * 2 * width
    return left, left + width, np.minimum(left + 2 * width, np.repeat(ptr[1:], count))


def _ranges(lengths: Ints) -> Ints:
    """0, 1, … length − 1 for each length, concatenated."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    offsets: Ints = np.arange(total) - np.repeat(ends - lengths, lengths)
    return offsets


def canonical_order(X: Floats, ptr: Ints, y: NDArray[Any] | None = None) -> Ints:
    """Rows of each query by falling features (then labels): independent of row order."""
    query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    last = () if y is None else (y,)
    return np.lexsort((*last, *(-X.T[::-1]), query)).astype(np.int64)


def cyclic_share(compare: Compare, ptr: Ints, triples: int, seed: int) -> float:
    """The share of cycles among random triples of rows of one query; queries are drawn by their size."""
    lengths = np.diff(ptr)
    long = np.flatnonzero(lengths >= 3)
    if not len(long):
        return 0.0
    rng = np.random.default_rng(seed)
    query = rng.choice(long, triples, p=lengths[long] / lengths[long].sum())
    n = lengths[query]
    x = rng.integers(0, n)
    y = (x + rng.integers(1, n)) % n
    z = rng.integers(0, n - 2)
    low, high = np.minimum(x, y), np.maximum(x, y)
    z += z >= low
    z += z >= high
    x, y, z = x + ptr[query], y + ptr[query], z + ptr[query]
    forward = (compare(x, y) > 0) & (compare(y, z) > 0) & (compare(z, x) > 0)
    backward = (compare(y, x) > 0) & (compare(z, y) > 0) & (compare(x, z) > 0)
    return float(np.mean(forward | backward))
