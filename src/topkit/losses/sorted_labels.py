"""What losses need to know about the order of the labels: computed once per data set, so with NumPy alone.

A compiled kernel would save milliseconds per fit and cost seconds of compiling before the first one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints

Places = NDArray[np.int32]


class Ties(NamedTuple):
    """The documents of all queries, each query by descending label; ties keep their order."""

    rows: Ints
    """The row of each place."""
    start: Ints
    """The first place of the query of each place."""
    first: Ints
    """The first place of the tie of each place."""
    end: Ints
    """The place after the tie of each place."""


def sorted_ties(labels: Floats, ptr: Ints) -> Ties:
    """Sort the labels of each query, and find the documents with equal labels."""
    start = np.repeat(ptr[:-1], np.diff(ptr))
    rows = _falling_order(labels, ptr)
    ranked = labels[rows]
    last = np.ones(len(rows), np.bool_)
    last[:-1] = (ranked[1:] != ranked[:-1]) | (start[1:] != start[:-1])
    ends = np.flatnonzero(last) + 1
    sizes = np.diff(ends, prepend=0)
    return Ties(rows, start, np.repeat(ends - sizes, sizes), np.repeat(ends, sizes))


def _falling_order(labels: Floats, ptr: Ints) -> Ints:
    """Rows of each query by descending label; lists of one length are sorted as one rectangle."""
    keys: NDArray[np.float64] | NDArray[np.uint8] = -labels
    top = labels.max(initial=0.0)
    if top < 256 and labels.min(initial=0.0) >= 0 and (labels == np.floor(labels)).all():
        keys = (top - labels).astype(np.uint8)  # few grades sort in linear time
    rows = np.empty(len(labels), np.int64)
    lengths = np.diff(ptr)
    for length in np.unique(lengths[lengths > 0]).tolist():
        start = ptr[:-1][lengths == length, None]
        places = start + np.arange(length)
        rows[places] = start + np.argsort(keys[places], axis=1, kind="stable")
    return rows


def rank_labels(labels: Floats, ptr: Ints, k: int) -> tuple[Places, Places, Ints, Ints, Floats]:
    """``order, below, whole, shared, share`` of a :class:`topkit.losses.pairwise.PairSet` for the top k."""
    ties = sorted_ties(labels, ptr)
    whole, share = np.diff(ptr), np.ones(len(ptr) - 1)
    shared = whole.copy()
    cut = np.flatnonzero(k < whole)
    border = ptr[cut] + (k - 1) if len(cut) else cut
    whole[cut] = ties.first[border] - ptr[cut]
    shared[cut] = ties.end[border] - ptr[cut]
    share[cut] = (k - whole[cut]) / (shared[cut] - whole[cut]) if len(cut) else 1.0
    order, below = ties.rows - ties.start, ties.end - ties.start
    return order.astype(np.int32), below.astype(np.int32), whole, shared, share


def top_memberships(labels: Floats, ptr: Ints, k: int) -> Floats:
    """How far each document belongs to the top k of its query: 1, 0, or for ties at the border a share.

    The documents of a tie at the border share the remaining places equally.
    """
    order, _, whole, shared, share = rank_labels(labels, ptr, k)
    lengths = np.diff(ptr)
    start = np.repeat(ptr[:-1], lengths)
    place = np.arange(len(labels)) - start
    inside = np.where(place < np.repeat(shared, lengths), np.repeat(share, lengths), 0.0)
    inside[place < np.repeat(whole, lengths)] = 1.0
    membership = np.empty(len(labels))
    membership[order + start] = inside
    return membership


def chosen_rows(labels: Floats, ptr: Ints, k: int) -> tuple[Ints, Places, Places, Floats]:
    """``ptr, rows, group, weight`` of the :class:`topkit.losses.listwise.Choices` of a top-k likelihood.

    It chooses the documents from the first place to the k-th and its ties, but never those of the lowest
    label of the list, whose order is unknown.
    """
    ties, lengths = sorted_ties(labels, ptr), np.diff(ptr)
    some = np.flatnonzero(lengths > 0)
    count, above = np.zeros(len(lengths), np.int64), np.zeros(len(lengths), np.int64)
    start, border = ptr[some], ptr[some] + np.minimum(k, lengths[some]) - 1
    lowest = ties.first[ptr[some] + lengths[some] - 1]
    count[some] = np.minimum(ties.end[border], lowest) - start
    chosen = np.flatnonzero(count)
    above[chosen] = ties.first[ptr[chosen] + count[chosen] - 1] - ptr[chosen]
    place = np.arange(len(labels)) - ties.start
    picked = place < np.repeat(count, lengths)
    inside = place < np.repeat(above, lengths)
    share = np.ones(len(lengths))
    share[chosen] = np.minimum(1.0, (k - above[chosen]) / (count[chosen] - above[chosen]))
    weight = np.where(inside, 1.0, np.repeat(share, lengths))[picked]
    rows, group = (ties.rows - ties.start)[picked], (ties.first - ties.start)[picked]
    return np.concatenate([[0], np.cumsum(count)]), rows.astype(np.int32), group.astype(np.int32), weight
