"""A loss over weighted lists of documents, as an objective of the scores of all documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topkit.clicks.pairs import totals
from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.losses import Loss, Objective
from topkit.losses.preferences import concatenated_ranges


@dataclass(frozen=True)
class ListObjective:
    """Σ_lists weight·loss(scores of the list, labels of the list); a document may be in many lists.

    Lists are grouped by query: those of query q are ``list_ptr[q]:list_ptr[q+1]``. Features are not copied:
    the scores of the documents are gathered for the lists, and their gradients are added up.
    """

    lists: Objective
    rows: Ints
    """The document of each row of the lists."""
    list_ptr: Ints
    ptr: Ints
    """The first document of each query."""

    def __len__(self) -> int:
        """Number of documents."""
        return int(self.ptr[-1])

    def __call__(self, scores: Floats) -> tuple[float, Floats]:
        """Value and gradient at the scores of all documents."""
        value, gradient = self.lists(np.asarray(scores)[self.rows])
        return value, totals(self.rows, gradient, len(self))

    def with_curvature(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and curvature; documents in no list have a curvature of 0."""
        value, gradient, curvature = self.lists.with_curvature(np.asarray(scores)[self.rows])
        size = len(self)
        return value, totals(self.rows, gradient, size), totals(self.rows, curvature, size)

    def select(self, queries: Ints) -> ListObjective:
        """The lists of some of the queries, with their documents numbered anew."""
        chosen, list_ptr = concatenated_ranges(self.list_ptr, queries)
        rows, _ = concatenated_ranges(self.lists.ptr, chosen)
        _, ptr = concatenated_ranges(self.ptr, queries)
        lengths = np.diff(self.lists.ptr)[chosen]
        of_query = np.repeat(np.arange(len(queries)), np.diff(list_ptr))
        shift = np.repeat((ptr[:-1] - self.ptr[queries])[of_query], lengths)
        return ListObjective(self.lists.select(chosen), self.rows[rows] + shift, list_ptr, ptr)


def clicked_lists(loss: Loss, ptr: Ints, weights: Floats, total: float) -> ListObjective:
    """One list per document with a weight: all documents of its query, of which only it has the label 1.

    The weights are scaled to the sum ``total``, so that losses are per query.
    """
    clicked = np.flatnonzero(weights > 0)
    if len(clicked) == 0:
        raise InputError("no training document has a positive weight", "use a longer log")
    query = np.searchsorted(ptr, clicked, side="right") - 1
    rows, list_starts = concatenated_ranges(ptr, query)
    labels = np.zeros(len(rows))
    labels[list_starts[:-1] + clicked - ptr[query]] = 1.0
    list_ptr = np.searchsorted(query, np.arange(len(ptr))).astype(np.int64)
    scaled = weights[clicked] * (total / weights[clicked].sum())
    return ListObjective(loss.on(labels, list_starts, scaled), rows, list_ptr, np.asarray(ptr, np.int64))


def pair_lists(
    loss: Loss, ptr: Ints, better: Ints, worse: Ints, weights: Floats, total: float
) -> ListObjective:
    """One list of two documents per pair, the better one with the label 1."""
    order = np.argsort(better, kind="stable")
    better, worse, weights = better[order], worse[order], weights[order]
    rows = np.stack([better, worse], axis=1).ravel()
    labels = np.tile([1.0, 0.0], len(better))
    query = np.searchsorted(ptr, better, side="right") - 1
    list_ptr = np.searchsorted(query, np.arange(len(ptr))).astype(np.int64)
    scaled = weights * (total / weights.sum())
    bound = loss.on(labels, np.arange(0, len(rows) + 1, 2), scaled)
    return ListObjective(bound, rows, list_ptr, np.asarray(ptr, np.int64))
