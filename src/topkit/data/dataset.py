"""Dataset: documents with features and labels, grouped by query. An immutable value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.arrays import check_features, check_shapes, query_starts, read_only
from topkit.data.errors import InputError
from topkit.data.strings import Strings
from topkit.data.truth import (
    GRADED,
    Truth,
    check_labels,
    labels_of_top,
    order_labels,
)
from topkit.data.words import counted


class Details(TypedDict, total=False):
    """What a data set may have besides features, labels and query ids."""

    doc_ids: Sequence[str] | Strings | None
    feature_names: Sequence[str] | None
    truth: Truth | str


def _fields(details: Details) -> dict[str, Any]:
    """The details as fields of a Dataset."""
    fields: dict[str, Any] = dict(details)
    if isinstance(fields.get("truth"), str):
        fields["truth"] = Truth.parse(fields["truth"])
    return fields


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Feature vectors and labels of documents, grouped by query; query q is rows ``ptr[q]:ptr[q+1]``.

    Lists are ragged and never padded. ``X`` is float32 in C order with NaN for a missing feature. ``y`` is
    float32; ``truth`` says what the labels mean.

    Any array-like is accepted and converted. An array that already has the right type and order is not
    copied: the data set holds a read-only view of it, and the caller's array stays writable.

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
    """The rest of each document's comment, kept so that nothing is lost when a file is read and written."""
    frame_backend: str = ""
    """The library of the frame it came from, so that ``to_frame`` returns a frame of the same library."""

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        for name, dtype in (("X", np.float32), ("y", np.float32), ("ptr", np.int64)):
            set_field(self, name, read_only(getattr(self, name), dtype, name))
        for name in ("qids", "feature_names"):
            if getattr(self, name) is not None:
                set_field(self, name, tuple(map(str, getattr(self, name))))
        for name in ("doc_ids", "notes"):
            if getattr(self, name) is not None:
                set_field(self, name, Strings.of(getattr(self, name)))
        check_shapes(self)
        check_features(self)
        check_labels(self.y, self.ptr, self.truth)

    @classmethod
    def build(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: Sequence[object] | NDArray[np.generic],
        **details: Unpack[Details],
    ) -> Dataset:
        """A data set from copies of arrays, with the query id of every row.

        The rows of a query must be contiguous. Ids of any type are accepted; ``str(id)`` is kept. Details are
        ``doc_ids``, ``feature_names`` and ``truth`` (``graded`` by default).
        """
        starts, qids = query_starts(qid)
        matrix = np.array(X, np.float32, order="C", ndmin=2)
        return cls(
            matrix, np.array(y, np.float32), np.append(starts, len(qid)), tuple(qids), **_fields(details)
        )

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: ArrayLike,
        qid: Sequence[object] | NDArray[np.generic],
        **details: Unpack[Details],
    ) -> Dataset:
        """A data set from copies of arrays whose rows are in any order; they are grouped by query id.

        ``X`` may be a SciPy sparse matrix; what it does not store is 0. Queries are in the order of their
        first row, and rows keep their order within a query. Details as for :meth:`build`.

        >>> Dataset.from_arrays([[1.0], [2.0], [3.0]], [1, 0, 2], [7, 5, 7]).X.ravel().tolist()
        [1.0, 3.0, 2.0]
        """
        from topkit.data.groups import Groups

        labels = np.array(y, np.float32)
        matrix = read_only(X.toarray() if hasattr(X, "toarray") else X, np.float32, "X")
        if len(qid) != len(labels) or len(matrix) != len(labels):
            raise InputError(
                f"X has {len(matrix)} rows, y {len(labels)} labels and qid {len(qid)} ids",
                "give one label and one query id per row",
            )
        groups = Groups.of(qid)
        fields = _fields(details)
        if groups.order is None and np.may_share_memory(matrix, X):
            matrix = matrix.copy()
        if groups.order is not None and fields.get("doc_ids") is not None:
            fields["doc_ids"] = Strings.of(fields["doc_ids"]).take(groups.order)
        return cls(groups.sorted(matrix), groups.sorted(labels), groups.ptr, groups.qids, **fields)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        qid: str = "qid",
        label: str | None = "label",
        doc_id: str | None = None,
        features: Sequence[str] | None = None,
        truth: Truth | str = "graded",
    ) -> Dataset:
        """A data set from a pandas or polars data frame, an Arrow table, or anything that exports one.

        ``qid``, ``label`` and ``doc_id`` name columns (a column ``doc_id`` is found without being named);
        ``label=None`` is for documents without labels, which get 0. ``features`` names the feature columns;
        by default they are all others, which must be numbers. Column names become feature names and null
        becomes NaN. Rows may be in any order. Needs the extra ``frames``.
        """
        from topkit.data.frames import Columns, dataset_from_frame

        return dataset_from_frame(frame, Columns(qid, label, doc_id, features), truth)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with one row per document: ``qid``, ``label``, ``doc_id`` if known, and the features.

        backend: ``pandas``, ``polars`` or ``pyarrow``; by default the library of the frame that the data came
        from, else the first of the three that is installed.
        """
        from topkit.data.frames_out import dataset_columns, frame_of

        return frame_of(dataset_columns(self), backend or self.frame_backend)

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
        """The number of documents of each query."""
        return np.diff(self.ptr)

    @cached_property
    def query_index(self) -> NDArray[np.int64]:
        """The position of each document's query in ``qids``."""
        return np.repeat(np.arange(self.n_queries), self.lengths)

    def __iter__(self) -> Iterator[tuple[str, slice]]:
        """Each query id with the slice of its rows."""
        for q, qid in enumerate(self.qids):
            yield qid, slice(int(self.ptr[q]), int(self.ptr[q + 1]))

    def names_of_features(self) -> tuple[str, ...]:
        """The feature names, or their numbers from 1 as in LETOR files."""
        return self.feature_names or tuple(str(i + 1) for i in range(self.n_features))

    def names_of_documents(self) -> Strings:
        """The document ids, or ``query:position`` if the data has none."""
        if self.doc_ids is not None:
            return self.doc_ids
        return Strings.of(f"{qid}:{i + 1}" for qid, rows in self for i in range(rows.stop - rows.start))

    # -- parts ---------------------------------------------------------------------------------------------
    def select(self, queries: ArrayLike) -> Dataset:
        """The queries at these positions, in this order, or those where a Boolean mask is true."""
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
        """The same documents with only these feature columns."""
        index = np.asarray(columns, np.int64)
        names = self.feature_names
        return replace(
            self,
            X=np.ascontiguousarray(self.X[:, index]),
            feature_names=None if names is None else tuple(names[int(i)] for i in index),
        )

    def with_features(self, X: ArrayLike, names: Sequence[str] | None = None) -> Dataset:
        """The same documents with other features."""
        return replace(
            self, X=np.asarray(X, np.float32), feature_names=None if names is None else tuple(names)
        )

    def with_labels(self, y: ArrayLike, truth: Truth) -> Dataset:
        """The same documents with other labels."""
        return replace(self, y=np.array(y, np.float32), truth=truth)

    # -- truth ---------------------------------------------------------------------------------------------
    def as_order(self, seed: int = 0) -> Dataset:
        """The full order of each list by its labels; equal labels are ordered at random by the seed."""
        if self.truth.kind == "order":
            return self
        return self.with_labels(order_labels(self.y, self.ptr, seed), Truth("order"))

    def top_k(self, k: int, seed: int = 0, *, break_ties: bool = False) -> Dataset:
        """Top-k truth: the first k of the full order.

        Equal grades are ordered at random by the seed. Ties of top-k truth, which assessors judged to be
        about the same, stay ties unless ``break_ties`` orders them at random too.

        >>> tied = Dataset.build([[0.0]] * 4, [3, 3, 1, 0], ["q"] * 4, truth="top-3")
        >>> tied.top_k(2).y.tolist(), sorted(tied.top_k(2, break_ties=True).y.tolist())
        ([2.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0])
        """
        labels = labels_of_top(self.y, self.ptr, self.truth, k, seed, break_ties)
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
        values = (self.qids, self.truth, self.feature_names, self.doc_ids, self.notes)
        return (
            values == (other.qids, other.truth, other.feature_names, other.doc_ids, other.notes)
            and np.array_equal(self.ptr, other.ptr)
            and np.array_equal(self.y, other.y)
            and np.array_equal(self.X, other.X, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shape = [
            counted(self.n_queries, "query"),
            counted(len(self), "document"),
            counted(self.n_features, "feature"),
        ]
        return f"Dataset({', '.join(shape)}, {self.truth})"
