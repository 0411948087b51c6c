"""Requests and responses as Arrow IPC streams, which are faster to parse than JSON.

A request is a table with a column ``features`` (fixed-size lists of floats) or one numeric column per
feature. Column names are compared with the feature names of training, if there are any. A batch also has a
column ``qid``, and the rows of a query are contiguous. Null is a missing feature. The response is a table
with a column ``score``. Compressed buffers and dictionaries are not supported.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.serving.arrow_checks import check_stream
from topkit.serving.candidates import Candidates, check_finite
from topkit.serving.refusal import Limits, RefusedError, at_most

TYPE = "application/vnd.apache.arrow.stream"


def one_query(body: bytes, limits: Limits) -> Candidates:
    """All rows are candidates of one query."""
    table = _table(body, limits)
    if "qid" in table.column_names:
        raise RefusedError(422, "the table has a column qid, which is for batches; send it to /batch")
    X, names = _features(table)
    return Candidates(X, np.array([0, len(X)]), names)


def many_queries(body: bytes, limits: Limits) -> Candidates:
    """Rows with the same ``qid`` are the candidates of one query."""
    table = _table(body, limits)
    if "qid" not in table.column_names:
        raise RefusedError(422, "a batch needs a column qid with the query of each row")
    qid = table.column("qid").combine_chunks()
    if qid.null_count:
        raise RefusedError(422, "qid contains a null")
    codes = qid.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    if len(np.unique(codes[starts])) != len(starts):
        raise RefusedError(422, "the rows of a query are not contiguous; sort the table by qid")
    at_most(limits.queries, len(starts), "queries")
    X, names = _features(table.drop_columns(["qid"]))
    return Candidates(X, np.append(starts, len(X)).astype(np.int64), names)


def answer(scores: NDArray[np.float64], model: str) -> bytes:
    """A stream with the column ``score``; the SHA-256 of the model is in the metadata of the schema."""
    import pyarrow as pa

    table = pa.table({"score": scores}).replace_schema_metadata({"model": model})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _table(body: bytes, limits: Limits) -> Any:
    import pyarrow as pa

    try:
        buffer = pa.py_buffer(body)
        check_stream(buffer, limits)
        with pa.ipc.open_stream(buffer) as stream:
            table = stream.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, struct.error, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RefusedError(400, f"the body is not an Arrow IPC stream: {reason}") from None
    if table.num_rows == 0:
        raise RefusedError(422, "the table has no rows")
    return table


def _features(table: Any) -> tuple[NDArray[np.float32], tuple[str, ...] | None]:
    import pyarrow as pa

    names: tuple[str, ...] | None = None
    if table.column_names == ["features"] and pa.types.is_fixed_size_list(table.schema.field(0).type):
        column = table.column(0).combine_chunks()
        if column.null_count:
            raise RefusedError(422, "features contains a null row")
        flat = column.flatten()
        width = column.type.list_size
        values = _numbers(flat, "features").reshape(-1, width) if width else np.zeros((0, 0))
    else:
        names = tuple(table.column_names)
        values = np.empty((table.num_rows, len(names)), np.float32)
        with np.errstate(over="ignore"):
            for j, name in enumerate(names):
                values[:, j] = _numbers(table.column(j).combine_chunks(), repr(name))
    if values.shape[1] == 0:
        raise RefusedError(422, "the table has no feature columns")
    with np.errstate(over="ignore"):
        X: NDArray[np.float32] = np.ascontiguousarray(values, np.float32)
    check_finite(X, "features")
    return X, names


def _numbers(array: Any, what: str) -> NDArray[Any]:
    import pyarrow as pa

    if not (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
        raise RefusedError(422, f"{what}: expected numbers, got {array.type}")
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    if np.isnan(values).sum() > array.null_count:
        raise RefusedError(422, f"{what} contains NaN; send null for a missing feature")
    return values
