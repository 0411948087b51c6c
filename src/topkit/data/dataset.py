"""Dataset: documents with features and labels, query by query. An immutable value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.errors import InputError
from topkit.data.strings import Strings
from topkit.data.truth import GRADED, Truth, check_labels, order_labels, top_k_labels


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Feature vectors and labels of documents, grouped by query; query q is rows ``ptr[q]:ptr[q+1]``.

    Lists are ragged and never padded. ``X`` is float32 in C order with NaN for a missing feature;
    ``y`` is float32 and what it means is said by ``truth``.

    >>> ds = Dataset.build([[1.0], [0.5], [0.2]], [2, 0, 1], ["q1", "q1", "q2"])
    >>> ds
    Dataset(2 queries, 3 documents, 1 feature, graded)
    >>> ds.top_k(1).y
    array([1., 0., 1.], dtype=float32)
    """

    X: NDArray[np.float32]
    y: NDArray[np.float32]
    ptr: NDArray[np.int64]
    qids: tuple[str, ...]
    doc_ids: Strings | None = None
    feature_names: tuple[str, ...] | None = None
    truth: Truth = GRADED
    notes: Strings | None = None
    """What else a file said of each document, kept so that nothing is lost on the way through."""

    def __post_init__(self) -> None:
        n, queries = len(self.y), len(self.qids)
        if self.X.ndim != 2 or self.X.dtype != np.float32 or not self.X.flags.c_contiguous:
            raise ValueError("X must be a C-ordered float32 matrix")
        if self.y.shape != (n,) or self.y.dtype != np.float32 or len(self.X) != n:
            raise ValueError(
                f"y must be float32 and hold one label a row of X: {len(self.X)} rows, {n} labels"
            )
        if self.ptr.shape != (queries + 1,) or self.ptr[0] != 0 or self.ptr[-1] != n:
            raise ValueError("ptr must run from 0 to the number of documents, one step a query")
        if (np.diff(self.ptr) < 1).any():
            raise ValueError("every query needs at least one document")
        if len(set(self.qids)) != queries:
            raise ValueError("query ids must differ")
        for name, column in (("doc_ids", self.doc_ids), ("notes", self.notes)):
            if column is not None and len(column) != n:
                raise ValueError(f"{name} must hold one string a document")
        if self.feature_names is not None and len(self.feature_names) != self.X.shape[1]:
            raise ValueError(f"{len(self.feature_names)} feature names for {self.X.shape[1]} features")
        if not np.isfinite(self.y).all():
            raise ValueError("labels must be finite numbers")
        check_labels(self.y, self.ptr, self.truth)
        for array in (self.X, self.y, self.ptr):
            array.flags.writeable = False

    @classmethod
    def build(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: Sequence[object] | NDArray[np.generic],
        *,
        doc_ids: Sequence[str] | Strings | None = None,
        feature_names: Sequence[str] | None = None,
        truth: Truth | str = "graded",
    ) -> Dataset:
        """A data set from arrays, with the query id of every row; rows of one query must be neighbours."""
        names = [str(value) for value in qid]
        starts = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
        qids = tuple(names[i] for i in starts)
        if len(set(qids)) != len(qids):
            raise InputError("rows of one query must be neighbours", "sort the rows by query id first")
        return cls(
            np.array(X, np.float32, order="C", ndmin=2),
            np.array(y, np.float32),
            np.array([*starts, len(names)], np.int64),
            qids,
            None if doc_ids is None else Strings.of(doc_ids),
            None if feature_names is None else tuple(feature_names),
            Truth.parse(truth) if isinstance(truth, str) else truth,
        )

    # -- shape ---------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_queries(self) -> int:
        return len(self.qids)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Documents of each query."""
        return np.diff(self.ptr)

    @cached_property
    def query_index(self) -> NDArray[np.int64]:
        """For each document, the number of its query."""
        return np.repeat(np.arange(self.n_queries), self.lengths)

    def __iter__(self) -> Iterator[tuple[str, slice]]:
        """Each query id with the slice of its rows."""
        for q, qid in enumerate(self.qids):
            yield qid, slice(int(self.ptr[q]), int(self.ptr[q + 1]))

    def names_of_features(self) -> tuple[str, ...]:
        """The feature names, or the numbers that LETOR files count them by."""
        return self.feature_names or tuple(str(i + 1) for i in range(self.n_features))

    def names_of_documents(self) -> Strings:
        """The document ids, or ``query:place`` where the data has none."""
        if self.doc_ids is not None:
            return self.doc_ids
        return Strings.of(f"{qid}:{i + 1}" for qid, rows in self for i in range(rows.stop - rows.start))

    # -- parts ---------------------------------------------------------------------------------------------
    def select(self, queries: ArrayLike) -> Dataset:
        """The queries at these positions (or under this mask), in this order."""
        chosen = np.asarray(queries)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        lengths = self.lengths[chosen]
        ptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=ptr[1:])
        rows = np.arange(ptr[-1]) + np.repeat(self.ptr[chosen] - ptr[:-1], lengths)
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            ptr=ptr,
            qids=tuple(self.qids[int(q)] for q in chosen),
            doc_ids=None if self.doc_ids is None else self.doc_ids.take(rows),
            notes=None if self.notes is None else self.notes.take(rows),
        )

    def features(self, columns: ArrayLike) -> Dataset:
        """The same documents with these feature columns only."""
        index = np.asarray(columns, np.int64)
        names = self.feature_names
        return replace(
            self,
            X=np.ascontiguousarray(self.X[:, index]),
            feature_names=None if names is None else tuple(names[int(i)] for i in index),
        )

    def with_features(self, X: NDArray[np.float32], names: Sequence[str] | None = None) -> Dataset:
        """The same documents with other features."""
        return replace(self, X=X, feature_names=None if names is None else tuple(names))

    def with_labels(self, y: ArrayLike, truth: Truth) -> Dataset:
        """The same documents with other labels."""
        return replace(self, y=np.array(y, np.float32), truth=truth)

    # -- truth ---------------------------------------------------------------------------------------------
    def as_order(self, seed: int = 0) -> Dataset:
        """Full-order truth that agrees with the labels; equal labels are ordered at random (seeded)."""
        if self.truth.kind == "order":
            return self
        return self.with_labels(order_labels(self.y, self.ptr, seed), Truth("order"))

    def top_k(self, k: int, seed: int = 0) -> Dataset:
        """Top-k truth: the first k of the full order, or of a random order that agrees with the grades."""
        if self.truth.k is not None and self.truth.k < k:
            raise InputError(
                f"the order of the top {k} cannot be had from {self.truth} truth", f"use k ≤ {self.truth.k}"
            )
        if k < 1:
            raise InputError(f"k must be at least 1, not {k}")
        labels = top_k_labels(self.y, self.ptr, k, seed, ordered=self.truth.kind == "order")
        return self.with_labels(labels, Truth("top-k", k))

    # -- files ---------------------------------------------------------------------------------------------
    def to_letor(self, path: str | PathLike[str]) -> None:
        """Write LETOR text (``.gz`` compresses); see :func:`topkit.data.letor.write_letor`."""
        from topkit.data.letor import write_letor

        write_letor(self, path)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write Parquet; see :func:`topkit.data.parquet.write_parquet`."""
        from topkit.data.parquet import write_parquet

        write_parquet(self, path)

    # -- value ---------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        return (
            self.qids == other.qids
            and self.truth == other.truth
            and self.feature_names == other.feature_names
            and np.array_equal(self.ptr, other.ptr)
            and np.array_equal(self.y, other.y)
            and np.array_equal(self.X, other.X, equal_nan=True)
            and self.doc_ids == other.doc_ids
            and self.notes == other.notes
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        def count(n: int, one: str, many: str) -> str:
            return f"{n} {one if n == 1 else many}"

        shape = [
            count(self.n_queries, "query", "queries"),
            count(len(self), "document", "documents"),
            count(self.n_features, "feature", "features"),
        ]
        return f"Dataset({', '.join(shape)}, {self.truth})"


def concatenate(parts: Sequence[Dataset]) -> Dataset:
    """One data set of the queries of all parts, which must agree in features and truth."""
    first = parts[0]
    for part in parts[1:]:
        if part.n_features != first.n_features or part.feature_names != first.feature_names:
            raise InputError(
                f"cannot join data sets of {first.n_features} and {part.n_features} features",
                "give files with the same features",
            )
        if part.truth != first.truth:
            raise InputError(f"cannot join {first.truth} and {part.truth} truth", "convert one of them first")
    qids = tuple(qid for part in parts for qid in part.qids)
    if len(set(qids)) != len(qids):
        again = next(qid for qid in qids if qids.count(qid) > 1)
        raise InputError(
            f"query {again!r} is in more than one of the data sets", "join sets of different queries"
        )

    def joined(columns: list[Strings | None]) -> Strings | None:
        present = [column for column in columns if column is not None]
        return Strings.concatenate(present) if len(present) == len(parts) else None

    ptr = np.zeros(len(qids) + 1, np.int64)
    np.cumsum(np.concatenate([part.lengths for part in parts]), out=ptr[1:])
    return Dataset(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        ptr,
        qids,
        joined([part.doc_ids for part in parts]),
        first.feature_names,
        first.truth,
        joined([part.notes for part in parts]),
    )
