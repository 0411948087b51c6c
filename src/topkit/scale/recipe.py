"""How raw documents become the pieces that a method trains on: prepared, ordered, whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topkit.data import Dataset, Truth
from topkit.data.streaming import queries_between
from topkit.rankers import Learner
from topkit.rankers.orders import has_different_labels
from topkit.rankers.pieces import InPieces
from topkit.rankers.preparation import Preparation
from topkit.scorers import Job

PIECE_BYTES = 2 << 20
"""Bytes of features per piece: it fits into the processor cache, and temporary arrays stay small."""


@dataclass(frozen=True)
class Recipe:
    """How the rows of a file become pieces; small enough to send to any worker."""

    learner: Learner
    """The ranker, not fitted yet."""
    method: InPieces
    preparation: Preparation
    truth: str
    """The truth of the whole file, which a part of it does not show."""

    def pieces(self, data: Dataset) -> Iterator[Dataset]:
        """The prepared data in pieces of whole queries, with the labels and the rows that training uses."""
        for part in split_queries(data, PIECE_BYTES // (4 * max(data.n_features, 1))):
            labelled = self._informative(part.with_labels(part.y, Truth.parse(self.truth)))
            if labelled is not None:
                prepared = self.preparation(self.learner.named(labelled))
                yield self._filled(self.method.arranged(self.job(prepared)).train)

    def _informative(self, data: Dataset) -> Dataset | None:
        """The queries that an order can be drawn for; None if there are none."""
        if not self.method.draws_order or data.truth.kind != "graded":
            return data
        differ = has_different_labels(data)
        return data.select(differ) if differ.any() else None

    def _filled(self, data: Dataset) -> Dataset:
        """The data with 0 for missing values, unless the method uses them."""
        if self.method.keeps_missing or not np.isnan(data.X).any():
            return data
        return data.with_features(np.nan_to_num(data.X, nan=0.0))

    def job(self, data: Dataset) -> Job:
        """The job of a piece."""
        common = self.learner.common
        return Job(
            data,
            None,
            self.learner.measure(),
            common.seed,
            metric=common.metric,
            convention=common.convention,
        )

    def bind(self, piece: Dataset) -> Any:
        """The state of a piece."""
        return self.method.piece(self.job(piece))


def split_queries(data: Dataset, rows: int) -> Iterator[Dataset]:
    """Data sets of about ``rows`` documents and at least one query."""
    first = 0
    while first < data.n_queries:
        last = int(np.searchsorted(data.ptr, data.ptr[first] + rows, side="right")) - 1
        last = max(last, first + 1)
        yield data if (first, last) == (0, data.n_queries) else queries_between(data, first, last)
        first = last


def stored(piece: Dataset, X: Any, y: Any, ptr: Any) -> Dataset:
    """The data set of stored arrays: like ``piece``, which has the same features and truth."""
    names = tuple(str(q) for q in range(len(ptr) - 1))
    return replace(piece, X=X, y=y, ptr=ptr, qids=names, doc_ids=None, notes=None)
