"""Arrays given by a caller: read-only views, the queries of consecutive rows, the checks of a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.errors import InputError

if TYPE_CHECKING:
    from topkit.data.dataset import Dataset


def check_contiguous(qids: Sequence[str], remedy: str, *, file: str | PathLike[str] | None = None) -> None:
    """Raise if a query occurs twice in the queries of consecutive blocks of rows."""
    if len(set(qids)) < len(qids):
        qid = next(qid for qid, count in Counter(qids).items() if count > 1)
        raise InputError(f"rows of query {qid!r} are not contiguous", remedy, file=file)


def query_starts(qid: Sequence[object] | NDArray[np.generic]) -> tuple[NDArray[np.int64], list[str]]:
    """The first row of each query and its id, from the query id of every row."""
    # an object array, because strings of fixed width would take as much memory as the longest of them
    column = np.asarray(qid) if hasattr(qid, "__array__") else np.fromiter(qid, object, len(qid))
    if column.ndim != 1:
        raise InputError(f"qid must have one id per row, got an array with {column.ndim} dimensions")
    changes = np.flatnonzero(column[1:] != column[:-1]) + 1
    starts = np.concatenate([[0], changes])[: len(column)].astype(np.int64)
    qids = [str(name) for name in column[starts]]
    different = [i for i, name in enumerate(qids) if i == 0 or name != qids[i - 1]]  # 7 and "7" are one query
    if len(different) < len(qids):
        starts, qids = starts[different], [qids[i] for i in different]
    check_contiguous(qids, "sort the rows by query id first")
    return starts, qids


def read_only(values: ArrayLike, dtype: type[np.generic], name: str) -> NDArray[Any]:
    """The values as a read-only array in C order: a view if they have this type and order, else a copy.

    The caller's array stays writable. Values that are not numbers, or too large for the type, are an error.
    """
    try:
        with np.errstate(over="raise"):
            view = np.asarray(values, dtype, order="C").view()
    except FloatingPointError:
        raise InputError(f"{name} has values that are too large for {np.dtype(dtype)}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers ({error})") from None
    view.flags.writeable = False
    return view


def check_shapes(data: Dataset) -> None:
    """InputError unless all parts have one entry per document, query or feature."""
    if data.X.ndim != 2:
        raise InputError(f"X must be a matrix, got an array with {data.X.ndim} dimensions")
    n, queries = len(data.X), len(data.qids)
    if data.y.shape != (n,):
        raise InputError(f"y must have one label per row of X: {n} rows, labels of shape {data.y.shape}")
    if not np.isfinite(data.y).all():
        raise InputError("labels must be finite numbers")
    if data.ptr.shape != (queries + 1,) or data.ptr[0] != 0 or data.ptr[-1] != n:
        raise InputError(f"ptr must have {queries + 1} entries from 0 to {n}, the number of documents")
    if (np.diff(data.ptr) < 1).any():
        raise InputError("every query needs at least one document")
    if len(set(data.qids)) != queries:
        raise InputError("query ids must be unique")
    for name, column in (("doc_ids", data.doc_ids), ("notes", data.notes)):
        if column is not None and len(column) != n:
            raise InputError(f"{name} must have one string per document: {len(column)} for {n} documents")
    if data.feature_names is not None and len(data.feature_names) != data.X.shape[1]:
        raise InputError(f"{len(data.feature_names)} feature names for {data.X.shape[1]} features")


def check_features(data: Dataset) -> None:
    """InputError for an infinite feature; NaN is a missing value."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(data.X.sum())  # one pass without a copy, enough for most data
    if not suspicious:
        return
    for row in np.flatnonzero(np.isinf(data.X).any(axis=1))[:1]:
        column = int(np.argmax(np.isinf(data.X[row])))
        q = int(np.searchsorted(data.ptr, row, side="right")) - 1
        name = column + 1 if data.feature_names is None else repr(data.feature_names[column])
        place = int(row) - int(data.ptr[q]) + 1
        raise InputError(
            f"feature {name} of document {place} of query {data.qids[q]!r} is infinite",
            "replace it by a finite number, or by NaN if it is missing",
        )
