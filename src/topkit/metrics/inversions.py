"""Counts of pairs in the wrong order, in O(n log n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def larger_before(values: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each element, the number of earlier elements of its list that are larger; lists are concatenated.

    Values are non-negative integers. The bits are processed from the highest: among elements that agree so
    far, an element with bit 0 is smaller than every earlier one with bit 1. Then the two groups are
    separated, keeping their order.

    >>> larger_before(np.array([2, 0, 1, 5, 3]), np.array([3, 2]))
    array([0, 1, 1, 0, 1])
    """
    counts = np.zeros(len(values), np.int64)
    where = np.arange(len(values))
    current = values.copy()
    sizes = lengths[lengths > 0]
    for bit in range(int(values.max(initial=0)).bit_length() - 1, -1, -1):
        starts = np.cumsum(sizes) - sizes
        ones = (current >> bit) & 1
        running = np.concatenate([[0], np.cumsum(ones)])
        ones_before = running[:-1] - np.repeat(running[starts], sizes)
        counts[where] += np.where(ones == 0, ones_before, 0)
        ones_of_group = running[starts + sizes] - running[starts]
        zeros_of_group = sizes - ones_of_group
        first = np.repeat(starts, sizes)
        zeros_before = np.arange(len(current)) - first - ones_before
        target = first + np.where(ones == 0, zeros_before, np.repeat(zeros_of_group, sizes) + ones_before)
        moved, moved_where = np.empty_like(current), np.empty_like(where)
        moved[target], moved_where[target] = current, where
        current, where = moved, moved_where
        parts = np.stack([zeros_of_group, ones_of_group], axis=1).ravel()
        sizes = parts[parts > 0]
    return counts
