"""Numba kernels: pooling the documents of many runs, and distances between lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Bytes, Floats, Ints
from topkit.compute.jit import njit

Places = NDArray[np.int32]

# -- pooling ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def pool_query(blob: Bytes, offsets: Ints, rows: Ints, items: Places, first_rows: Ints) -> int:
    """Number the distinct documents among ``rows`` in order of first appearance, and count them.

    ``items[j]`` becomes the number of the document at ``rows[j]``, and ``first_rows[d]`` a row with document
    d. One open hash table; bytes are compared if hashes agree.
    """
    size = 16
    while size < 2 * len(rows):
        size *= 2
    table = np.full(size, -1, np.int32)
    hashes = np.empty(len(rows), np.uint64)
    mask = np.uint64(size - 1)
    count = 0
    for j in range(len(rows)):
        start, stop = offsets[rows[j]], offsets[rows[j] + 1]
        h = np.uint64(14695981039346656037)
        for i in range(start, stop):
            h = (h ^ np.uint64(blob[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = count
                hashes[count] = h
                first_rows[count] = rows[j]
                items[j] = count
                count += 1
                break
            if hashes[other] == h and _compare(blob, offsets, rows[j], first_rows[other]) == 0:
                items[j] = other
                break
            slot = (slot + np.uint64(1)) & mask
    return count


@njit(cache=True, nogil=True)
def _compare(blob: Bytes, offsets: Ints, a: int, b: int) -> int:
    """Negative, zero or positive if string a is less than, equal to or greater than string b, by bytes."""
    i, j = offsets[a], offsets[b]
    while i < offsets[a + 1] and j < offsets[b + 1]:
        if blob[i] != blob[j]:
            return np.int64(blob[i]) - np.int64(blob[j])  # type: ignore[return-value]
        i += 1
        j += 1
    return (offsets[a + 1] - i) - (offsets[b + 1] - j)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def settle_ties(order: Ints, scores: Floats, blob: Bytes, offsets: Ints, first_rows: Ints) -> None:
    """Sort runs of equal scores in ``order`` by document id, in place (bottom-up merge sort)."""
    start = 0
    spare = np.empty_like(order)
    while start < len(order):
        stop = start + 1
        while stop < len(order) and scores[order[stop]] == scores[order[start]]:
            stop += 1
        width = 1
        while width < stop - start:
            left = start
            while left + width < stop:
                middle, right = left + width, min(left + 2 * width, stop)
                i, j = left, middle
                for k in range(left, right):
                    take_left = i < middle
                    if take_left and j < right:
                        take_left = _compare(blob, offsets, first_rows[order[i]], first_rows[order[j]]) <= 0
                    if take_left:
                        spare[k] = order[i]
                        i += 1
                    else:
                        spare[k] = order[j]
                        j += 1
                order[left:right] = spare[left:right]
                left = right
            width *= 2
        start = stop


# -- distances ----------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def count_inversions(values: Ints) -> int:
    """Pairs i < j with values[i] > values[j], in n log n (merge sort); sorts ``values``."""
    n = len(values)
    spare = np.empty_like(values)
    inversions = 0
    width = 1
    while width < n:
        left = 0
        while left + width < n:
            middle, right = left + width, min(left + 2 * width, n)
            i, j = left, middle
            for k in range(left, right):
                if i < middle and (j >= right or values[i] <= values[j]):
                    spare[k] = values[i]
                    i += 1
                else:
                    spare[k] = values[j]
                    j += 1
                    inversions += middle - i
            values[left:right] = spare[left:right]
            left = right
        width *= 2
    return inversions


@njit(cache=True, nogil=True)
def augmented_distance(top: Ints, rank: Places, length: int, tree: Ints) -> int:
    """Distance between the list ``top`` of documents and a list given by ranks (0 = absent).

    For each document of ``top``: the documents above it in the other list that are not above it in ``top``.
    ``tree`` is scratch space for a Fenwick tree over the ranks, at least length + 1 long.
    """
    tree[: length + 1] = 0
    total = 0
    common = 0
    for p in range(len(top)):
        r = rank[top[p]]
        if r == 0:
            total += length - common
            continue
        above = 0
        i = r - 1
        while i > 0:
            above += tree[i]
            i -= i & -i
        total += r - 1 - above
        common += 1
        i = r
        while i <= length:
            tree[i] += 1
            i += i & -i
    m = min(len(top), length) - common
    return total - m * (m - 1) // 2
