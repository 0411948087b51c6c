"""Drives the compiled scanner of TREC runs, on both halves of a chunk at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks
from topkit.data.kernels import statuses
from topkit.data.kernels.runs import first_repeat
from topkit.data.kernels.runs import scan_run as scan_run_text
from topkit.data.strings import Strings
from topkit.data.trec import FORM, Scanned, bad_score

WORTH_SPLITTING = 1 << 19
SHORTEST_ROW = len("q 0 d 1 2 t\n")


class _Piece(NamedTuple):
    """The rows of some whole lines; ``lines`` counts from the first of them."""

    names: list[str]
    starts: NDArray[np.int64]
    docs: Strings
    scores: NDArray[np.float64]
    lines: NDArray[np.int64]
    line_count: int
    problem: InputError | None


def scan_run(path: FilePath) -> Scanned[Strings]:
    """Queries, starts, documents, scores and line numbers of the rows of a run."""
    names: list[str] = []
    starts: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    docs: list[Strings] = []
    scores: list[NDArray[np.float64]] = [np.zeros(0)]
    lines: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    rows = 0
    with ThreadPoolExecutor(2) as pool:
        for chunk, line in line_chunks(path):
            for piece in pool.map(lambda half: _scan(half, path), _halves(chunk)):
                if piece.problem is not None:
                    raise InputError(
                        piece.problem.problem, FORM, file=path, line=line + (piece.problem.line or 0)
                    )
                goes_on = int(bool(names) and names[-1:] == piece.names[:1])  # the query before the cut
                names += piece.names[goes_on:]
                starts.append(piece.starts[goes_on:] + rows)
                docs.append(piece.docs)
                scores.append(piece.scores)
                lines.append(piece.lines + line)
                rows += len(piece.scores)
                line += piece.line_count
    whole = Strings.concatenate(docs)
    return names, np.concatenate(starts), whole, np.concatenate(scores), np.concatenate(lines)


def repeated_row(docs: Strings, ptr: NDArray[np.int64], scattered: NDArray[np.int64]) -> int:
    """The first row whose document an earlier row of its query has too, or −1; see :func:`first_repeat`."""
    middle = 0 if len(scattered) else len(ptr) // 2
    halves = [ptr[: middle + 1], ptr[middle:]] if middle else [ptr]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda half: int(first_repeat(docs.blob, docs.offsets[1:], half, scattered)), halves)
        return next((row for row in found if row >= 0), -1)


def _halves(chunk: bytes) -> list[memoryview]:
    whole = memoryview(chunk)
    if len(chunk) < WORTH_SPLITTING:
        return [whole]
    middle = chunk.index(b"\n", len(chunk) // 2) + 1
    return [whole[:middle], whole[middle:]] if middle < len(chunk) else [whole]


def _scan(chunk: memoryview, path: FilePath) -> _Piece:
    text = np.frombuffer(chunk, np.uint8)
    size = len(chunk) // SHORTEST_ROW + 1  # more than there can be; what is not written to costs nothing
    scores, lines = np.empty(size), np.empty(size, np.int64)
    starts, spans = np.empty(size, np.int64), np.empty((size, 2), np.int64)
    blob, ends = np.empty(len(text), np.uint8), np.zeros(size + 1, np.int64)
    hard = np.empty((64, 4), np.int64)
    while True:
        status, line, rows, queries, hards, where = scan_run_text(
            text, scores, lines, starts, spans, blob, ends[1:], hard
        )
        if status != statuses.MORE_EXACT:
            break
        hard = np.empty((8 * len(hard), 4), np.int64)
    problem = None
    if status == statuses.FEW_FIELDS:
        fields = len(bytes(chunk[:where]).rsplit(b"\n", 1)[-1].split())
        count = "1 field" if fields == 1 else f"{fields} fields"
        problem = InputError(f"{count} where 6 belong", line=line)
    elif status == statuses.BAD_SCORE:
        problem = bad_score(path, line, bytes(chunk[where : where + 60]).split()[0])
    for row, _, first, last in hard[:hards].tolist():
        text_of_score = bytes(chunk[first:last])
        scores[row] = float(text_of_score)
        if np.isinf(scores[row]) and problem is None:
            problem = bad_score(path, int(lines[row]), text_of_score)
    return _Piece(
        [str(chunk[a:b], "utf-8", "surrogateescape") for a, b in spans[:queries].tolist()],
        starts[:queries],
        Strings(blob[: ends[rows]], ends[: rows + 1]),
        scores[:rows],
        lines[:rows],
        line,
        problem,
    )
