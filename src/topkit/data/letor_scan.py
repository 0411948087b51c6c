"""The rows of LETOR text, by a compiled scanner on several threads."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_count
from topkit.data import kernels
from topkit.data.blocks import file_size, is_compressed
from topkit.data.errors import InputError
from topkit.data.files import FLOAT32_LIMIT, NUMBER, FilePath, count_lines, shown
from topkit.data.strings import Strings

if TYPE_CHECKING:
    from concurrent.futures import Future

FORM = "lines look like '2 qid:10 1:0.5 2:0.1 # docid = D7'"

MAX_FEATURES = 100_000
"""The matrix is dense; public data sets have at most 700 features, so a larger index is a mistake."""
SPARSE_BYTES, SPARSE_RATIO = 1 << 30, 50
"""A matrix above this size that is this many times larger than the text would be nearly all zeros."""
ROOM = 1.05
"""The matrix is allocated for this many times the rows that the first chunk predicts."""
NOTED_FIELDS = 1024
"""Room for fields that are left to Python, per chunk; it grows fourfold when it does not suffice."""


class Rows(NamedTuple):
    """The rows of LETOR text; ``qids[i]`` starts at row ``starts[i]``, and an id may occur more than once."""

    X: NDArray[np.float32]
    y: NDArray[np.float32]
    starts: NDArray[np.int64]
    qids: list[str]
    ids: Strings
    notes: Strings


class _Job(NamedTuple):
    """Whole lines to scan into the rows from ``first_row`` on; ``size`` rows at most."""

    text: NDArray[np.uint8]
    first_line: int
    first_row: int
    size: int


class _Piece(NamedTuple):
    """The result of a job: its rows, or the status, line and position of a failure."""

    status: int
    lines: int
    rows: int
    where: int
    query_starts: NDArray[np.int64]
    qids: list[str]
    ids: Strings
    notes: Strings


class LetorScan:
    """Collects the rows of a file, a few chunks at a time on as many threads.

    Memory stays near that of the arrays returned: nothing is parsed into intermediate objects, and the matrix
    is allocated once, for the number of rows that the first chunk predicts. The rows do not depend on the
    number of threads. ``file_bytes`` is the size of the text if it is known, else 0.
    """

    def __init__(self, path: FilePath, file_bytes: int = 0) -> None:
        from concurrent.futures import ThreadPoolExecutor  # here, because these are slow to import

        from topkit.data.kernels.letor import largest_index, scan_letor

        self.scan_letor = scan_letor
        self.largest_index = largest_index
        self.path = path
        self.file_bytes = file_bytes
        self.X = np.empty((0, 0), np.float32)
        self.y = np.empty(0, np.float32)
        self.rows = 0
        self.reserved = 0
        self.text_bytes = 0
        self.starts: list[int] = []
        self.qids: list[str] = []
        self.ids: list[Strings] = []
        self.notes: list[Strings] = []
        self.noted_fields = NOTED_FIELDS
        self.threads = thread_count()
        self.pool = ThreadPoolExecutor(self.threads)
        self.waiting: deque[tuple[_Job, Future[_Piece]]] = deque()

    def add(self, chunk: bytes, first_line: int) -> None:
        """Start to scan a chunk of whole lines."""
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
        """Stop the threads."""
        self.pool.shutdown(cancel_futures=True)

    def finish(self) -> Rows:
        """The rows of all chunks."""
        while self.waiting:
            self._collect()
        self.X.resize((self.rows, self.X.shape[1]), refcheck=False)
        self.y.resize(self.rows, refcheck=False)
        starts = np.array(self.starts, np.int64)
        ids, notes = Strings.concatenate(self.ids), Strings.concatenate(self.notes)
        return Rows(self.X, self.y, starts, self.qids, ids, notes)

    def _collect(self) -> None:
        """Add the result of the oldest job to the rows."""
        job, future = self.waiting.popleft()
        piece = future.result()
        while piece.status == kernels.MORE_FEATURES:
            line = job.first_line + piece.lines
            index = _index_at(job.text, piece.where, self.path, line)
            # To the largest index of all chunks at hand: one step per index would be cubic if they rise.
            texts = [job.text, *(waiting.text for waiting, _ in self.waiting)]
            self._widen(max(index, *(self.largest_index(text, MAX_FEATURES) for text in texts)))
            piece = self._scan(job)
        if piece.status != kernels.OK:
            word = (job.text[piece.where : piece.where + 60].tobytes().split() or [b""])[0]
            raise line_error(self.path, job.first_line + piece.lines, piece.status, word)
        self._append(job.first_row, piece)

    def _scan(self, job: _Job) -> _Piece:
        text, _, first_row, size = job
        starts, spans = np.empty(size, np.int64), np.empty((size, 2), np.int64)
        ids, notes = np.empty(len(text), np.uint8), np.empty(len(text), np.uint8)
        ends = np.zeros((2, size + 1), np.int64)
        X, y = self.X[first_row : first_row + size], self.y[first_row : first_row + size]
        while True:
            noted = np.empty((self.noted_fields, 4), np.int64)
            status, lines, rows, queries, marked, where = self.scan_letor(
                text, X, y, starts, spans, ids, ends[0, 1:], notes, ends[1, 1:], noted
            )
            if status != kernels.MORE_NOTED:
                break
            self.noted_fields = 4 * len(noted)
        invalid = _read_noted(text, noted[:marked], X, y)
        if invalid is not None:
            return invalid
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

    def _append(self, first_row: int, piece: _Piece) -> None:
        if first_row != self.rows:  # blank lines in earlier chunks left a gap
            self.X[self.rows : self.rows + piece.rows] = self.X[first_row : first_row + piece.rows]
            self.y[self.rows : self.rows + piece.rows] = self.y[first_row : first_row + piece.rows]
        for start, qid in zip(piece.query_starts.tolist(), piece.qids, strict=True):
            if not self.qids or self.qids[-1] != qid:
                self.starts.append(self.rows + start)
                self.qids.append(qid)
        self.ids.append(piece.ids)
        self.notes.append(piece.notes)
        self.rows += piece.rows

    def _grow(self, rows: int, chunk_bytes: int) -> None:
        while self.waiting:  # no thread may write while the arrays move
            self._collect()
        if self.rows == 0:
            expected = int(rows * ROOM * max(self.file_bytes, chunk_bytes) / chunk_bytes) + 16
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
        for _, future in self.waiting:
            future.exception()  # waits until the job is done
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


def text_size(path: FilePath) -> int:
    """The size of the text in a file, or 0 if it is not known: the file is compressed or a pipe."""
    size = file_size(path)
    return 0 if size == 0 or is_compressed(path) else size


def _read_noted(
    text: NDArray[np.uint8], noted: NDArray[np.int64], X: NDArray[np.float32], y: NDArray[np.float32]
) -> _Piece | None:
    """Fill in the labels and values that the scanner noted; the failure if one of them is invalid."""
    rows, columns, first, last = noted.T
    missing = _missing(text, first, last) & (columns >= 0)
    X[rows[missing], columns[missing]] = np.nan
    for row, column, start, stop in noted[~missing].tolist():
        field = text[start:stop].tobytes()
        value = float(field) if NUMBER.fullmatch(field) else np.inf
        if abs(value) >= FLOAT32_LIMIT:
            return _failed(kernels.BAD_VALUE if column >= 0 else kernels.BAD_LABEL, text, start)
        if column < 0:
            y[row] = value
        else:
            X[row, column] = value
    return None


def _missing(text: NDArray[np.uint8], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which fields are NULL or NaN in any case."""
    missing = np.zeros(len(first), np.bool_)
    for word in (b"null", b"nan"):
        fields = np.flatnonzero(last - first == len(word))
        letters = text[first[fields, None] + np.arange(len(word))] | 32
        missing[fields] |= (letters == np.frombuffer(word, np.uint8)).all(axis=1)
    return missing


def _failed(status: int, text: NDArray[np.uint8], where: int) -> _Piece:
    lines = text[:where].tobytes().count(b"\n")
    empty = Strings.of([])
    return _Piece(status, lines, 0, where, np.zeros(0, np.int64), [], empty, empty)


def _features_of_first_line(chunk: bytes) -> int:
    """A guess at the number of features; the scanner asks for more columns when it meets a larger index."""
    for text in chunk[: 1 << 20].split(b"\n"):
        body = text.partition(b"#")[0].split()
        if body:
            index = body[-1].partition(b":")[0]
            return int(index) if index.isdigit() and len(index) < 6 else 0
    return 0


def _index_at(text: NDArray[np.uint8], where: int, path: FilePath, line: int) -> int:
    index = text[where : where + 40].tobytes().partition(b":")[0]
    if len(index) > 6 or int(index) > MAX_FEATURES:
        problem = f"the feature index {shown(index)} is above the limit of {MAX_FEATURES}"
        raise InputError(problem, "number the features 1, 2, 3, …", file=path, line=line)
    return int(index)


def line_error(path: FilePath, line: int, status: int, word: bytes) -> InputError:
    """The error for what a scanner met at a line."""
    text = repr(shown(word))
    problem, remedy = {
        kernels.BAD_LABEL: (f"the label {text} is not a 32-bit number", FORM),
        kernels.NO_QUERY: ("expected 'qid:ID' after the label", FORM),
        kernels.BAD_PAIR: (f"expected index:value, got {text}", FORM),
        kernels.BAD_INDEX: ("the feature index is 0", "count features from 1"),
        kernels.UNSORTED: (
            f"the feature {text} follows a larger or equal index",
            "sort the features of each line",
        ),
        kernels.BAD_VALUE: (f"the feature value {text} is not a 32-bit number", "write a number or NULL"),
    }[status]
    return InputError(problem, remedy, file=path, line=line)
