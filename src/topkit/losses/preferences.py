"""Preference pairs as truth: row numbers and weights, so that pairwise losses need no labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data import Dataset, InputError, Judgments


@dataclass(frozen=True)
class Preferences:
    """Pairs "better above worse", query by query: the pairs of query q are ``ptr[q]:ptr[q+1]``.

    ``better`` and ``worse`` count documents from the start of their query, so selecting queries means
    selecting pairs.

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
        """Pairs of rows of a data set whose queries start at ``ptr``; the default weight is 1."""
        bounds = np.asarray(ptr, np.int64)
        better_rows, worse_rows = np.asarray(better, np.int64), np.asarray(worse, np.int64)
        weights = np.ones(len(better_rows)) if weight is None else np.asarray(weight, np.float64)
        if not (better_rows.shape == worse_rows.shape == weights.shape):
            raise ValueError("better, worse and weight must have the same length")
        rows = np.concatenate([better_rows, worse_rows])
        if len(rows) and (rows.min() < 0 or rows.max() >= bounds[-1]):
            raise InputError(f"a pair has a row outside 0…{bounds[-1] - 1}")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise InputError("pair weights must be finite and not negative")
        query = np.searchsorted(bounds, better_rows, side="right") - 1
        if (query != np.searchsorted(bounds, worse_rows, side="right") - 1).any():
            raise InputError("a pair has documents of two queries", "pair documents of the same query")
        if (better_rows == worse_rows).any():
            raise InputError("a pair compares a document with itself")
        order = np.argsort(query, kind="stable")
        start = bounds[query[order]]
        pair_ptr = np.searchsorted(query[order], np.arange(len(bounds))).astype(np.int64)
        return cls(better_rows[order] - start, worse_rows[order] - start, weights[order], pair_ptr)

    @classmethod
    def of_judgments(cls, data: Dataset, judgments: Judgments, ties: bool = False) -> Preferences:
        """The preferences among the documents of a data set.

        Ties are left out or, with ``ties``, kept as half a preference in each direction, which pulls scores
        together. Each answer counts once, also if several assessors answered the same pair. Queries and
        documents that are missing from the data set are an error, because skipping them would silently train
        on fewer preferences.
        """
        if data.doc_ids is None:
            raise InputError("preferences refer to document ids, and the data set has none")
        start = {qid: int(rows.start) for qid, rows in data}
        names, judged = data.doc_ids, set(judgments.queries)
        row = {
            (qid, name): rows.start + i
            for qid, rows in data
            if qid in judged
            for i, name in enumerate(names[rows])
        }
        better: list[int] = []
        worse: list[int] = []
        weight: list[float] = []
        for preference in judgments.preferences:
            if preference.query not in start:
                raise InputError(f"query {preference.query!r} of the preferences is not in the data set")
            if preference.winner is None and not ties:
                continue
            for name in (preference.a, preference.b):
                if (preference.query, name) not in row:
                    raise InputError(f"query {preference.query!r} of the data set has no document {name!r}")
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
        """Raise unless the pairs match queries with these documents."""
        if len(self.ptr) != len(document_ptr):
            raise InputError(
                f"the preferences have {len(self.ptr) - 1} queries, the data set has {len(document_ptr) - 1}"
            )
        documents = np.repeat(np.diff(document_ptr), np.diff(self.ptr))
        if (np.maximum(self.better, self.worse) >= documents).any():
            raise InputError("a preference refers to a document beyond the end of its query")

    def select(self, queries: Iterable[int] | NDArray[np.int64]) -> Preferences:
        """The pairs of some of the queries, in this order."""
        pairs, ptr = concatenated_ranges(self.ptr, np.asarray(queries, np.int64))
        return Preferences(self.better[pairs], self.worse[pairs], self.weight[pairs], ptr)


def concatenated_ranges(
    ptr: NDArray[np.int64], queries: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries ``ptr[q]:ptr[q+1]`` of these queries one after another, and where each query starts.

    >>> concatenated_ranges(np.array([0, 2, 3, 5]), np.array([2, 0]))
    (array([3, 4, 0, 1]), array([0, 2, 4]))
    """
    lengths = np.diff(ptr)[queries]
    starts = np.zeros(len(queries) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return np.arange(starts[-1]) + np.repeat(ptr[queries] - starts[:-1], lengths), starts
