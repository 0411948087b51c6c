"""TREC files: runs (``query Q0 document rank score tag``) and qrels (``query 0 document grade``)."""

from __future__ import annotations

from os.path import basename
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks, text_writer
from topkit.data.judgments import Grade, Judgments
from topkit.data.letor import NUMBER
from topkit.data.run import Run
from topkit.data.strings import Strings

RUN_FORM = "lines look like '151 Q0 WSJ870428-0145 1 0.97 mysystem'"
QRELS_FORM = "lines look like '151 0 WSJ870428-0145 1'"


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
        raise InputError("the file holds no results", RUN_FORM, file=path)
    number = {qid: q for q, qid in enumerate(dict.fromkeys(names))}
    lengths = np.diff(np.append(starts, len(scores)))
    query = np.repeat([number[qid] for qid in names], lengths)
    _check_unique(path, docs, query, lines, compiled)
    if len(number) < len(names):
        order = np.argsort(query, kind="stable")
        docs, scores = docs.take(order), scores[order]
    ptr = np.zeros(len(number) + 1, np.int64)
    np.cumsum(np.bincount(query, minlength=len(number)), out=ptr[1:])
    label = basename(path).removesuffix(".gz") if name is None else name
    return Run(tuple(number), ptr, docs, scores, label)


def write_run(run: Run, path: FilePath) -> None:
    """Write a TREC run; ranks count from 1 in the order of the run, scores read back exactly."""
    tag = "_".join(run.name.split()) or "run"
    with text_writer(path) as stream:
        for qid in run:
            for rank, (doc, score) in enumerate(run[qid], 1):
                if not doc or doc.split() != [doc] or qid.split() != [qid]:
                    raise InputError(f"the id {doc!r} or {qid!r} has spaces, which a TREC run cannot hold")
                stream.write(f"{qid} Q0 {doc} {rank} {score!r} {tag}\n")


def read_qrels(path: FilePath) -> Judgments:
    """Read TREC judgments: the grades of documents, a document once a query (``.gz`` too)."""
    grades: list[Grade] = []
    seen: set[tuple[str, str]] = set()
    for chunk, first_line in line_chunks(path):
        text = chunk.decode("utf-8", "surrogateescape")
        for line, row in enumerate(text.split("\n")[:-1], first_line):
            fields = row.split()
            if not fields or fields[0].startswith("#"):
                continue
            if len(fields) != 4:
                raise InputError(f"{len(fields)} fields where 4 belong", QRELS_FORM, file=path, line=line)
            query, _, doc, grade = fields
            if not grade.lstrip("-").isdecimal() and not NUMBER.fullmatch(grade.encode("utf-8", "replace")):
                problem = f"the grade {grade[:40]!r} is not a number"
                raise InputError(problem, QRELS_FORM, file=path, line=line)
            if (query, doc) in seen:
                problem = f"document {doc!r} is judged twice for query {query!r}"
                raise InputError(problem, "keep one of the judgments", file=path, line=line)
            seen.add((query, doc))
            grades.append(Grade(query, doc, float(grade)))
    if not grades:
        raise InputError("the file holds no judgments", QRELS_FORM, file=path)
    return Judgments(grades=tuple(grades))


def write_qrels(judgments: Judgments, path: FilePath) -> None:
    """Write the grades as TREC judgments."""
    with text_writer(path) as stream:
        for query, doc, grade, *_ in judgments.grades:
            stream.write(f"{query} 0 {doc} {grade:g}\n")


Scanned = tuple[list[str], NDArray[np.int64], Strings, NDArray[np.float64], NDArray[np.int64]]
"""Query of each stretch of rows, where it starts, documents, scores, and the line number of each row."""


def _scan_plainly(path: FilePath) -> Scanned:
    names: list[bytes] = []
    starts: list[int] = []
    docs: list[bytes] = []
    texts: list[bytes] = []
    lines: list[int] = []
    last: bytes | None = None
    for chunk, first_line in line_chunks(path):
        for line, row in enumerate(chunk.split(b"\n")[:-1], first_line):
            fields = row.split(None, 5)
            if not fields or fields[0].startswith(b"#"):
                continue
            if len(fields) < 6:
                few_fields(path, line)
            query = fields[0]
            if query != last:
                starts.append(len(docs))
                names.append(query)
                last = query
            docs.append(fields[2])
            texts.append(fields[4])
            lines.append(line)
    if b"".join(texts).translate(
        None, b"0123456789+-.eE"
    ):  # Python's float takes more than a number: 1_0, inf
        bad = next(i for i, text in enumerate(texts) if not NUMBER.fullmatch(text))
        bad_score(path, lines[bad], texts[bad])
    try:
        scores = np.array(list(map(float, texts)), np.float64)
    except ValueError:
        bad = next(i for i, text in enumerate(texts) if not NUMBER.fullmatch(text))
        bad_score(path, lines[bad], texts[bad])
    if np.isinf(scores).any():
        bad = int(np.argmax(np.isinf(scores)))
        bad_score(path, lines[bad], texts[bad])
    qids = [name.decode("utf-8", "surrogateescape") for name in names]
    return qids, np.array(starts, np.int64), Strings.of_bytes(docs), scores, np.array(lines, np.int64)


def few_fields(path: FilePath, line: int) -> NoReturn:
    raise InputError("fewer than six fields", RUN_FORM, file=path, line=line)


def bad_score(path: FilePath, line: int, text: bytes) -> NoReturn:
    shown = text[:40].decode("utf-8", "replace")
    raise InputError(f"the score {shown!r} is not a finite number", RUN_FORM, file=path, line=line)


def _check_unique(
    path: FilePath, docs: Strings, query: NDArray[np.int64], lines: NDArray[np.int64], compiled: bool
) -> None:
    if compiled:
        from topkit.data.kernels import first_repeat

        row = int(first_repeat(docs.blob, docs.offsets[1:], query))
    else:
        pairs = list(zip(query.tolist(), docs.tobytes(), strict=True))
        row = -1 if len(set(pairs)) == len(pairs) else _first_repeat(pairs)
    if row >= 0:
        problem = f"document {docs[row]!r} is given a second time for the same query"
        raise InputError(problem, "keep one of the two lines", file=path, line=int(lines[row]))


def _first_repeat(pairs: list[tuple[int, bytes]]) -> int:
    seen: set[tuple[int, bytes]] = set()
    for i, pair in enumerate(pairs):
        if pair in seen:
            return i
        seen.add(pair)
    return -1
