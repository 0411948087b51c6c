"""TREC runs: ``query Q0 document rank score tag`` a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from os.path import basename
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.data.columns import changes, decoded, read_columns
from topkit.data.errors import InputError
from topkit.data.files import FilePath, text_writer
from topkit.data.letor import NUMBER
from topkit.data.run import Run
from topkit.data.strings import Strings

FORM = "lines look like '151 Q0 WSJ870428-0145 1 0.97 mysystem'"


def read_run(path: FilePath, *, name: str | None = None, compiled: bool = True) -> Run:
    """Read a TREC run (``.gz`` too). Lines that are blank or start with ``#`` are skipped.

    The order of the file is kept; rows of one query need not stand together. The rank column is ignored, as
    trec_eval does. ``name`` is the run's name, by default the file's.
    compiled: False parses without the compiled scanner, whose import takes longer than one ordinary run.
    """
    if compiled:
        from topkit.data.run_scan import repeated_row, scan_run

        names, starts, docs, scores, lines = scan_run(path)
    else:
        names, starts, tokens, scores, lines = _scan_plainly(path)
        docs = Strings.of_bytes(tokens)
    if not names:
        raise InputError("the file holds no results", FORM, file=path)
    number = {qid: q for q, qid in enumerate(dict.fromkeys(names))}
    scattered = np.array([number[qid] for qid in names] if len(number) < len(names) else [], np.int64)
    ptr = np.append(starts, len(scores))
    repeat = repeated_row(docs, ptr, scattered) if compiled else _repeat(tokens, ptr, scattered)
    if repeat >= 0:
        query = names[int(np.searchsorted(starts, repeat, side="right")) - 1]
        problem = f"document {docs[repeat]!r} is given a second time for query {query!r}"
        raise InputError(problem, "keep one of the two lines", file=path, line=int(lines[repeat]))
    if len(scattered):
        query_of_row = np.repeat(scattered, np.diff(ptr))
        order = np.argsort(query_of_row, kind="stable")
        docs, scores = docs.take(order), scores[order]
        ptr = np.append(0, np.cumsum(np.bincount(query_of_row)))
    label = basename(path).removesuffix(".gz") if name is None else name
    return Run(tuple(number), ptr, docs, scores, label)


def write_run(run: Run, path: FilePath) -> None:
    """Write a TREC run; ranks count from 1 in the order of the run, scores read back exactly."""
    with text_writer(path) as stream:
        stream.writelines(run_lines(run))


def run_lines(run: Run) -> Iterator[str]:
    """The lines of a run in TREC's format."""
    tag = "_".join(run.name.split()) or "run"
    for qid in run:
        for rank, (doc, score) in enumerate(run[qid], 1):
            if doc.split() != [doc] or qid.split() != [qid]:
                raise InputError(f"the id {doc!r} or {qid!r} has spaces, which a TREC run cannot hold")
            yield f"{qid} Q0 {doc} {rank} {score!r} {tag}\n"


Docs = TypeVar("Docs")
Scanned = tuple[list[str], NDArray[np.int64], Docs, NDArray[np.float64], NDArray[np.int64]]
"""Query of each stretch of rows, where it starts, documents, scores, and the line number of each row."""


def _scan_plainly(path: FilePath) -> Scanned[list[bytes]]:
    (queries, docs, texts), lines = read_columns(path, 6, (0, 2, 4), FORM, more=True)
    # Python's float takes more than a number (1_0, inf), so the letters are looked at first.
    plain = not b"".join(texts).translate(None, b"0123456789+-.eE")
    try:
        scores = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        plain = False
    if not plain or np.isinf(scores).any():
        row = next(i for i, text in enumerate(texts) if not NUMBER.fullmatch(text) or np.isinf(float(text)))
        raise bad_score(path, int(lines[row]), texts[row])
    starts = changes(queries)
    names = decoded([queries[i] for i in starts])
    return names, np.array(starts, np.int64), docs, scores, lines


def bad_score(path: FilePath, line: int, text: bytes) -> InputError:
    """The error for a score that is not one."""
    shown = text[:40].decode("utf-8", "replace")
    return InputError(f"the score {shown!r} is not a finite number", FORM, file=path, line=line)


def _repeat(docs: list[bytes], ptr: NDArray[np.int64], scattered: NDArray[np.int64]) -> int:
    """The first row whose document an earlier row of its query has too, or −1; as the compiled one."""
    bounds = ptr.tolist()
    if not len(scattered) and all(len(set(docs[a:b])) == b - a for a, b in pairwise(bounds)):
        return -1
    seen: set[tuple[int, bytes]] = set()
    queries = scattered if len(scattered) else np.arange(len(bounds) - 1)
    for row, pair in enumerate(zip(np.repeat(queries, np.diff(ptr)).tolist(), docs, strict=True)):
        if pair in seen:
            return row
        seen.add(pair)
    return -1
