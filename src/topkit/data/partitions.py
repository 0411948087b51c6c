"""A Parquet file cut into ranges of rows that hold whole queries: what a worker is told, and reads itself."""

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
from topkit.data.streaming import ParquetRows


@dataclass(frozen=True)
class Partition:
    """Rows ``first`` to ``last`` (without it) of a file. It is small, travels anywhere, and can be read again
    by whoever is left when a worker is lost.
    """

    path: str
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def read(self) -> Dataset:
        """The documents of the partition, with graded truth; see :func:`topkit.data.stream_dataset`."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path, memory_map=False, pre_buffer=False) as file:
            rows = ParquetRows(file, self.path)
            bounds = _group_bounds(file)
            groups = np.flatnonzero((bounds[1:] > self.first) & (bounds[:-1] < self.last))
            table = file.read_row_groups(groups.tolist(), columns=rows.columns, use_threads=False)
            start = self.first - int(bounds[groups[0]])
            table = table.slice(start, len(self)).combine_chunks()
            return rows(table.to_batches()[0])


@dataclass(frozen=True)
class Plan:
    """A file and its partitions, with what is worth knowing before the features are read."""

    path: str
    partitions: tuple[Partition, ...]
    queries: int
    documents: int
    longest: int
    """Documents of the longest query."""
    features: int
    feature_names: tuple[str, ...] | None
    truth: str


def plan_partitions(path: FilePath, rows: int) -> Plan:
    """Partitions of about ``rows`` documents, cut between queries. Reads the column ``qid`` only."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rows < 1:
        raise InputError(f"a partition needs at least 1 document, not {rows}")
    try:
        with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
            reader = ParquetRows(file, path)
            starts = _query_starts(file)
            documents = file.metadata.num_rows
    except FileNotFoundError:
        raise InputError("there is no such file", "check the path", file=path) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
        raise InputError(
            f"this is not a readable Parquet file ({error})",
            "training in parts needs Parquet; topkit data convert makes it",
            file=path,
        ) from None
    if documents == 0:
        raise InputError("the table holds no documents", "write some rows", file=path)
    lengths = np.diff(np.append(starts, documents))
    wanted = np.arange(0, documents, rows)
    cuts = np.unique(starts[np.searchsorted(starts, wanted, side="right") - 1])
    file_name = fspath(path)
    return Plan(
        file_name,
        tuple(Partition(file_name, a, b) for a, b in pairwise([*cuts.tolist(), documents])),
        len(starts),
        documents,
        int(lengths.max()),
        reader.width,
        None if reader.names is None else tuple(reader.names),
        reader.truth,
    )


def _group_bounds(file: Any) -> NDArray[np.int64]:
    metadata = file.metadata
    counts = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
    return np.cumsum([0, *counts]).astype(np.int64)


def _query_starts(file: Any) -> NDArray[np.int64]:
    """The first row of every query."""
    import pyarrow as pa

    found, at, before = [], 0, None
    for batch in file.iter_batches(batch_size=1 << 18, columns=["qid"], use_threads=False):
        if not batch.num_rows:
            continue
        qid = batch.column("qid").cast(pa.string()).dictionary_encode()
        number = qid.indices.to_numpy(zero_copy_only=False)
        own = np.flatnonzero(np.diff(number, prepend=-1))
        names = qid.dictionary
        if before is not None and names[int(number[0])].as_py() == before:
            own = own[1:]
        before = names[int(number[-1])].as_py()
        found.append(own + at)
        at += batch.num_rows
    return np.concatenate(found) if found else np.zeros(0, np.int64)
