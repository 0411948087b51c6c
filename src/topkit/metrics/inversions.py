"""Counting pairs in the wrong order in O(n log n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def larger_before(values: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each element, how many earlier elements of its list are larger; lists follow each other.

    Values are whole numbers from 0. The bits are looked at from the highest: among elements that agree so
    far, one with bit 0 is smaller than every earlier one with bit 1, and then the two kinds part, keeping
    their order.

    >>> larger_before(np.array([2, 0, 1, 5, 3]), np.array([3, 2]))
    array([0, 1, 1, 0, 1])
    """
    counts = np.zeros(len(values), np.int64)
    where = np.arange(len(values))
    now = values.copy()
    sizes = lengths[lengths > 0]
    for bit in range(int(values.max(initial=0)).bit_length() - 1, -1, -1):
        starts = np.cumsum(sizes) - sizes
        ones = (now >> bit) & 1
        running = np.concatenate([[0], np.cumsum(ones)])
        ones_before = running[:-1] - np.repeat(running[starts], sizes)
        counts[where] += np.where(ones == 0, ones_before, 0)
        ones_of_group = running[starts + sizes] - running[starts]
        zeros_of_group = sizes - ones_of_group
        first = np.repeat(starts, sizes)
        zeros_before = np.arange(len(now)) - first - ones_before
        target = first + np.where(ones == 0, zeros_before, np.repeat(zeros_of_group, sizes) + ones_before)
        moved, moved_where = np.empty_like(now), np.empty_like(where)
        moved[target], moved_where[target] = now, where
        now, where = moved, moved_where
        parts = np.stack([zeros_of_group, ones_of_group], axis=1).ravel()
        sizes = parts[parts > 0]
    return counts
