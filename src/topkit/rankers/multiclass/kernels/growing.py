"""Numba kernels of AdaBoost.MH: the best threshold, trees and products of thresholds.

``signed`` is w·y: one row per document, one column per class; its sign is the label and its absolute value
the weight. The edge of a classifier h of ±1 is Σ signed·h. ``bins`` has one row per feature: the number of
thresholds that each document is above.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL
from topkit.rankers.multiclass.kernels.bandit import draw_arm

Bins = NDArray[np.uint8]

TINY = 1e-12
"""Improvements below this are rounding errors."""
MOST_BINS = 257
"""Bins are numbered by one byte, so a feature has at most 256 thresholds."""


@njit(**KERNEL)
def best_cut(
    row: Bins, size: int, signed: Floats, flip: Floats, rows: Ints, first: int, last: int, sums: Floats
) -> tuple[float, int]:
    """The largest Σ_ℓ |Σ_i signed·flip·φ| over the thresholds of a feature that split the rows; its place.

    (−1, −1) if no threshold splits them. ``sums`` is a buffer with one row per bin and one column per class,
    plus a column of counts.
    """
    K = signed.shape[1]
    for b in range(size + 1):
        for c in range(K + 1):
            sums[b, c] = 0.0
    for j in range(first, last):
        i = rows[j]
        b = row[i]
        f = flip[i]
        for c in range(K):
            sums[b, c] += f * signed[i, c]
        sums[b, K] += 1.0
    total = np.zeros(K + 1)
    above = np.zeros(K + 1)
    for b in range(size + 1):
        for c in range(K + 1):
            total[c] += sums[b, c]
    best, place = -1.0, -1
    for t in range(size - 1, -1, -1):
        for c in range(K + 1):
            above[c] += sums[t + 1, c]
        if above[K] == 0.0 or sums[t + 1, K] == 0.0:
            continue  # splits the rows like the threshold before
        if above[K] == total[K]:
            break
        edge = 0.0
        for c in range(K):
            edge += abs(2.0 * above[c] - total[c])
        if edge > best + TINY:  # equal edges differ by rounding, which depends on the order of rows
            best, place = edge, t
    return best, place


@register_jitable
def choose_cut(
    bins: Bins, sizes: Ints, signed: Floats, flip: Floats, rows: Ints, first: int, last: int, sums: Floats,
    reach: Floats, chances: Floats,
) -> tuple[float, int, int]:  # fmt: skip
    """Edge, feature and threshold of the best among the drawn features, or among all if nothing is drawn."""
    best, feature, cut = -1.0, -1, -1
    for j in range(len(chances) if len(chances) > 0 else len(bins)):
        f = draw_arm(reach, chances[j]) if len(chances) > 0 else j
        edge, place = best_cut(bins[f], sizes[f], signed, flip, rows, first, last, sums)
        if edge > best + TINY:
            best, feature, cut = edge, f, place
    return best, feature, cut


@register_jitable
def partition(row: Bins, cut: int, rows: Ints, first: int, last: int, spare: Ints) -> int:
    """Move the rows first:last below a threshold to the front, without changing their order; their end."""
    middle, kept = first, 0
    for j in range(first, last):
        i = rows[j]
        if row[i] > cut:
            spare[kept] = i
            kept += 1
        else:
            rows[middle] = i
            middle += 1
    for j in range(kept):
        rows[middle + j] = spare[j]
    return middle


@register_jitable
def class_sums(signed: Floats, rows: Ints, first: int, last: int, sums: Floats) -> None:
    """Σ signed over the rows first:last, for each class."""
    for c in range(signed.shape[1]):
        sums[c] = 0.0
    for j in range(first, last):
        for c in range(signed.shape[1]):
            sums[c] += signed[rows[j], c]


@register_jitable
def set_votes(
    low: Floats, high: Floats, low_votes: NDArray[np.int8], high_votes: NDArray[np.int8]
) -> tuple[float, float]:
    """Fill the votes of two new leaves from their class sums; returns the edge of each."""
    low_edge, high_edge = 0.0, 0.0
    for c in range(len(low)):
        vote = 1 if high[c] - low[c] >= 0 else -1
        high_votes[c], low_votes[c] = vote, -vote
        high_edge += vote * high[c]
        low_edge -= vote * low[c]
    return low_edge, high_edge


@register_jitable
def leaf_to_split(now: Floats, split_edge: Floats, split_cut: Ints, count: int) -> int:
    """The leaf whose edge a split raises most; −1 if no split raises one."""
    chosen, gain = -1, TINY
    for leaf in range(count):
        if split_cut[leaf] >= 0 and split_edge[leaf] - now[leaf] > gain + TINY:
            chosen, gain = leaf, split_edge[leaf] - now[leaf]
    return chosen


@njit(**KERNEL)
def grow_tree(
    bins: Bins, sizes: Ints, signed: Floats, leaves: int, reach: Floats, chances: Floats, rows: Ints,
    nodes: Ints, bounds: Ints, votes: NDArray[np.int8],
) -> tuple[float, int]:  # fmt: skip
    """Split the leaf whose edge improves most, ``leaves`` − 1 times or until none improves.

    Returns the edge and the number of leaves. ``nodes`` gets (feature, threshold, left, right) of each split,
    where a child of −1 − ℓ is leaf ℓ. ``rows`` is sorted by leaf, leaf ℓ has the rows ``bounds[ℓ]``, and
    ``votes`` gets ±1 per leaf and class. Each row of ``chances`` draws the features for one split; an empty
    row takes all.
    """
    n, K = signed.shape
    sums = np.empty((MOST_BINS, K + 1))
    ones = np.empty(n)  # filled below: Numba compiles each function of NumPy for each kind of arguments
    spare = np.empty(n, np.int64)
    low, high = np.empty(K), np.empty(K)
    now = np.empty(leaves)  # the edge of each leaf with its present votes
    split_edge = np.empty(leaves)
    split_feature = np.empty(leaves, np.int64)
    split_cut = np.empty(leaves, np.int64)
    parent = np.empty(leaves, np.int64)
    for leaf in range(leaves):
        parent[leaf] = -1
        now[leaf] = 0.0
    used = 0
    for i in range(n):
        rows[i] = i
        ones[i] = 1.0
    bounds[0, 0], bounds[0, 1] = 0, n
    # a literal 0 in place of bounds[0, 0] would be a type of its own, for which Numba compiles again
    split_edge[0], split_feature[0], split_cut[0] = choose_cut(
        bins, sizes, signed, ones, rows, bounds[0, 0], n, sums, reach, chances[0]
    )
    count = 1
    while count < leaves:
        chosen = leaf_to_split(now, split_edge, split_cut, count)
        if chosen < 0:
            break
        feature, cut = split_feature[chosen], split_cut[chosen]
        first, last = bounds[chosen, 0], bounds[chosen, 1]
        middle = partition(bins[feature], cut, rows, first, last, spare)
        node, other = count - 1, count
        nodes[node, 0], nodes[node, 1] = feature, cut
        nodes[node, 2], nodes[node, 3] = -1 - chosen, -1 - other
        up = parent[chosen]
        if up >= 0:  # the split takes the place of the leaf below its parent
            nodes[up, 2 if nodes[up, 2] == -1 - chosen else 3] = node
        parent[chosen], parent[other] = node, node
        bounds[chosen, 0], bounds[chosen, 1] = first, middle
        bounds[other, 0], bounds[other, 1] = middle, last
        class_sums(signed, rows, first, middle, low)
        class_sums(signed, rows, middle, last, high)
        now[chosen], now[other] = set_votes(low, high, votes[chosen], votes[other])
        count += 1
        if count < leaves:
            for leaf in (chosen, other):
                used += 1
                start, stop = bounds[leaf, 0], bounds[leaf, 1]
                split_edge[leaf], split_feature[leaf], split_cut[leaf] = choose_cut(
                    bins, sizes, signed, ones, rows, start, stop, sums, reach, chances[used]
                )
    edge = 0.0
    for leaf in range(count):
        edge += now[leaf]
    return edge, count


@njit(**KERNEL)
def grow_product(
    bins: Bins,
    sizes: Ints,
    signed: Floats,
    terms: int,
    reach: Floats,
    chances: Floats,
    cycles: int,
    nodes: Ints,
    parity: Floats,
) -> tuple[float, int]:
    """A product of thresholds, optimised one term at a time; returns the edge and the number of terms used.

    The votes of the terms multiply to one vector, so a product is a parity of thresholds (``parity``, ±1 per
    row) times a vector: term j is the best threshold for labels multiplied by the parity of the other terms.
    A term that does not raise the edge stays unchanged; it ends when a whole cycle changes nothing.
    """
    n, K = signed.shape
    sums = np.empty((MOST_BINS, K + 1))
    rows, without = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        rows[i] = i
        parity[i] = 1.0
    for term in range(terms):
        nodes[term, 0] = -1
    edge, idle = 0.0, 0
    for step in range(cycles * terms):
        term = step % terms
        feature, cut = nodes[term, 0], nodes[term, 1]
        for i in range(n):
            without[i] = parity[i]
            if feature >= 0 and bins[feature, i] <= cut:
                without[i] = -parity[i]
        new_edge, new_feature, new_cut = choose_cut(
            bins, sizes, signed, without, rows, rows[0], n, sums, reach, chances[step]
        )
        if new_cut >= 0 and new_edge > edge + TINY:
            edge, idle = new_edge, 0
            nodes[term, 0], nodes[term, 1] = new_feature, new_cut
            for i in range(n):
                parity[i] = without[i] if bins[new_feature, i] > new_cut else -without[i]
        else:
            idle += 1
        if idle >= terms - 1:
            break  # no term has changed since each of the others was chosen
    count = 0
    for term in range(terms):
        if nodes[term, 0] >= 0:
            nodes[count, 0], nodes[count, 1] = nodes[term, 0], nodes[term, 1]
            count += 1
    return edge, count
