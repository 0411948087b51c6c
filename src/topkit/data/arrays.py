"""Arrays given by a caller: read-only views of numbers, and the queries of consecutive rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.errors import InputError


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
