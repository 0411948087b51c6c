"""The rows of a TREC run, by a compiled scanner on several threads, or without Numba."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import query_chunks, thread_count, thread_map
from topkit.data import kernels
from topkit.data.columns import Layout, changes, columns_of, decoded, field_count, first_repeated
from topkit.data.errors import InputError
from topkit.data.files import NUMBER, FilePath, shown
from topkit.data.strings import Strings

FORM = "lines look like '151 Q0 WSJ870428-0145 1 0.97 mysystem'"
FIELDS = 6
MSMARCO_FORM = "lines of MS MARCO look like '1048585 7187158 1': query, document, rank"
MSMARCO_FIELDS = 3

WORTH_SPLITTING = 1 << 19
"""Bytes that justify two threads; a small run is scanned before a thread has started."""
SHORTEST_ROW = len("q 0 d 1 2 t\n")
EXACT_ROWS = 64
"""Room for scores that Python must round, per piece; it grows eightfold when it does not suffice."""


class RunRows(NamedTuple):
    """The rows of a run; the block of query ``qids[i]`` starts at row ``starts[i]``.

    A query whose rows are not contiguous has several blocks.
    """

    qids: list[str]
    starts: NDArray[np.int64]
    docs: Strings
    scores: NDArray[np.float64]
    lines: NDArray[np.int64]
    """The line number of each row."""


# -- compiled ----------------------------------------------------------------------------------------------
class _Piece(NamedTuple):
    """The rows of some whole lines, which count from 0, and the first error, if any."""

    rows: RunRows
    line_count: int
    problem: InputError | None


Chunks = Iterable[tuple[bytes, int]]
"""Whole lines, each chunk with the number of its first line: :func:`topkit.data.files.line_chunks`."""


def scan_run(chunks: Chunks, path: FilePath) -> RunRows:
    """The rows of a run, with the compiled scanner."""
    qids: list[str] = []
    starts: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    docs: list[Strings] = []
    scores: list[NDArray[np.float64]] = [np.zeros(0)]
    lines: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    row_count = 0
    for chunk, line in chunks:
        for rows, line_count, problem in thread_map(lambda piece: _scan(piece, path), _pieces(chunk)):
            if problem is not None:
                raise InputError(problem.problem, FORM, file=path, line=line + (problem.line or 0))
            continued = int(
                bool(qids) and qids[-1:] == rows.qids[:1]
            )  # the query continues from the last piece
            qids += rows.qids[continued:]
            starts.append(rows.starts[continued:] + row_count)
            docs.append(rows.docs)
            scores.append(rows.scores)
            lines.append(rows.lines + line)
            row_count += len(rows.scores)
            line += line_count
    return RunRows(
        qids,
        np.concatenate(starts),
        Strings.concatenate(docs),
        np.concatenate(scores),
        np.concatenate(lines),
    )


def first_repeat(rows: RunRows, query_of: NDArray[np.int64]) -> int:
    """The first row whose document also occurs in an earlier row of its query, or −1.

    ``query_of`` is the query of each block if a query may have several blocks, else empty.
    """
    from topkit.data.kernels import runs as kernel

    starts = np.append(rows.starts, len(rows.scores))
    chunks = [(0, len(rows.starts))] if len(query_of) else query_chunks(starts)
    ends = rows.docs.offsets[1:]
    repeats = thread_map(
        lambda chunk: kernel.first_repeat(rows.docs.blob, ends, starts[chunk[0] : chunk[1] + 1], query_of),
        chunks,
    )
    return next((int(row) for row in repeats if row >= 0), -1)


def _pieces(chunk: bytes) -> list[memoryview]:
    """The chunk in pieces of whole lines, one per thread."""
    count = min(thread_count(), max(1, 2 * len(chunk) // WORTH_SPLITTING))
    cuts = {chunk.index(b"\n", len(chunk) * i // count) + 1 for i in range(1, count)}
    view = memoryview(chunk)
    return [view[a:b] for a, b in pairwise(sorted({0, *cuts, len(chunk)}))]


def _scan(chunk: memoryview, path: FilePath) -> _Piece:
    from topkit.data.kernels import runs as kernel  # here, because importing Numba takes time

    text = np.frombuffer(chunk, np.uint8)
    size = len(chunk) // SHORTEST_ROW + 1  # an upper limit; memory that is not written to costs nothing
    scores, lines = np.empty(size), np.empty(size, np.int64)
    starts, spans = np.empty(size, np.int64), np.empty((size, 2), np.int64)
    blob, ends = np.empty(len(text), np.uint8), np.zeros(size + 1, np.int64)
    exact = np.empty((EXACT_ROWS, 4), np.int64)
    while True:
        status, line, rows, queries, marked, where = kernel.scan_run(
            text, scores, lines, starts, spans, blob, ends[1:], exact
        )
        if status != kernels.MORE_NOTED:
            break
        exact = np.empty((8 * len(exact), 4), np.int64)
    problem = None
    if status == kernels.FEW_FIELDS:
        fields = len(bytes(chunk[:where]).rsplit(b"\n", 1)[-1].split())
        problem = InputError(field_count(FIELDS, fields), line=line)
    elif status == kernels.BAD_SCORE:
        problem = _bad_score(path, line, bytes(chunk[where : where + 60]).split()[0])
    for row, _, first, last in exact[:marked].tolist():
        score = bytes(chunk[first:last])
        scores[row] = float(score)
        if np.isinf(scores[row]) and problem is None:
            problem = _bad_score(path, int(lines[row]), score)
    return _Piece(
        RunRows(
            [str(chunk[a:b], "utf-8", "surrogateescape") for a, b in spans[:queries].tolist()],
            starts[:queries],
            Strings(blob[: ends[rows]], ends[: rows + 1]),
            scores[:rows],
            lines[:rows],
        ),
        line,
        problem,
    )


# -- plain -------------------------------------------------------------------------------------------------
def scan_run_plainly(chunks: Chunks, path: FilePath) -> RunRows:
    """The rows of a run, without the compiled scanner."""
    (queries, docs, texts), lines = columns_of(chunks, path, Layout(FIELDS, FORM, more=True), (0, 2, 4))
    # Python's float takes more than a number (1_0, inf), so the characters are checked first.
    plain = not b"".join(texts).translate(None, b"0123456789+-.eE")
    try:
        scores = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        plain = False
    if not plain or np.isinf(scores).any():
        row = next(i for i, text in enumerate(texts) if not NUMBER.fullmatch(text) or np.isinf(float(text)))
        raise _bad_score(path, int(lines[row]), texts[row])
    return _rows(queries, docs, scores, lines)


def _rows(
    queries: list[bytes], docs: list[bytes], scores: NDArray[np.float64], lines: NDArray[np.int64]
) -> RunRows:
    starts = changes(queries)
    qids = decoded([queries[i] for i in starts])
    return RunRows(qids, np.array(starts, np.int64), Strings.of_bytes(docs), scores, lines)


def scan_msmarco(chunks: Chunks, path: FilePath) -> RunRows:
    """The rows of a run of MS MARCO, ``query document rank``; the score is −rank."""
    (queries, docs, texts), lines = columns_of(chunks, path, Layout(MSMARCO_FIELDS, MSMARCO_FORM), (0, 1, 2))
    for row, text in enumerate(texts):
        if not text.isdigit():
            problem = f"expected a rank, a whole number, got {shown(text)!r}"
            raise InputError(problem, MSMARCO_FORM, file=path, line=int(lines[row]))
    return _rows(queries, docs, -np.array(texts, np.float64), lines)


def first_repeat_plainly(rows: RunRows, query_of: NDArray[np.int64]) -> int:
    """The same as :func:`first_repeat`, without Numba."""
    docs = rows.docs.tobytes()
    bounds = [*rows.starts.tolist(), len(docs)]
    if not len(query_of) and all(len(set(docs[a:b])) == b - a for a, b in pairwise(bounds)):
        return -1
    queries = query_of if len(query_of) else np.arange(len(rows.starts))
    return first_repeated(zip(np.repeat(queries, np.diff(bounds)).tolist(), docs, strict=True))


def _bad_score(path: FilePath, line: int, text: bytes) -> InputError:
    return InputError(f"the score {shown(text)!r} is not a finite number", FORM, file=path, line=line)
