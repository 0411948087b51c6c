"""Runs: TREC's ``query Q0 document rank score tag`` per line, and MS MARCO's ``query document rank``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from os.path import basename

import numpy as np

from topkit.data.columns import first_fields
from topkit.data.compression import without_compression
from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks, text_writer
from topkit.data.looks import naming_the_format
from topkit.data.run import Run
from topkit.data.run_scan import (
    FORM,
    MSMARCO_FIELDS,
    first_repeat,
    first_repeat_plainly,
    scan_msmarco,
    scan_run,
    scan_run_plainly,
)


def read_run(path: FilePath, *, name: str | None = None, compiled: bool = True) -> Run:
    """Read a run of TREC (six columns) or MS MARCO (query, document, rank), compressed or not.

    The order of the file is kept; the rows of a query need not be contiguous. The rank column of TREC is
    ignored, as in trec_eval; in MS MARCO's format the score is −rank. Blank lines and lines that start with
    ``#`` are skipped. ``name`` is the name of the run, by default that of the file.
    compiled: False parses without the compiled scanner, whose import takes longer than reading one usual run.
    """
    with naming_the_format(path, "trec-run", "three"):
        return _read_run(path, name, compiled)


def _read_run(path: FilePath, name: str | None, compiled: bool) -> Run:
    chunks = line_chunks(path)
    first = next(chunks, (b"\n", 1))
    msmarco = len(first_fields(first[0])) == MSMARCO_FIELDS
    scan = scan_msmarco if msmarco else scan_run if compiled else scan_run_plainly
    rows = scan(chain([first], chunks), path)
    if not rows.qids:
        raise InputError("the file has no results", FORM, file=path)
    number = {qid: q for q, qid in enumerate(dict.fromkeys(rows.qids))}
    scattered = len(number) < len(rows.qids)
    query_of = np.array([number[qid] for qid in rows.qids] if scattered else [], np.int64)
    repeat = first_repeat(rows, query_of) if compiled else first_repeat_plainly(rows, query_of)
    if repeat >= 0:
        query = rows.qids[int(np.searchsorted(rows.starts, repeat, side="right")) - 1]
        problem = f"document {rows.docs[repeat]!r} is given twice for query {query!r}"
        raise InputError(problem, "keep one of the two lines", file=path, line=int(rows.lines[repeat]))
    docs, scores = rows.docs, rows.scores
    ptr = np.append(rows.starts, len(scores))
    if scattered:
        query_of_row = np.repeat(query_of, np.diff(ptr))
        order = np.argsort(query_of_row, kind="stable")
        docs, scores = docs.take(order), scores[order]
        ptr = np.append(0, np.cumsum(np.bincount(query_of_row)))
    label = without_compression(basename(path)) if name is None else name
    return Run(tuple(number), ptr, docs, scores, label)


def write_run(run: Run, path: FilePath) -> None:
    """Write a TREC run; ranks count from 1 in the order of the run, and scores read back exactly."""
    with text_writer(path) as stream:
        stream.writelines(run_lines(run))


def run_lines(run: Run) -> Iterator[str]:
    """The lines of a run in TREC's format."""
    tag = "_".join(run.name.split()) or "run"
    for qid in run:
        for rank, (doc, score) in enumerate(run[qid], 1):
            if doc.split() != [doc] or qid.split() != [qid]:
                raise InputError(
                    f"the id {doc!r} or {qid!r} has spaces", "a TREC run cannot hold it; rename it"
                )
            yield f"{qid} Q0 {doc} {rank} {score!r} {tag}\n"
