"""Distances between rankings: Kendall, its extension to lists of any length, and Spearman."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def kendall_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Kendall's distance: the number of pairs that two orders of the same items rank differently, in n log n.

    d = #{i < j : i above j in one order and below it in the other}, 0 to n(n−1)/2.

    >>> kendall_distance("abcd", "badc")
    2
    """
    from topkit.fusion import kernels

    values = _positions(first, second)
    if len(first) != len(second) or (values < 0).any():
        raise ValueError("Kendall's distance needs two orders of the same items")
    return int(kernels.count_inversions(values))


def top_k_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Kendall's distance extended to lists of different items and lengths; smaller is closer.

    Each list is extended by the items that only the other list has, all at the place after its last. With z
    common items, r items only in the first and s only in the second list, and m = min(r, s), the distance is

        Σ V + Σ U + r·s − m(m−1)/2

    where V counts, for a common item, the items above it in the second list that are not above it in the
    first, and U, for an item only in the first list, the common items below it. For r = s the constant is
    r(r+1)/2, and the distance is the smallest number of swaps of neighbours that turn one list into the
    other; the last place is a neighbour of all items outside, and common items never leave the list. For
    lists of the same items it is Kendall's distance; for a list against an order of all items, the
    distance to its nearest completion. It is symmetric. (Klementiev, Roth and Small, LR4IR 2008, section 4.2,
    for r = s.)

    >>> top_k_distance("abc", "acd")   # b above c: 1, b and d change places: 1
    2
    """
    from topkit.fusion import kernels

    for items in (first, second):
        if len(set(items)) != len(items):
            raise ValueError("an item is listed twice")
    number = {item: i for i, item in enumerate(dict.fromkeys([*first, *second]))}
    rank = np.zeros(max(len(number), 1), np.int32)
    rank[[number[item] for item in second]] = np.arange(1, len(second) + 1)
    top = np.array([number[item] for item in first], np.int64)
    tree = np.empty(len(second) + 1, np.int64)
    return int(kernels.augmented_distance(top, rank, len(second), tree))


def spearman_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Sum of squared differences of ranks, Σ (σ(i) − π(i))².

    An item that only one list has is at rank k+1 of the other list of k items.

    >>> spearman_distance("abc", "cba"), spearman_distance("ab", "ac")
    (8, 2)
    """
    first_ranks, second_ranks = ({item: r for r, item in enumerate(x, 1)} for x in (first, second))
    if len(first_ranks) != len(first) or len(second_ranks) != len(second):
        raise ValueError("an item is listed twice")
    items = dict.fromkeys([*first, *second])
    return sum(
        (first_ranks.get(item, len(first) + 1) - second_ranks.get(item, len(second) + 1)) ** 2
        for item in items
    )


def _positions(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The position of each item of the first order in the second; −1 if it is absent."""
    place = {item: p for p, item in enumerate(second)}
    if len(place) != len(second) or len(set(first)) != len(first):
        raise ValueError("an item is listed twice")
    return np.array([place.get(item, -1) for item in first], np.int64)
