"""TREC runs: one ``query Q0 document rank score tag`` per line."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import basename

import numpy as np

from topkit.data.errors import InputError
from topkit.data.files import FilePath, text_writer
from topkit.data.run import Run
from topkit.data.run_scan import FORM, first_repeat, first_repeat_plainly, scan_run, scan_run_plainly


def read_run(path: FilePath, *, name: str | None = None, compiled: bool = True) -> Run:
    """Read a TREC run (``.gz`` too). Blank lines and lines that start with ``#`` are skipped.

    The order of the file is kept; the rows of a query need not be contiguous. The rank column is ignored, as
    in trec_eval. ``name`` is the name of the run, by default that of the file.
    compiled: False parses without the compiled scanner, whose import takes longer than reading one usual run.
    """
    rows = scan_run(path) if compiled else scan_run_plainly(path)
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
    label = basename(path).removesuffix(".gz") if name is None else name
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
