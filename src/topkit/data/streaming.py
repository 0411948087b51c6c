"""Data sets larger than memory, as a stream of smaller ones that hold whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data.dataset import Dataset, concatenate
from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks
from topkit.data.letor import FORM
from topkit.data.parquet import _facts, _from_arrow, _numeric

TEXT_BYTES = 16 << 20
"""Text of a piece of LETOR."""


def stream_dataset(path: FilePath, rows: int = 1 << 16) -> Iterator[Dataset]:
    """The queries of a file in order, in data sets of about ``rows`` documents, never fewer than a query.

    Parquet by its ending, else LETOR text (plain or gzip), where the pieces are of 16 MB of text. All pieces
    have graded truth: what labels mean is the business of whoever knows the whole. In LETOR text a piece has
    as many features as its largest index.
    """
    pieces = _parquet_pieces(path, rows) if Path(path).suffix == ".parquet" else _letor_pieces(path)
    joiner = _Joiner(path)
    for piece in pieces:
        yield from joiner.add(piece)
    yield from joiner.rest()


@dataclass
class _Joiner:
    """Holds back the last query of each piece until its end is seen."""

    path: FilePath
    held: list[Dataset] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    """Hashes of the queries that are complete: a query in two places is an error."""

    def add(self, piece: Dataset) -> Iterator[Dataset]:
        if self.held and piece.qids[0] == self.held[0].qids[0]:
            self.held.append(piece.select([0]))
            if piece.n_queries == 1:
                return
            yield self._close()
            piece = queries_between(piece, 1, piece.n_queries)
        elif self.held:
            yield self._close()
        if piece.n_queries > 1:
            whole = queries_between(piece, 0, piece.n_queries - 1)
            self._note(whole.qids)
            yield whole
        self.held = [piece.select([piece.n_queries - 1])]  # a copy, so that the rest can be let go

    def rest(self) -> Iterator[Dataset]:
        if not self.held:
            raise InputError("the file holds no documents", FORM, file=self.path)
        yield self._close()

    def _close(self) -> Dataset:
        query = self.held[0] if len(self.held) == 1 else _one_query(self.held)
        self._note(query.qids)
        return query

    def _note(self, qids: tuple[str, ...]) -> None:
        for qid in qids:
            if hash(qid) in self.seen:
                raise _apart(self.path, qid)
            self.seen.add(hash(qid))


def _check_together(path: FilePath, qids: list[str]) -> None:
    seen: set[str] = set()
    for qid in qids:
        if qid in seen:
            raise _apart(path, qid)
        seen.add(qid)


def _apart(path: FilePath, qid: str) -> InputError:
    return InputError(f"the documents of query {qid!r} do not stand together", "sort by query", file=path)


def queries_between(data: Dataset, first: int, last: int) -> Dataset:
    """Queries ``first`` to ``last`` (without it) of a data set, as views of its arrays."""
    a, b = int(data.ptr[first]), int(data.ptr[last])
    return Dataset(
        data.X[a:b],
        data.y[a:b],
        data.ptr[first : last + 1] - a,
        data.qids[first:last],
        None if data.doc_ids is None else data.doc_ids[a:b],
        data.feature_names,
        notes=None if data.notes is None else data.notes[a:b],
    )


def _one_query(parts: list[Dataset]) -> Dataset:
    """Parts of one query as one; in text, a part may have fewer features than another."""
    width = max(part.n_features for part in parts)
    wide = [widened(part, width) for part in parts]
    named = [  # different ids, so that the parts can stand beside each other for a moment
        Dataset(p.X, p.y, p.ptr, (str(i),), p.doc_ids, p.feature_names, p.truth, p.notes)
        for i, p in enumerate(wide)
    ]
    joined = concatenate(named)
    return Dataset(
        joined.X,
        joined.y,
        np.array([0, len(joined)], np.int64),
        parts[0].qids,
        joined.doc_ids,
        joined.feature_names,
        joined.truth,
        joined.notes,
    )


def widened(data: Dataset, width: int) -> Dataset:
    """The data with zeros for the last features, which LETOR text may leave out."""
    missing = width - data.n_features
    if missing <= 0:
        return data
    return data.with_features(np.hstack([data.X, np.zeros((len(data), missing), np.float32)]))


def _letor_pieces(path: FilePath) -> Iterator[Dataset]:
    from topkit.data.letor_scan import LetorScan

    def parsed(chunks: list[tuple[bytes, int]]) -> Dataset | None:
        with closing(LetorScan(path)) as scan:
            scan.file_bytes = 0  # room for these chunks only, not for the file
            for chunk, line in chunks:
                scan.add(chunk, line)
            X, y, starts, names, ids, notes = scan.finish()
        if not len(y):
            return None
        _check_together(path, names)
        return Dataset(
            X,
            y,
            np.append(starts, len(y)),
            tuple(names),
            doc_ids=ids if len(ids.blob) else None,
            notes=notes if len(notes.blob) else None,
        )

    waiting: list[tuple[bytes, int]] = []
    for chunk, line in line_chunks(path):
        waiting.append((chunk, line))
        if sum(len(text) for text, _ in waiting) >= TEXT_BYTES:
            piece, waiting = parsed(waiting), []
            if piece is not None:
                yield piece
    last = parsed(waiting) if waiting else None
    if last is not None:
        yield last


def _parquet_pieces(path: FilePath, rows: int) -> Iterator[Dataset]:
    """Batches as the file holds them; a query may go on in the next."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # not mapped and not read ahead: what is in memory is what is being worked on
        with pq.ParquetFile(path, memory_map=False, buffer_size=1 << 20, pre_buffer=False) as file:
            read = ParquetRows(file, path)
            for batch in file.iter_batches(batch_size=rows, columns=read.columns, use_threads=False):
                if batch.num_rows:
                    yield read(batch)
    except FileNotFoundError:
        raise InputError("there is no such file", "check the path", file=path) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
        raise InputError(
            f"this is not a readable Parquet file ({error})", "write it again", file=path
        ) from None


class ParquetRows:
    """Turns rows of a Parquet file of data into data sets with graded truth."""

    def __init__(self, file: Any, path: FilePath) -> None:
        schema = file.schema_arrow
        for name in ("qid", "label"):
            if name not in schema.names:
                raise InputError(f"there is no column {name!r}", "name the columns qid and label", file=path)
        facts = _facts(schema, path)
        self.path = path
        self.names: list[str] | None = facts["feature_names"] if facts else _numeric(schema)
        self.packed = facts is not None
        self.width = 0
        if not self.packed:
            self.width = len(self.names or ())
        elif "features" in schema.names:
            self.width = schema.field("features").type.byte_width // 4
        self.truth = facts["truth"] if facts else "graded"
        own = ["features"] if self.packed else self.names or []
        self.columns = [n for n in ("qid", "label", "doc_id", "note", *own) if n in schema.names]

    def __call__(self, batch: Any) -> Dataset:
        """Rows as a data set; neighbouring rows with the same query id are a query."""
        import pyarrow as pa

        qid = batch.column("qid").cast(pa.string()).dictionary_encode()
        label = batch.column("label").to_numpy(zero_copy_only=False).astype(np.float32)
        if qid.null_count or not np.isfinite(label).all():
            raise InputError("a qid or a label is missing", "fill the columns qid and label", file=self.path)
        number = qid.indices.to_numpy()
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        known = qid.dictionary.to_pylist()
        qids = [known[i] for i in number[starts]]
        _check_together(self.path, qids)
        texts = {
            key: _from_arrow(pa.chunked_array([batch.column(key)])) if key in batch.schema.names else None
            for key in ("doc_id", "note")
        }
        return Dataset(
            self._matrix(batch),
            label,
            np.append(starts, len(label)),
            tuple(qids),
            doc_ids=texts["doc_id"],
            feature_names=None if self.names is None else tuple(self.names),
            notes=texts["note"],
        )

    def _matrix(self, batch: Any) -> NDArray[np.float32]:
        X = np.empty((batch.num_rows, self.width), np.float32)
        if not self.packed:
            for j, name in enumerate(self.names or ()):
                X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        elif self.width:
            column = batch.column("features")
            rows = np.frombuffer(column.buffers()[1], "<f4").reshape(-1, self.width)
            X[:] = rows[column.offset : column.offset + len(column)]
        return X
