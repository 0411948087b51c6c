"""A Parquet file divided into ranges of rows that contain whole queries, which workers read themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from os import fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.data.parquet import ParquetRows, opened_parquet, row_group_bounds

QID_ROWS = 1 << 18
"""Rows of the column ``qid`` to read at a time: a few megabytes."""


@dataclass(frozen=True)
class Partition:
    """Rows ``first`` to ``last`` (exclusive) of a file.

    It is small enough to send to any worker, and another worker can read it again if one is lost.
    """

    path: str
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def read(self) -> Dataset:
        """The documents of the partition, with graded truth; see :func:`topkit.data.stream_dataset`."""
        with opened_parquet(self.path, memory_map=False, pre_buffer=False) as file:
            convert = ParquetRows(file, self.path)
            bounds = row_group_bounds(file.metadata)
            groups = np.flatnonzero((bounds[1:] > self.first) & (bounds[:-1] < self.last))
            table = file.read_row_groups(groups.tolist(), columns=convert.columns, use_threads=False)
            rows = table.slice(self.first - int(bounds[groups[0]]), len(self)).combine_chunks()
            return convert(rows, self.first)


@dataclass(frozen=True)
class Plan:
    """A file and its partitions, with the facts that are known before the features are read."""

    path: str
    queries: int
    documents: int
    longest: int
    """Number of documents of the longest query."""
    features: int
    feature_names: tuple[str, ...] | None
    truth: str
    partitions: tuple[Partition, ...]


def plan_partitions(path: FilePath, rows: int) -> Plan:
    """Partitions of about ``rows`` documents, cut between queries. Reads only the column ``qid``."""
    if rows < 1:
        raise InputError(f"a partition needs at least 1 document, got {rows}")
    remedy = "training in parts needs Parquet; convert the file with topkit data convert"
    with opened_parquet(path, remedy, memory_map=False, pre_buffer=False) as file:
        convert = ParquetRows(file, path)
        starts = _query_starts(file)
        documents = file.metadata.num_rows
    if documents == 0:
        raise InputError("the table has no documents", "write some rows", file=path)
    lengths = np.diff(np.append(starts, documents))
    targets = np.arange(0, documents, rows)
    cuts = np.unique(starts[np.searchsorted(starts, targets, side="right") - 1])
    file_name = fspath(path)
    return Plan(
        file_name,
        len(starts),
        documents,
        int(lengths.max()),
        convert.width,
        None if convert.names is None else tuple(convert.names),
        str(convert.truth),
        tuple(Partition(file_name, a, b) for a, b in pairwise([*cuts.tolist(), documents])),
    )


def _query_starts(file: Any) -> NDArray[np.int64]:
    """The first row of every query."""
    import pyarrow as pa

    starts, row, last_qid = [], 0, None
    for batch in file.iter_batches(batch_size=QID_ROWS, columns=["qid"], use_threads=False):
        if not batch.num_rows:
            continue
        qid = batch.column("qid").cast(pa.string()).dictionary_encode()
        number = qid.indices.to_numpy(zero_copy_only=False)
        batch_starts = np.flatnonzero(np.diff(number, prepend=-1))
        if last_qid is not None and qid.dictionary[int(number[0])].as_py() == last_qid:
            batch_starts = batch_starts[1:]
        last_qid = qid.dictionary[int(number[-1])].as_py()
        starts.append(batch_starts + row)
        row += batch.num_rows
    return np.concatenate(starts) if starts else np.zeros(0, np.int64)
