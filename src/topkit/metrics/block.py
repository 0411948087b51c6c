"""The input of a measure: ranked lists with labels, in blocks of queries of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Strings, Truth
from topkit.data.truth import GRADED
from topkit.metrics.conventions import Ties
from topkit.metrics.order import ScoredRows, Scores, query_blocks, ranked_labels, ranked_places

BLOCK_DOCUMENTS = 600_000
"""Documents measured at a time: large blocks make the overhead of NumPy calls small."""

_SLAB_DOCUMENTS = 1 << 16
"""Numbers summed at a time, which fit the cache of a core."""

_COUNTED_GRADES = 16
"""With at most this many grades an ideal list is counted, not sorted."""

_MANY_QUERIES = 128
"""From this many queries on, a loop over ranks is faster than ``accumulate``."""

Number = TypeVar("Number", np.float64, np.int32)

Labels = NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Lists:
    """Scored documents with labels, query by query; a label below 0 means that the document is unjudged.

    ``missed`` holds the labels of judged documents that the system did not return (those of query q are
    ``missed[missed_ptr[q]:missed_ptr[q+1]]``): they count for ideal lists and for recall.
    """

    scores: Scores
    labels: Labels
    ptr: NDArray[np.int64]
    doc_ids: Strings | None = None
    missed: Labels | None = None
    missed_ptr: NDArray[np.int64] | None = None
    clicks: Floats | None = None
    """Clicks of each document."""
    looks: Floats | None = None
    """Examinations of each document."""
    pairs: NDArray[np.int64] | None = None
    """Preferences (pairs, 3): query, place of the better and of the worse document in it; −1 if missed."""
    truth: Truth = GRADED

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Documents of each query."""
        return np.diff(self.ptr)

    @cached_property
    def largest_label(self) -> float:
        """The largest label of all queries, returned or missed; at least 0."""
        largest = float(self.labels.max(initial=0))
        return largest if self.missed is None else max(largest, float(self.missed.max(initial=0)))


def small_integers(labels: NDArray[np.generic]) -> Labels:
    """The labels as 8-bit integers if they are small integers (which is faster), else as float64."""
    values: NDArray[np.float32] = np.asarray(labels, np.float32)
    with np.errstate(invalid="ignore"):
        small = values.astype(np.int8)
    return small if np.array_equal(small, values) else np.asarray(labels, np.float64)


@dataclass(frozen=True, eq=False)
class Block:
    """Queries of similar length, each with its documents in the order of the system.

    ``by_rank`` has one row per rank: the labels of the first document of each query, of the second, and so
    on, with −1 after the end of a list. Running sums over ranks then add whole rows, which is fast.
    """

    lists: Lists
    queries: NDArray[np.int64]
    """Their numbers in ``lists``, by ascending length."""
    lengths: NDArray[np.int64]
    ties: Ties
    by_rank: Labels
    _relevant: dict[float, NDArray[np.bool_]] = field(default_factory=dict)
    _known: dict[float, NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def of(cls, lists: Lists, queries: NDArray[np.int64], ties: Ties) -> Block:
        """Rank the documents of these queries by their scores."""
        lengths = lists.lengths[queries]
        # at least one rank, so that no measure needs a special case for empty lists
        by_rank = np.full((max(1, int(lengths[-1])), len(queries)), -1, lists.labels.dtype)
        for part in query_blocks(lengths)[1]:
            n = lengths[part]
            longest = int(n[-1])
            if longest > 0:
                by_rank[:longest, part] = _labels_in_order(lists, queries[part], n, ties).T
        return cls(lists, queries, lengths, ties, by_rank)

    @cached_property
    def labels(self) -> Labels:
        """The labels with one row per query."""
        return self.by_rank.T.copy()

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Rows of the ranked documents in ``lists``, one row per query; undefined after the end of a list."""
        if not self.lengths.any():
            return np.zeros((len(self), 1), np.int64)
        starts = self.lists.ptr[self.queries]
        rows = ScoredRows(self.lists.scores, starts, self.lengths, self.ties, self.lists.doc_ids)
        return ranked_places(rows) + starts[:, None]

    @property
    def width(self) -> int:
        """The length of the longest list, and at least 1."""
        return len(self.by_rank)

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which places have a document."""
        places: NDArray[np.bool_] = np.arange(self.width) < self.lengths[:, None]
        return places

    def ranked(self, column: Scores, beyond: float) -> Floats:
        """Another column of ``lists`` in rank order, with ``beyond`` after the end of each list."""
        values = np.full(self.rows.shape, beyond)
        values[self.inside] = column[self.rows[self.inside]]
        return values

    @cached_property
    def missed(self) -> Labels:
        """Labels of judged documents that were not returned, one row per query, padded with −1."""
        lists = self.lists
        if lists.missed is None or lists.missed_ptr is None:
            return np.empty((len(self), 0), np.int8)
        starts = lists.missed_ptr[self.queries]
        counts = lists.missed_ptr[self.queries + 1] - starts
        places = np.arange(int(counts.max(initial=0)))
        outside = places >= counts[:, None]
        rows = starts[:, None] + places
        rows[outside] = 0
        labels = lists.missed.take(rows)
        labels[outside] = -1
        return labels

    @cached_property
    def preferences(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Query (in this block), rank − 1 of the better and of the worse document of each preference.

        A document that was not returned has the rank after the longest list.
        """
        pairs = self.lists.pairs
        if pairs is None:
            raise ValueError("the lists have no preferences")
        number = np.full(len(self.lists.ptr) - 1, -1)
        number[self.queries] = np.arange(len(self))
        chosen = pairs[number[pairs[:, 0]] >= 0]
        query = number[chosen[:, 0]]
        rank = np.full((len(self), self.width + 1), self.width)  # the last column is for place −1
        row, column = np.nonzero(self.inside)
        rank[row, self.rows[row, column] - self.lists.ptr[self.queries[row]]] = column
        return query, rank[query, chosen[:, 1]], rank[query, chosen[:, 2]]

    def relevant(self, least: float) -> NDArray[np.bool_]:
        """Which ranked documents have at least this label, one row per rank."""
        if least not in self._relevant:
            self._relevant[least] = self.by_rank >= least
        return self._relevant[least]

    def relevant_returned(self, least: float) -> NDArray[np.int64]:
        """Returned documents of each query with at least this label."""
        bits = self.relevant(least).view(np.uint8)
        short = self.width < 256  # the count fits a byte, which is faster
        counts: NDArray[np.int64] = np.einsum("rq->q", bits) if short else bits.sum(axis=0, dtype=np.int64)
        return counts.astype(np.int64)

    def relevant_known(self, least: float) -> NDArray[np.int64]:
        """Documents of each query with at least this label, returned or missed."""
        if least not in self._known:
            known = self.relevant_returned(least)
            if self.missed.size:
                known += np.count_nonzero(self.missed >= least, axis=1)
            self._known[least] = known
        return self._known[least]

    def ideal_by_rank(self, width: int) -> Labels:
        """Labels of all judged documents in ideal order, one row per rank; 0 after the last of a query."""
        if self.by_rank.dtype == np.int8 and self.missed.dtype == np.int8:
            highest = int(self.lists.largest_label)
            if highest <= _COUNTED_GRADES:  # the label at a rank is the number of grades that reach it
                places = np.arange(width)[:, None]
                ideal = np.zeros((width, len(self)), np.int8)
                for grade in range(1, highest + 1):
                    ideal += places < self.relevant_known(grade)
                return ideal
        known = np.concatenate([self.labels, self.missed], axis=1)
        falling = -np.sort(-known, axis=1)[:, :width].T
        ideal_or_zero: Labels = np.zeros((width, len(self)), falling.dtype)
        np.maximum(falling, 0, out=ideal_or_zero[: len(falling)])
        return ideal_or_zero


def _labels_in_order(
    lists: Lists, queries: NDArray[np.int64], lengths: NDArray[np.int64], ties: Ties
) -> Labels:
    """Labels by descending score, one row per query, with −1 after the end of a list."""
    starts = lists.ptr[queries]
    rows = ScoredRows(lists.scores, starts, lengths, ties, lists.doc_ids)
    if lists.labels.dtype == np.int8:
        small: NDArray[np.int8] = lists.labels.view(np.int8)
        return ranked_labels(small, rows)
    labels: Labels = lists.labels.take(ranked_places(rows) + starts[:, None], mode="clip")
    labels[np.arange(labels.shape[1]) >= lengths[:, None]] = -1
    return labels


LabelFunction = Callable[[Labels], Floats]


def tabulated(function: LabelFunction, labels: Labels, largest: float) -> LabelFunction:
    """The function itself or, if ``labels`` are small integers, a look-up of it in a table."""
    if labels.dtype != np.int8 or largest > np.iinfo(np.int8).max:  # missed documents may have huge labels
        return function
    grades = np.concatenate([np.arange(int(largest) + 1.0), [-2.0, -1.0]])  # −1 and −2 count from the end
    table = function(grades)
    return lambda grade: table.take(grade.astype(np.intp), mode="wrap")


def running(operation: np.ufunc, rows: NDArray[Number]) -> NDArray[Number]:
    """Combine each row with all before it, in place: running sums or products over ranks.

    Rows of many queries are combined one by one, which is several times as fast as ``operation.accumulate``.
    """
    if rows.shape[1] < _MANY_QUERIES:
        operation.accumulate(rows, axis=0, out=rows)
    else:
        for above, row in pairwise(rows):
            operation(above, row, out=row)
    return rows


def slabs(shape: tuple[int, ...]) -> Iterator[slice]:
    """Slices of ranks of an array (ranks, queries) that fit the cache of a core."""
    step = max(1, _SLAB_DOCUMENTS // shape[1])
    for first in range(0, shape[0], step):
        yield slice(first, min(first + step, shape[0]))


def sums_to_depths(parts: Iterable[NDArray[Number]], weights: Floats, depths: list[int | None]) -> Floats:
    """Weighted sums over ranks to each depth, (depths, queries), of numbers given in slabs of ranks."""
    cuts = {depth for depth in depths if depth is not None and depth < len(weights)}
    at_cut: dict[int, Floats] = {}
    total: Floats = np.zeros(1)
    done = 0
    for rows in parts:
        weight = weights[done : done + len(rows)]
        if cuts:
            sums = rows * weight[:, None]
            sums[0] += total
            running(np.add, sums)
            at_cut |= {cut: sums[cut - done - 1] for cut in cuts if done < cut <= done + len(rows)}
            total = sums[-1]
        else:
            total = total + np.einsum("rq,r->q", rows, weight)
        done += len(rows)
    return np.stack([total if depth is None else at_cut.get(depth, total) for depth in depths])


def at_depths(sums: Floats, depths: list[int | None]) -> Floats:
    """Rows of running sums (ranks, queries) at these depths; None is the whole list."""
    last = len(sums) - 1
    return sums[[last if depth is None else min(depth - 1, last) for depth in depths]]


def deepest(depths: list[int | None], width: int) -> int:
    """Number of ranks that the depths need."""
    return width if None in depths else min(width, max(depth for depth in depths if depth is not None))
