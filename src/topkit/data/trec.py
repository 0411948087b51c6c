"""TREC runs: ``query Q0 document rank score tag`` a line."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import basename

import numpy as np
from numpy.typing import NDArray

from topkit.data.columns import decoded, read_columns
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
        from topkit.data.run_scan import scan_run

        names, starts, docs, scores, lines = scan_run(path)
    else:
        names, starts, docs, scores, lines = _scan_plainly(path)
    if not names:
        raise InputError("the file holds no results", FORM, file=path)
    number = {qid: q for q, qid in enumerate(dict.fromkeys(names))}
    lengths = np.diff(np.append(starts, len(scores)))
    query = np.repeat([number[qid] for qid in names], lengths)
    repeat = _compiled_repeat(docs, query) if compiled else _plain_repeat(docs, query)
    if repeat >= 0:
        problem = f"document {docs[repeat]!r} is given a second time for query {_at(number, query[repeat])!r}"
        raise InputError(problem, "keep one of the two lines", file=path, line=int(lines[repeat]))
    if len(number) < len(names):
        order = np.argsort(query, kind="stable")
        docs, scores = docs.take(order), scores[order]
    ptr = np.zeros(len(number) + 1, np.int64)
    np.cumsum(np.bincount(query, minlength=len(number)), out=ptr[1:])
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


Scanned = tuple[list[str], NDArray[np.int64], Strings, NDArray[np.float64], NDArray[np.int64]]
"""Query of each stretch of rows, where it starts, documents, scores, and the line number of each row."""


def _scan_plainly(path: FilePath) -> Scanned:
    (queries, _, docs, _, texts, _), lines = read_columns(path, 6, FORM, more=True)
    # Python's float takes more than a number (1_0, inf), so the letters are looked at first.
    plain = not b"".join(texts).translate(None, b"0123456789+-.eE")
    try:
        scores = np.array(list(map(float, texts)), np.float64)
    except ValueError:
        plain = False
    if not plain or np.isinf(scores).any():
        row = next(i for i, text in enumerate(texts) if not NUMBER.fullmatch(text) or np.isinf(float(text)))
        raise bad_score(path, int(lines[row]), texts[row])
    starts = [i for i, query in enumerate(queries) if i == 0 or query != queries[i - 1]]
    names = decoded([queries[i] for i in starts])
    return names, np.array(starts, np.int64), Strings.of_bytes(docs), scores, lines


def bad_score(path: FilePath, line: int, text: bytes) -> InputError:
    """The error for a score that is not one."""
    shown = text[:40].decode("utf-8", "replace")
    return InputError(f"the score {shown!r} is not a finite number", FORM, file=path, line=line)


def _compiled_repeat(docs: Strings, query: NDArray[np.int64]) -> int:
    from topkit.data.kernels import first_repeat

    return int(first_repeat(docs.blob, docs.offsets[1:], query))


def _plain_repeat(docs: Strings, query: NDArray[np.int64]) -> int:
    """The first row whose query and document an earlier row has too, or −1."""
    pairs = list(zip(query.tolist(), docs.tobytes(), strict=True))
    if len(set(pairs)) == len(pairs):
        return -1
    seen: set[tuple[int, bytes]] = set()
    for row, pair in enumerate(pairs):
        if pair in seen:
            return row
        seen.add(pair)
    return -1


def _at(number: dict[str, int], place: int) -> str:
    return list(number)[place]
