"""Data sets as Parquet: exact, and ten times as fast to read as text.

Columns: ``qid``, ``label``, ``doc_id`` and ``note`` if the data has them, and ``features``: the row of the
matrix as little-endian float32 bytes. With one column per feature, every read would have to transpose the
matrix, which takes longer than reading it. Feature names and the kind of truth are in the metadata of the
schema under ``topkit``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats32, Ints, thread_count, thread_map
from topkit.data.arrays import check_contiguous
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.files import FilePath, written_whole
from topkit.data.parquet_checks import (
    TEXT_COLUMNS,
    VERSION,
    check_column,
    check_labels_and_queries,
    check_schema,
    check_size,
    check_table_size,
    check_values,
    packed_width,
    read_facts,
)
from topkit.data.strings import Strings
from topkit.data.truth import Truth

REPEATING = ("qid", "doc_id", "note")
"""The columns that another tool may have stored as a dictionary of texts."""
ROW_GROUP = 16_384
"""Rows per row group: large enough to read at full speed, small enough to read on several threads."""


def write_parquet(data: Dataset, path: FilePath) -> None:
    """Write a data set so that :func:`read_parquet` returns an equal one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def numbers(kind: Any, values: NDArray[Any]) -> Any:
        """The values without a copy; ``pa.array`` would import pandas if it is installed."""
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])

    columns: dict[str, Any] = {
        "qid": pa.DictionaryArray.from_arrays(
            numbers(pa.int32(), data.query_index.astype(np.int32)),
            _to_arrow(Strings.of(data.qids)).cast(pa.string()),
        ),
        "label": numbers(pa.float32(), data.y.astype(np.float32, copy=False)),
    }
    for key, strings in (("doc_id", data.doc_ids), ("note", data.notes)):
        if strings is not None:
            columns[key] = _to_arrow(strings)
    if data.n_features:
        rows = pa.py_buffer(data.X.astype("<f4", copy=False))
        columns["features"] = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(4 * data.n_features), len(data), [None, rows]
        )
    facts = {"version": VERSION, "truth": str(data.truth), "feature_names": data.feature_names}
    table = pa.table(columns).replace_schema_metadata({"topkit": json.dumps(facts)})
    with written_whole(path) as temporary:
        pq.write_table(table, temporary, row_group_size=ROW_GROUP, compression="none", use_dictionary=["qid"])


def read_parquet(path: FilePath) -> Dataset:
    """Read a data set written by :func:`write_parquet`, or any table with columns ``qid`` and ``label``.

    In a table of another tool every other numeric column is a feature, in the order of the file.
    """
    with opened_parquet(path, memory_map=True) as file:
        rows = ParquetRows(file, path)
        if file.metadata.num_rows == 0:
            raise InputError("the table has no documents", "write some rows", file=path)
        check_table_size(file.metadata, rows.width, path)
        X = _read_packed(rows, file.metadata) if rows.packed else rows.matrix(file.read(rows.names))
        data = rows.dataset(file.read(columns=rows.text_columns), X)
        return data if rows.truth.kind == "graded" else data.with_labels(data.y, rows.truth)


@contextmanager
def opened_parquet(path: FilePath, remedy: str = "write it again", **options: Any) -> Iterator[Any]:
    """The open Parquet file; an InputError if it is missing or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if Path(path).is_fifo():
        raise InputError("Parquet cannot be read from a pipe", "write it to a file first", file=path)
    try:
        with pq.ParquetFile(path, **options) as file:
            schema = file.schema_arrow
            texts = [
                f.name for f in schema if f.name in REPEATING and f.type in (pa.string(), pa.large_string())
            ]
            if not texts or b"topkit" in (schema.metadata or {}):  # topkit stores no dictionaries of texts
                yield file
                return
        # As dictionaries, so that their size is known before their texts are repeated.
        with pq.ParquetFile(path, read_dictionary=texts, **options) as file:
            yield file
    except FileNotFoundError:
        raise InputError("no such file", "check the path", file=path) from None
    except InputError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).split("\n")[0][:200]
        raise InputError(f"not a readable Parquet file ({reason})", remedy, file=path) from None


class ParquetRows:
    """Converts rows of a Parquet file to data sets with graded truth."""

    def __init__(self, file: Any, path: FilePath) -> None:
        schema = file.schema_arrow
        check_schema(schema, path)
        facts = read_facts(schema, path)
        self.path = path
        self.packed = facts is not None
        """Whether the features are one column of bytes, as topkit writes them."""
        self.truth = facts.truth if facts else Truth()
        self.names: list[str] | None = facts.feature_names if facts else _numeric_columns(schema)
        self.width = packed_width(schema, path) if self.packed else len(self.names or ())
        self.text_columns = [name for name in TEXT_COLUMNS if name in schema.names]
        features = ["features"] if self.packed else self.names or []
        self.columns = [*self.text_columns, *(name for name in features if name in schema.names)]

    def __call__(self, table: Any, first_row: int = 0) -> Dataset:
        """The rows of a table or batch as a data set; consecutive rows with the same query id are a query.

        first_row: the row of the file that the table starts with, for messages.
        """
        return self.dataset(table, self.matrix(table, first_row), first_row)

    def dataset(self, table: Any, X: Floats32, first_row: int = 0) -> Dataset:
        """The text columns of a table together with their features."""
        qid = self._texts(table, "qid", "string").dictionary_encode()
        numbers = _one_array(table.column("label")).cast("float64", safe=False)
        label = check_labels_and_queries(numbers, qid, first_row, self.path)
        number = qid.indices.to_numpy()
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        dictionary = qid.dictionary.to_pylist()
        qids = [dictionary[i] for i in number[starts]]
        check_contiguous(qids, "sort by query", file=self.path)
        texts = {key: _to_strings(self._texts(table, key, "large_string")) for key in self.text_columns[2:]}
        return Dataset(
            X,
            label,
            np.append(starts, len(label)),
            tuple(qids),
            doc_ids=texts.get("doc_id"),
            feature_names=None if self.names is None else tuple(self.names),
            notes=texts.get("note"),
        )

    def _texts(self, table: Any, name: str, kind: str) -> Any:
        """A column as one array of strings; of a dictionary, the size is checked first."""
        import pyarrow as pa

        array = _one_array(table.column(name))
        if pa.types.is_dictionary(array.type):
            words = array.dictionary.cast("large_string")
            lengths = np.diff(_offsets(words))
            used = array.indices.drop_null().to_numpy(zero_copy_only=False)
            check_size(int(lengths[used].sum()), self.path)
            array = array.dictionary_decode()
        return array.cast(kind)

    def matrix(self, table: Any, first_row: int = 0) -> Floats32:
        """The features of a table."""
        X = np.empty((table.num_rows, self.width), np.float32)
        if not self.packed:
            for j, name in enumerate(self.names or ()):
                column = _one_array(table.column(name)).to_numpy(zero_copy_only=False)
                X[:, j] = check_column(column, name, first_row, self.path)
        elif self.width:
            self.fill(X, table.column("features"), first_row)
        return X

    def fill(self, X: Floats32, column: Any, first_row: int) -> None:
        """Copy a column of packed features into X."""
        row = 0
        for part in getattr(column, "chunks", [column]):
            if part.null_count:
                missing = row + first_row + int(np.argmax(part.is_null().to_numpy(zero_copy_only=False))) + 1
                problem = f"the features of row {missing} are missing"
                raise InputError(problem, "write the data set again", file=self.path)
            packed = np.frombuffer(part.buffers()[1], "<f4", self.width * (part.offset + len(part)))
            X[row : row + len(part)] = packed.reshape(-1, self.width)[part.offset :]
            row += len(part)
        check_values(X, first_row, None if self.names is None else tuple(self.names), self.path)


def _read_packed(rows: ParquetRows, metadata: Any) -> Floats32:
    """The matrix, read in row groups on several threads, each of which opens the file itself."""
    import pyarrow.parquet as pq

    X = np.empty((metadata.num_rows, rows.width), np.float32)
    bounds = row_group_bounds(metadata)

    def fill(groups: range) -> None:
        # not mapped: the pages of a mapped file count as memory of the process, as much as the matrix itself
        with pq.ParquetFile(rows.path, memory_map=False, metadata=metadata, pre_buffer=False) as file:
            for group in groups:
                column = file.read_row_group(group, columns=["features"], use_threads=False).column(0)
                first = int(bounds[group])
                rows.fill(X[first : int(bounds[group + 1])], column, first)

    if rows.width:
        threads = min(thread_count(), metadata.num_row_groups)
        thread_map(fill, [range(first, metadata.num_row_groups, threads) for first in range(threads)])
    return X


def row_group_bounds(metadata: Any) -> Ints:
    """The first row of each row group, and the number of rows."""
    counts = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    return np.cumsum([0, *counts]).astype(np.int64)


def _numeric_columns(schema: Any) -> list[str]:
    import pyarrow as pa

    numbers = [f.name for f in schema if pa.types.is_floating(f.type) or pa.types.is_integer(f.type)]
    return [name for name in numbers if name not in (*TEXT_COLUMNS, "features")]


def _one_array(column: Any) -> Any:
    """A column of a table or batch as one array."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_dictionary(column.type):
            column = column.unify_dictionaries()
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    return column


def _to_arrow(strings: Strings) -> Any:
    """The same buffers as an Arrow array of large strings."""
    import pyarrow as pa

    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(strings), [None, pa.py_buffer(strings.offsets), pa.py_buffer(strings.blob)]
    ).cast(pa.large_string(), safe=True)


def to_strings(column: Any) -> Strings:
    """A column of a table or batch as strings; missing ones are empty."""
    return _to_strings(_one_array(column).cast("large_string"))


def _to_strings(array: Any) -> Strings:
    """An Arrow array of large strings, where a missing text is empty."""
    if array.null_count:
        array = array.fill_null("")
    ends = _offsets(array)
    blob = array.buffers()[2]
    text = np.frombuffer(blob, np.uint8) if blob is not None else np.zeros(0, np.uint8)
    return Strings(text[ends[0] : ends[-1]].copy(), ends - ends[0])


def _offsets(array: Any) -> Ints:
    """Where each of an array of large strings starts in its buffer, and where the last ends."""
    offsets = array.buffers()[1]
    if offsets is None or not len(array):
        return np.zeros(1, np.int64)
    ends: Ints = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return ends
