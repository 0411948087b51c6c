"""Drives the compiled LETOR scanner: chunks side by side, straight into the arrays that are returned."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.data.files import FilePath, count_lines, is_gzip
from topkit.data.kernels import statuses
from topkit.data.kernels.letor import scan_letor
from topkit.data.letor import FLOAT32_LIMIT, FORM, Parts, bad_label, no_query
from topkit.data.strings import Strings

MAX_FEATURES = 100_000
SPARSE_BYTES, SPARSE_RATIO = 1 << 30, 50
"""A matrix above the first size that is this many times the text would be nearly all zeros."""


class _Job(NamedTuple):
    """Whole lines to scan into the rows from ``at`` on; ``size`` rows at most."""

    text: NDArray[np.uint8]
    first_line: int
    at: int
    size: int


class _Piece(NamedTuple):
    """What the scanner found in the lines of a job."""

    status: int
    lines: int
    rows: int
    where: int
    query_starts: NDArray[np.int64]
    qids: list[str]
    ids: Strings
    notes: Strings


class LetorScan:
    """Collects the rows of a file, a few chunks at a time on their own threads.

    Memory stays near that of the arrays returned: nothing is parsed into intermediate objects, and the matrix
    is laid out once, at the size that the first chunk foretells. What is read never depends on the threads.
    """

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.X = np.empty((0, 0), np.float32)
        self.y = np.empty(0, np.float32)
        self.rows = 0
        self.reserved = 0
        self.text_bytes = 0
        self.starts: list[int] = []
        self.qids: list[str] = []
        self.ids: list[Strings] = []
        self.notes: list[Strings] = []
        self.file_bytes = 0 if is_gzip(path) else os.path.getsize(path)
        self.threads = (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
        self.pool = ThreadPoolExecutor(self.threads)
        self.waiting: deque[tuple[_Job, Future[_Piece]]] = deque()

    def add(self, chunk: bytes, first_line: int) -> None:
        """Scan one chunk of whole lines, soon."""
        self.text_bytes += len(chunk)
        size = count_lines(chunk)
        if self.X.shape[1] == 0:
            self._widen(_features_of_first_line(chunk))
        if self.reserved + size > len(self.y):
            self._grow(size, len(chunk))
        job = _Job(np.frombuffer(chunk, np.uint8), first_line, self.reserved, size)
        self.reserved += size
        self.waiting.append((job, self.pool.submit(self._scan, job)))
        while len(self.waiting) > self.threads:
            self._collect()

    def close(self) -> None:
        """Let the threads go."""
        self.pool.shutdown(cancel_futures=True)

    def finish(self) -> Parts:
        """The arrays, trimmed to what was read."""
        while self.waiting:
            self._collect()
        self.X.resize((self.rows, self.X.shape[1]), refcheck=False)
        self.y.resize(self.rows, refcheck=False)
        if not np.isfinite(self.y).all():
            raise InputError(
                "a label is too large for a 32-bit float", "use labels below 1e38", file=self.path
            )
        starts = np.array(self.starts, np.int64)
        ids, notes = Strings.concatenate(self.ids), Strings.concatenate(self.notes)
        return self.X, self.y, starts, self.qids, ids, notes

    def _collect(self) -> None:
        """Take over the result of the oldest job."""
        job, future = self.waiting.popleft()
        piece = future.result()
        while piece.status == statuses.MORE_FEATURES:
            line = job.first_line + piece.lines
            self._widen(_index_at(job.text, piece.where, self.path, line))
            piece = self._scan(job)
        if piece.status != statuses.OK:
            self._explain(job.text, piece, job.first_line)
        self._append(job.at, piece)

    def _scan(self, job: _Job) -> _Piece:
        text, _, at, size = job
        starts, spans = np.empty(size, np.int64), np.empty((size, 2), np.int64)
        ids, notes = np.empty(len(text), np.uint8), np.empty(len(text), np.uint8)
        ends = np.zeros((2, size + 1), np.int64)
        hard = np.empty((64, 4), np.int64)
        X, y = self.X[at : at + size], self.y[at : at + size]
        while True:
            status, lines, rows, queries, hards, where = scan_letor(
                text, X, y, starts, spans, ids, ends[0, 1:], notes, ends[1, 1:], hard
            )
            if status != statuses.MORE_EXACT:
                break
            hard = np.empty((4 * len(hard), 4), np.int64)
        for row, column, first, last in hard[:hards].tolist():
            value = float(text[first:last].tobytes())
            if abs(value) >= FLOAT32_LIMIT:
                return _failed(statuses.BAD_VALUE if column >= 0 else statuses.BAD_LABEL, text, first)
            if column < 0:
                y[row] = value
            else:
                X[row, column] = value
        return _Piece(
            status,
            lines,
            rows,
            where,
            starts[:queries],
            [text[a:b].tobytes().decode("utf-8", "surrogateescape") for a, b in spans[:queries].tolist()],
            Strings(ids[: ends[0, rows]].copy(), ends[0, : rows + 1].copy()),
            Strings(notes[: ends[1, rows]].copy(), ends[1, : rows + 1].copy()),
        )

    def _append(self, at: int, piece: _Piece) -> None:
        if at != self.rows:  # blank lines before this piece left a gap
            self.X[self.rows : self.rows + piece.rows] = self.X[at : at + piece.rows]
            self.y[self.rows : self.rows + piece.rows] = self.y[at : at + piece.rows]
        for start, qid in zip(piece.query_starts.tolist(), piece.qids, strict=True):
            if not self.qids or self.qids[-1] != qid:
                self.starts.append(self.rows + start)
                self.qids.append(qid)
        self.ids.append(piece.ids)
        self.notes.append(piece.notes)
        self.rows += piece.rows

    def _grow(self, rows: int, chunk_bytes: int) -> None:
        while self.waiting:  # nobody may write while the arrays move
            self._collect()
        if self.rows == 0:
            expected = int(rows * 1.05 * max(self.file_bytes, chunk_bytes) / chunk_bytes) + 16
        else:
            expected = self.rows + rows + len(self.y) // 2
        self.reserved = self.rows
        self._check_size(expected, self.X.shape[1])
        if self.rows == 0:
            self.X, self.y = np.empty((expected, self.X.shape[1]), np.float32), np.empty(expected, np.float32)
        else:
            self.X.resize((expected, self.X.shape[1]), refcheck=False)
            self.y.resize(expected, refcheck=False)

    def _widen(self, features: int) -> None:
        self._check_size(len(self.y), features)
        wait(future for _, future in self.waiting)
        wider = np.empty((len(self.y), features), np.float32)
        wider[: self.rows, : self.X.shape[1]] = self.X[: self.rows]
        wider[: self.rows, self.X.shape[1] :] = 0
        self.X = wider
        self.waiting = deque((job, self.pool.submit(self._scan, job)) for job, _ in self.waiting)

    def _check_size(self, rows: int, features: int) -> None:
        size = 4 * rows * features
        if size > SPARSE_BYTES and size > SPARSE_RATIO * max(self.text_bytes, self.file_bytes):
            raise InputError(
                f"{features} features of {rows} documents would take {size / 2**30:.0f} GB, mostly zeros",
                "renumber the features that are used as 1, 2, 3, …",
                file=self.path,
            )

    def _explain(self, text: NDArray[np.uint8], piece: _Piece, first_line: int) -> NoReturn:
        line = first_line + piece.lines
        word = (text[piece.where : piece.where + 60].tobytes().split() or [b""])[0]
        shown = word[:40].decode("utf-8", "replace")
        if piece.status == statuses.BAD_LABEL:
            bad_label(self.path, line, word)
        if piece.status == statuses.NO_QUERY:
            no_query(self.path, line)
        problem, remedy = {
            statuses.BAD_PAIR: (f"{shown!r} is not of the form index:value", FORM),
            statuses.BAD_INDEX: ("the feature index is 0", "count features from 1"),
            statuses.UNSORTED: (
                f"the feature {shown!r} comes after a larger or equal index",
                "sort each line's features",
            ),
            statuses.BAD_VALUE: (
                f"the feature value {shown!r} is not a 32-bit number",
                "write a number or NULL",
            ),
        }[piece.status]
        raise InputError(problem, remedy, file=self.path, line=line)


def _failed(status: int, text: NDArray[np.uint8], where: int) -> _Piece:
    lines = text[:where].tobytes().count(b"\n")
    nothing = Strings.of([])
    return _Piece(status, lines, 0, where, np.zeros(0, np.int64), [], nothing, nothing)


def _features_of_first_line(chunk: bytes) -> int:
    """A guess at the number of features; the scanner asks for more when it meets more."""
    for text in chunk[: 1 << 20].split(b"\n"):
        body = text.partition(b"#")[0].split()
        if body:
            index = body[-1].partition(b":")[0]
            return int(index) if index.isdigit() and len(index) < 6 else 0
    return 0


def _index_at(text: NDArray[np.uint8], where: int, path: FilePath, line: int) -> int:
    index = text[where : where + 40].tobytes().partition(b":")[0]
    if len(index) > 6 or int(index) > MAX_FEATURES:
        problem = f"the feature index {index.decode('ascii', 'replace')} is above the limit of {MAX_FEATURES}"
        raise InputError(problem, "number the features 1, 2, 3, …", file=path, line=line)
    return int(index)
