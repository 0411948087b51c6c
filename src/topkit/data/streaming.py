"""Data sets larger than memory, as a stream of smaller ones that contain whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from topkit.data.arrays import check_contiguous
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks
from topkit.data.join import concatenate
from topkit.data.letor import dataset_of_rows
from topkit.data.letor_scan import FORM, LetorScan
from topkit.data.parquet import ParquetRows, opened_parquet
from topkit.data.truth import GRADED

TEXT_BYTES = 16 << 20
"""Bytes of LETOR text per piece: about 10,000 documents of 136 features, and four chunks for four threads."""
SORT = "sort by query"


def stream_dataset(path: FilePath, rows: int = 1 << 16) -> Iterator[Dataset]:
    """The queries of a file in order, in data sets of about ``rows`` documents and at least one query.

    A file that ends in ``.parquet`` is Parquet; any other is LETOR text (plain or gzip), in pieces of 16 MB.
    All pieces have graded truth, because a piece does not show what the labels of the whole file mean. A
    piece of LETOR text has as many features as its largest index.
    """
    pieces = _parquet_pieces(path, rows) if Path(path).suffix == ".parquet" else _letor_pieces(path)
    joiner = _Joiner(path)
    for piece in pieces:
        yield from joiner.add(piece)
    yield from joiner.rest()


@dataclass
class _Joiner:
    """Holds back the last query of each piece, because it may continue in the next."""

    path: FilePath
    held: list[Dataset] = field(default_factory=list)
    complete: set[int] = field(default_factory=set)
    """Hashes of the queries that are complete: if one occurs again, its rows are not contiguous."""

    def add(self, piece: Dataset) -> Iterator[Dataset]:
        if self.held and piece.qids[0] == self.held[0].qids[0]:
            self.held.append(piece.select([0]))
            if piece.n_queries == 1:
                return
            yield self._finish_held()
            piece = queries_between(piece, 1, piece.n_queries)
        elif self.held:
            yield self._finish_held()
        if piece.n_queries > 1:
            whole = queries_between(piece, 0, piece.n_queries - 1)
            self._note(whole.qids)
            yield whole
        self.held = [piece.select([piece.n_queries - 1])]  # a copy, so that the piece can be freed

    def rest(self) -> Iterator[Dataset]:
        if not self.held:
            raise InputError("the file has no documents", FORM, file=self.path)
        yield self._finish_held()

    def _finish_held(self) -> Dataset:
        query = self.held[0] if len(self.held) == 1 else _joined_query(self.held)
        self._note(query.qids)
        return query

    def _note(self, qids: tuple[str, ...]) -> None:
        for qid in qids:
            if hash(qid) in self.complete:
                check_contiguous((qid, qid), SORT, file=self.path)
            self.complete.add(hash(qid))


def queries_between(data: Dataset, first: int, last: int) -> Dataset:
    """Queries ``first`` to ``last`` (exclusive) of a data set with graded truth, as views of its arrays."""
    start, stop = int(data.ptr[first]), int(data.ptr[last])
    return replace(
        data,
        X=data.X[start:stop],
        y=data.y[start:stop],
        ptr=data.ptr[first : last + 1] - start,
        qids=data.qids[first:last],
        doc_ids=None if data.doc_ids is None else data.doc_ids[start:stop],
        truth=GRADED,
        notes=None if data.notes is None else data.notes[start:stop],
    )


def _joined_query(parts: list[Dataset]) -> Dataset:
    """One query from its parts; in text, a part may have fewer features than another."""
    width = max(part.n_features for part in parts)
    # concatenate needs different ids
    renamed = [replace(widened(part, width), qids=(str(i),)) for i, part in enumerate(parts)]
    joined = concatenate(renamed)
    return replace(joined, ptr=np.array([0, len(joined)], np.int64), qids=parts[0].qids)


def widened(data: Dataset, width: int) -> Dataset:
    """The data with zeros for the last features, which LETOR text may leave out."""
    missing = width - data.n_features
    if missing <= 0:
        return data
    return data.with_features(np.hstack([data.X, np.zeros((len(data), missing), np.float32)]))


def _letor_pieces(path: FilePath) -> Iterator[Dataset]:
    waiting: list[tuple[bytes, int]] = []
    for chunk, line in line_chunks(path):
        waiting.append((chunk, line))
        if sum(len(text) for text, _ in waiting) >= TEXT_BYTES:
            yield from _parsed(path, waiting)
            waiting = []
    yield from _parsed(path, waiting)


def _parsed(path: FilePath, chunks: list[tuple[bytes, int]]) -> Iterator[Dataset]:
    """The documents of some chunks as a data set; nothing if there are none."""
    with closing(LetorScan(path)) as scan:
        for chunk, line in chunks:
            scan.add(chunk, line)
        rows = scan.finish()
    if len(rows.y):
        check_contiguous(rows.qids, SORT, file=path)
        yield dataset_of_rows(rows)


def _parquet_pieces(path: FilePath, rows: int) -> Iterator[Dataset]:
    """Batches of the file; a query may continue in the next."""
    # neither mapped nor read ahead, so that only the current batch is in memory
    with opened_parquet(path, memory_map=False, buffer_size=1 << 20, pre_buffer=False) as file:
        convert = ParquetRows(file, path)
        first_row = 0
        for batch in file.iter_batches(batch_size=rows, columns=convert.columns, use_threads=False):
            if batch.num_rows:
                yield convert(batch, first_row)
            first_row += batch.num_rows
