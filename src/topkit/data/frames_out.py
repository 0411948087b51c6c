"""Values of topkit to data frames of pandas, polars or Arrow, which narwhals makes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from topkit.compute import require
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.run import Run

BACKENDS = ("pandas", "polars", "pyarrow")
"""The libraries that ``to_frame`` can return, in the order in which it looks for an installed one."""


def frame_of(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """A data frame of the backend's library with these columns."""
    nw = require("narwhals", "frames")
    chosen = backend or next(name for name in BACKENDS if find_spec(name) is not None)
    if chosen not in BACKENDS:
        raise InputError(f"unknown backend {chosen!r}", f"choose from {', '.join(BACKENDS)}")
    require(chosen, "frames")
    return nw.from_dict(dict(columns), backend=chosen).to_native()


def dataset_columns(data: Dataset) -> dict[str, Any]:
    """Column name → values: ``qid``, ``label``, ``doc_id`` and ``note`` if known, and the features."""
    columns: dict[str, Any] = {"qid": [data.qids[q] for q in data.query_index.tolist()], "label": data.y}
    for name, texts in (("doc_id", data.doc_ids), ("note", data.notes)):
        if texts is not None:
            columns[name] = texts.tolist()
    names = data.names_of_features()
    repeated = [name for i, name in enumerate(names) if name in columns or name in names[:i]]
    if repeated:
        raise InputError(f"the feature name {repeated[0]!r} would occur twice", "rename the feature")
    return {**columns, **{name: np.ascontiguousarray(data.X[:, j]) for j, name in enumerate(names)}}


def run_columns(run: Run) -> dict[str, Any]:
    """The columns of PyTerrier: ``qid``, ``docno``, ``score`` and ``rank`` from 0; best first."""
    query = np.repeat(np.arange(len(run.qids)), np.diff(run.ptr))
    order = np.lexsort((-run.scores, query))
    return {
        "qid": [run.qids[q] for q in query.tolist()],
        "docno": run.docs.take(order).tolist(),
        "score": run.scores[order],
        "rank": np.arange(len(query)) - run.ptr[query],
    }
