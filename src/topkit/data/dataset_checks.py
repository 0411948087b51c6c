"""The checks of a data set when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topkit.data.errors import InputError

if TYPE_CHECKING:
    from topkit.data.dataset import Dataset


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
