"""What a measure sees: ranked lists with labels, in blocks of queries of similar length."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topkit.data import Strings, Truth
from topkit.data.truth import GRADED
from topkit.metrics.conventions import Ties
from topkit.metrics.order import ranked_rows

_COUNTED_GRADES = 16
"""With at most so many grades an ideal list is counted, not sorted."""

Floats = NDArray[np.float64]
Labels = NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Lists:
    """Scored documents with labels, query by query; a label below 0 means that nobody judged the document.

    ``missed`` holds the labels of judged documents that the system did not return (query q owns
    ``missed[missed_ptr[q]:missed_ptr[q+1]]``): they count for ideal lists and for recall.
    """

    scores: Floats
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

    @classmethod
    def of(cls, lists: Lists, queries: NDArray[np.int64], ties: Ties) -> Block:
        """Rank the documents of these queries by their scores."""
        lengths = lists.lengths[queries]
        rows = ranked_rows(lists.scores, lists.ptr[queries], lengths, ties, lists.doc_ids)
        labels = lists.labels.take(rows, mode="clip")
        shortest = int(lengths.min(initial=0))
        labels[:, shortest:][np.arange(shortest, labels.shape[1]) >= lengths[:, None]] = -1
        return cls(lists, queries, lengths, rows, labels)

    @property
    def width(self) -> int:
        """The length of the longest list."""
        return int(self.labels.shape[1])

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which places hold a document."""
        places: NDArray[np.bool_] = np.arange(self.width) < self.lengths[:, None]
        return places

    def ranked(self, column: NDArray[np.float64], beyond: float) -> Floats:
        """Another column of ``lists`` in rank order, with ``beyond`` after the end of each list."""
        values = column.take(self.rows, mode="clip")
        values[~self.inside] = beyond
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
        count: NDArray[np.int64] = np.count_nonzero(self.relevant(least), axis=1)
        return count

    def relevant_known(self, least: float) -> NDArray[np.int64]:
        """Documents of each query with at least this label, returned or missed."""
        missed: NDArray[np.int64] = np.count_nonzero(self.missed >= least, axis=1)
        return self.relevant_returned(least) + missed

    def ideal_labels(self, width: int) -> Labels:
        """The ``width`` largest labels of all judged documents of each query, falling; after the last, 0."""
        if self.labels.dtype == np.int8 and self.missed.dtype == np.int8:
            highest = int(self.lists.largest_label)
            if highest <= _COUNTED_GRADES:  # the label at a place is how many grades reach so far
                places = np.arange(width)
                ideal = np.zeros((len(self), width), np.int8)
                for grade in range(1, highest + 1):
                    ideal += places < self.relevant_known(grade)[:, None]
                return ideal
        known = np.concatenate([self.labels, self.missed], axis=1)
        falling = -np.sort(-known, axis=1)[:, :width]
        ideal_or_zero: Labels = np.zeros((len(self), width), falling.dtype)
        np.maximum(falling, 0, out=ideal_or_zero[:, : falling.shape[1]])
        return ideal_or_zero


def at_depths(running: NDArray[np.generic], depths: list[int | None]) -> Floats:
    """Columns of running sums (queries, width) at these depths, one row a depth; None is the whole list."""
    width = running.shape[1]
    if width == 0:
        return np.zeros((len(depths), len(running)))
    columns = [width - 1 if depth is None else min(depth, width) - 1 for depth in depths]
    return running[:, columns].T.astype(np.float64)


def deepest(depths: list[int | None], width: int) -> int:
    """How many ranks must be looked at for all depths."""
    return width if None in depths else min(width, max(depth for depth in depths if depth is not None))
