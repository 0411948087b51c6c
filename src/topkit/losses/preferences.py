"""Preference pairs as truth: row indices and weights, so that pairwise losses need no labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data import Dataset, InputError, Judgments


@dataclass(frozen=True)
class Preferences:
    """Pairs "better above worse", query by query: the pairs of query q are places ``ptr[q]:ptr[q+1]``.

    ``better`` and ``worse`` count documents from the start of their query, so a selection of queries is a
    selection of pairs.

    >>> ds = Dataset.build([[1.0], [0.5], [0.2]], [0, 0, 0], ["q1", "q1", "q1"])
    >>> Preferences.of_rows(ds.ptr, better=[2, 0], worse=[0, 1], weight=[1.0, 2.0]).better.tolist()
    [2, 0]
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]
    ptr: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.better)

    @classmethod
    def of_rows(
        cls, ptr: ArrayLike, better: ArrayLike, worse: ArrayLike, weight: ArrayLike | None = None
    ) -> Preferences:
        """Pairs given as rows of a data set whose queries start at ``ptr``; weights are 1 unless given."""
        bounds = np.asarray(ptr, np.int64)
        high, low = np.asarray(better, np.int64), np.asarray(worse, np.int64)
        heavy = np.ones(len(high)) if weight is None else np.asarray(weight, np.float64)
        if not (high.shape == low.shape == heavy.shape):
            raise ValueError("better, worse and weight must have one entry a pair")
        if len(high) and (min(high.min(), low.min()) < 0 or max(high.max(), low.max()) >= bounds[-1]):
            raise InputError(f"a pair names a row outside 0…{bounds[-1] - 1}")
        if not (np.isfinite(heavy).all() and (heavy >= 0).all()):
            raise InputError("pair weights must be finite and not negative")
        query = np.searchsorted(bounds, high, side="right") - 1
        if (query != np.searchsorted(bounds, low, side="right") - 1).any():
            raise InputError("a pair joins documents of two queries", "pair documents of one query only")
        if (high == low).any():
            raise InputError("a pair compares a document with itself")
        order = np.argsort(query, kind="stable")
        start = bounds[query[order]]
        pairs = np.searchsorted(query[order], np.arange(len(bounds)))
        return cls(high[order] - start, low[order] - start, heavy[order], pairs.astype(np.int64))

    @classmethod
    def of_judgments(cls, data: Dataset, judgments: Judgments, ties: bool = False) -> Preferences:
        """The decided preferences among the documents of a data set.

        Ties are left out or, with ``ties``, kept as half a preference each way, which pulls scores together.
        Answers of several assessors to one pair count one each. Queries and documents that the data set does
        not hold are an error, because a silent miss would train on less than was given.
        """
        if data.doc_ids is None:
            raise InputError("preferences name documents, but the data set has no document ids")
        start = {qid: int(rows.start) for qid, rows in data}
        names, asked = data.doc_ids, set(judgments.queries)
        row = {
            (qid, name): rows.start + i
            for qid, rows in data
            if qid in asked
            for i, name in enumerate(names[rows])
        }
        better: list[int] = []
        worse: list[int] = []
        weight: list[float] = []
        for preference in judgments.preferences:
            if preference.query not in start:
                raise InputError(f"preferences name query {preference.query!r}, which the data does not hold")
            if preference.winner is None and not ties:
                continue
            for name in (preference.a, preference.b):
                if (preference.query, name) not in row:
                    raise InputError(f"query {preference.query!r} has no document {name!r} in the data")
            a, b = row[preference.query, preference.a], row[preference.query, preference.b]
            if preference.winner is None:
                better += [a, b]
                worse += [b, a]
                weight += [0.5, 0.5]
            else:
                better.append(a if preference.winner == preference.a else b)
                worse.append(b if preference.winner == preference.a else a)
                weight.append(1.0)
        return cls.of_rows(data.ptr, better, worse, weight)

    def check(self, document_ptr: NDArray[np.int64]) -> None:
        """Raise unless the pairs fit queries with these documents."""
        if len(self.ptr) != len(document_ptr):
            raise InputError(
                f"preferences of {len(self.ptr) - 1} queries do not fit "
                f"data of {len(document_ptr) - 1} queries"
            )
        room = np.repeat(np.diff(document_ptr), np.diff(self.ptr))
        if (np.maximum(self.better, self.worse) >= room).any():
            raise InputError("a preference names a document beyond the end of its query")

    def select(self, queries: Iterable[int] | NDArray[np.int64]) -> Preferences:
        """The pairs of some of the queries, in this order."""
        chosen = np.asarray(queries, np.int64)
        lengths = np.diff(self.ptr)[chosen]
        ptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=ptr[1:])
        where = np.arange(ptr[-1]) + np.repeat(self.ptr[chosen] - ptr[:-1], lengths)
        return Preferences(self.better[where], self.worse[where], self.weight[where], ptr)
