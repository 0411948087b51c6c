"""What a measure sees: ranked lists with labels, in blocks of queries of similar length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.data import Strings, Truth
from topkit.data.truth import GRADED
from topkit.metrics.conventions import Ties
from topkit.metrics.order import Scores, ranked_rows

_COUNTED_GRADES = 16
"""With at most so many grades an ideal list is counted, not sorted."""

_MANY_QUERIES = 128

Number = TypeVar("Number", np.float64, np.int32)

Floats = NDArray[np.float64]
Labels = NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Lists:
    """Scored documents with labels, query by query; a label below 0 means that nobody judged the document.

    ``missed`` holds the labels of judged documents that the system did not return (query q owns
    ``missed[missed_ptr[q]:missed_ptr[q+1]]``): they count for ideal lists and for recall.
    """

    scores: Scores
    labels: Labels
    ptr: NDArray[np.int64]
    doc_ids: Strings | None = None
    missed: Labels | None = None
    missed_ptr: NDArray[np.int64] | None = None
    clicks: Floats | None = None
    """How often each document was clicked."""
    looks: Floats | None = None
    """How often each document was examined."""
    pairs: NDArray[np.int64] | None = None
    """Preferences (pairs, 3): query, place of the better and of the worse document in it; −1 if missed."""
    truth: Truth = GRADED

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.ptr)

    @cached_property
    def largest_label(self) -> float:
        """The largest label of all queries, returned or missed; at least 0."""
        largest = float(self.labels.max(initial=0))
        return largest if self.missed is None else max(largest, float(self.missed.max(initial=0)))


def small_integers(labels: NDArray[np.generic]) -> Labels:
    """The labels as 8-bit integers where they are small whole numbers (which is faster), else as they are."""
    values: NDArray[np.float32] = np.asarray(labels, np.float32)
    with np.errstate(invalid="ignore"):
        small = values.astype(np.int8)
    return small if np.array_equal(small, values) else np.asarray(labels, np.float64)


@dataclass(frozen=True, eq=False)
class Block:
    """Some queries of similar length, each with its documents in the order of the system.

    Row q of ``labels`` holds the labels of query ``queries[q]`` in rank order, then −1 to the end of the row.
    """

    lists: Lists
    queries: NDArray[np.int64]
    lengths: NDArray[np.int64]
    rows: NDArray[np.int64]
    """Where each ranked document is in ``lists``; meaningless beyond the end of a list."""
    labels: Labels
    _relevant: dict[float, NDArray[np.bool_]] = field(default_factory=dict)
    _known: dict[float, NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def of(cls, lists: Lists, queries: NDArray[np.int64], ties: Ties) -> Block:
        """Rank the documents of these queries by their scores."""
        lengths = lists.lengths[queries]
        if not lengths.any():  # one empty place, so that no measure has to think of lists without places
            nowhere = np.zeros((len(queries), 1), np.int64)
            return cls(lists, queries, lengths, nowhere, np.full(nowhere.shape, -1, np.int8))
        rows = ranked_rows(lists.scores, lists.ptr[queries], lengths, ties, lists.doc_ids)
        labels = lists.labels.take(rows, mode="clip")
        edge = np.arange(int(lengths.min()), labels.shape[1])
        np.copyto(labels[:, labels.shape[1] - len(edge) :], -1, where=edge >= lengths[:, None])
        return cls(lists, queries, lengths, rows, labels)

    @property
    def width(self) -> int:
        """The length of the longest list, and at least 1."""
        return int(self.labels.shape[1])

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which places hold a document."""
        places: NDArray[np.bool_] = np.arange(self.width) < self.lengths[:, None]
        return places

    @cached_property
    def by_rank(self) -> Labels:
        """The labels with one row a rank instead of one a query: running sums then add whole rows."""
        return self.labels.T.copy()

    def ranked(self, column: Scores, beyond: float) -> Floats:
        """Another column of ``lists`` in rank order, with ``beyond`` after the end of each list."""
        values = np.full(self.rows.shape, beyond)
        values[self.inside] = column[self.rows[self.inside]]
        return values

    @cached_property
    def missed(self) -> Labels:
        """Labels of judged documents that were not returned, one row a query, −1 to the end of the row."""
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
            raise ValueError("preferences are needed")
        number = np.full(len(self.lists.ptr) - 1, -1)
        number[self.queries] = np.arange(len(self))
        mine = pairs[number[pairs[:, 0]] >= 0]
        query = number[mine[:, 0]]
        rank = np.full((len(self), self.width + 1), self.width)  # the last column is for place −1
        row, column = np.nonzero(self.inside)
        rank[row, self.rows[row, column] - self.lists.ptr[self.queries[row]]] = column
        return query, rank[query, mine[:, 1]], rank[query, mine[:, 2]]

    def relevant(self, least: float) -> NDArray[np.bool_]:
        """Which ranked documents have at least this label."""
        if least not in self._relevant:
            self._relevant[least] = self.labels >= least
        return self._relevant[least]

    def relevant_returned(self, least: float) -> NDArray[np.int64]:
        """Returned documents of each query with at least this label."""
        return _true_in_rows(self.relevant(least))

    def relevant_known(self, least: float) -> NDArray[np.int64]:
        """Documents of each query with at least this label, returned or missed."""
        if least not in self._known:
            known = self.relevant_returned(least)
            self._known[least] = known + _true_in_rows(self.missed >= least) if self.missed.size else known
        return self._known[least]

    def ideal_by_rank(self, width: int) -> Labels:
        """The largest labels of all judged documents, one row a rank; 0 after the last of a query."""
        if self.labels.dtype == np.int8 and self.missed.dtype == np.int8:
            highest = int(self.lists.largest_label)
            if highest <= _COUNTED_GRADES:  # the label at a place is how many grades reach so far
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


def _true_in_rows(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many are true in each row (np.count_nonzero is slower along an axis)."""
    bits = mask.view(np.uint8)
    short = mask.shape[1] < 256  # so a byte can hold the count
    count: NDArray[np.int64] = np.einsum("ij->i", bits) if short else bits.sum(axis=1, dtype=np.int32)
    return count.astype(np.int64)


def by_label(labels: Labels, largest: float, function: Callable[[NDArray[np.generic]], Floats]) -> Floats:
    """A function of each label; where labels are small whole numbers, it is taken from a table."""
    if labels.dtype != np.int8:
        return function(labels)
    table = function(np.concatenate([np.arange(int(largest) + 1), [-2, -1]]))  # −1 and −2 count from the end
    return table.take(labels.astype(np.intp))


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


def at_depths(sums: Floats, depths: list[int | None]) -> Floats:
    """Rows of running sums (ranks, queries) at these depths; None is the whole list."""
    last = len(sums) - 1
    return sums[[last if depth is None else min(depth - 1, last) for depth in depths]]


def deepest(depths: list[int | None], width: int) -> int:
    """How many ranks must be looked at for all depths."""
    return width if None in depths else min(width, max(depth for depth in depths if depth is not None))
