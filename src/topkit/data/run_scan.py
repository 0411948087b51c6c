"""Drives the compiled scanner of TREC runs."""

from __future__ import annotations

import numpy as np

from topkit.data import kernels
from topkit.data.errors import InputError
from topkit.data.files import FilePath, count_lines, line_chunks
from topkit.data.strings import Strings
from topkit.data.trec import FORM, Scanned, bad_score


def scan_run(path: FilePath) -> Scanned:
    """Queries, starts, documents, scores and line numbers of the rows of a run."""
    names: list[str] = []
    starts = []
    docs = []
    scores = []
    lines = []
    rows_before = 0
    for chunk, first_line in line_chunks(path):
        text = np.frombuffer(chunk, np.uint8)
        size = count_lines(chunk)
        own_scores, row_lines = np.empty(size), np.empty(size, np.int64)
        own_starts, spans = np.empty(size, np.int64), np.empty((size, 2), np.int64)
        blob, ends = np.empty(len(text), np.uint8), np.zeros(size + 1, np.int64)
        hard = np.empty((64, 4), np.int64)
        while True:
            status, line, rows, queries, hards, where = kernels.scan_run(
                text, own_scores, row_lines, own_starts, spans, blob, ends[1:], hard
            )
            if status != kernels.MORE_EXACT:
                break
            hard = np.empty((8 * len(hard), 4), np.int64)
        if status == kernels.FEW_FIELDS:
            fields = len(chunk[chunk.rfind(b"\n", 0, where) + 1 : where].split())
            count = "1 field" if fields == 1 else f"{fields} fields"
            raise InputError(f"{count} where 6 belong", FORM, file=path, line=first_line + line)
        if status == kernels.BAD_SCORE:
            bad_score(path, first_line + line, chunk[where : where + 60].split()[0])
        for row, _, first, last in hard[:hards].tolist():
            own_scores[row] = float(chunk[first:last])
            if np.isinf(own_scores[row]):
                bad_score(path, first_line + int(row_lines[row]), chunk[first:last])
        own_names = [chunk[a:b].decode("utf-8", "surrogateescape") for a, b in spans[:queries].tolist()]
        goes_on = int(names[-1:] == own_names[:1] and bool(names))  # the query at the end of the last chunk
        names += own_names[goes_on:]
        starts.append(own_starts[goes_on:queries] + rows_before)
        docs.append(Strings(blob[: ends[rows]].copy(), ends[: rows + 1]))
        scores.append(own_scores[:rows])
        lines.append(row_lines[:rows] + first_line)
        rows_before += rows
    if not scores:
        scores, starts, lines = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    return (
        names,
        np.concatenate(starts),
        Strings.concatenate(docs),
        np.concatenate(scores),
        np.concatenate(lines),
    )
