"""LETOR / SVMlight text: ``label qid:ID 1:value 2:value … # comment``, plain or gzip."""

from __future__ import annotations

import re
from contextlib import closing
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks, text_writer
from topkit.data.strings import Strings
from topkit.data.truth import Truth

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
DOCID = re.compile(rb"docid[ \t\r\f\v]*=[ \t\r\f\v]*([^ \t\r\f\v]*)[ \t\r\f\v]*(.*)", re.DOTALL)
FLOAT32_LIMIT = float(2**128 - 2**103)  # from here on a number rounds to infinity
BLANKS = b" \t\r\f\v"
FORM = "lines look like '2 qid:10 1:0.5 2:0.1 # docid = D7'"


def read_letor(
    path: FilePath, *, features: bool = True, regroup: bool = False, truth: Truth | str = "graded"
) -> Dataset:
    """Read LETOR text into a :class:`Dataset`.

    A feature that a line leaves out is 0, ``NULL`` or ``NaN`` is a missing value (NaN). ``# docid = ID rest``
    gives the document id (and a note); any other comment is the id as a whole. Lines that are blank or start
    with ``#`` are skipped.

    features: False reads labels, query ids and comments only, at once and without the compiled scanner.
    regroup: gather the rows of a query that stands in several places; without it that is an error.
    truth: what the labels mean: ``graded``, ``order`` or ``top-K``. A full order may use any labels in which
        larger is better; they become n, n−1, …, 1.

    Raises :class:`InputError` with file, line and remedy for anything that is not as described.
    """
    if features:
        from topkit.data.letor_scan import LetorScan

        with closing(LetorScan(path)) as scan:
            for chunk, line in line_chunks(path):
                scan.add(chunk, line)
            X, y, starts, names, ids, notes = scan.finish()
    else:
        X, y, starts, names, ids, notes = _read_labels(path)
    if len(y) == 0:
        raise InputError("the file holds no documents", FORM, file=path)
    if regroup:
        order, starts, names = _regrouping(starts, names, len(y))
        X, y, ids, notes = X[order], y[order], ids.take(order), notes.take(order)
    else:
        _check_contiguous(path, starts, names)
    kind = Truth.parse(truth) if isinstance(truth, str) else truth
    data = Dataset(
        X,
        y,
        np.append(starts, len(y)),
        tuple(names),
        doc_ids=ids if len(ids.blob) else None,
        notes=notes if len(notes.blob) else None,
    )
    if kind.kind == "order":
        return _distinct_order(data, path)
    return data if kind.kind == "graded" else data.with_labels(y, kind)


def write_letor(data: Dataset, path: FilePath) -> None:
    """Write a data set as LETOR text; every float32 reads back to the same value. ``.gz`` compresses.

    The text has no place for feature names or the kind of truth: use Parquet to keep them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def shortest(values: NDArray[np.float32]) -> list[str]:
        texts: list[str] = pc.cast(pa.array(values.ravel()), pa.string()).to_pylist()
        return texts

    heads = [f"{j + 1}:" for j in range(data.n_features)]
    ids = None if data.doc_ids is None else data.doc_ids.tolist()
    notes = None if data.notes is None else data.notes.tolist()
    _check_writable(data)
    with text_writer(path) as stream:
        for qid, rows in data:
            labels = shortest(data.y[rows])
            values = ["NULL" if text == "nan" else text for text in shortest(data.X[rows])]
            for i, row in enumerate(range(rows.start, rows.stop)):
                own = values[i * data.n_features : (i + 1) * data.n_features]
                line = [labels[i].removesuffix(".0"), f"qid:{qid}", *map(str.__add__, heads, own)]
                if ids is not None:
                    line.append(f"#docid = {ids[row]}" + (f" {notes[row]}" if notes and notes[row] else ""))
                stream.write(" ".join(line) + "\n")


def _check_writable(data: Dataset) -> None:
    """Ids with spaces cannot be told apart in the text; refuse them rather than write another data set."""
    for what, names in (("query id", data.qids), ("document id", data.doc_ids or ())):
        for name in names:
            if not name or any(c in name for c in " \t\r\n\f\v") or "\0" in name:
                raise InputError(
                    f"the {what} {name!r} cannot be written as LETOR text", "use Parquet instead"
                )


# -- labels, query ids and comments only -------------------------------------------------------------------
Parts = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], list[str], Strings, Strings]


def _read_labels(path: FilePath) -> Parts:
    labels: list[float] = []
    ids: list[bytes] = []
    notes: list[bytes] = []
    starts: list[int] = []
    names: list[bytes] = []
    for chunk, first_line in line_chunks(path):
        for line, text in enumerate(chunk.split(b"\n")[:-1], first_line):
            body, _, comment = text.partition(b"#")
            fields = body.split(None, 2)
            if not fields:
                continue
            if not NUMBER.fullmatch(fields[0]) or abs(float(fields[0])) >= FLOAT32_LIMIT:
                bad_label(path, line, fields[0])
            if len(fields) < 2 or not fields[1].startswith(b"qid:") or len(fields[1]) == 4:
                no_query(path, line)
            if not names or names[-1] != fields[1]:
                starts.append(len(labels))
                names.append(fields[1])
            labels.append(float(fields[0]))
            comment = comment.strip(BLANKS)
            named = DOCID.fullmatch(comment)
            ids.append(named[1] if named else comment)
            notes.append(named[2] if named else b"")
    y = np.array(labels, np.float32)
    qids = [name[4:].decode("utf-8", "surrogateescape") for name in names]
    X = np.zeros((len(y), 0), np.float32)
    return X, y, np.array(starts, np.int64), qids, Strings.of_bytes(ids), Strings.of_bytes(notes)


def bad_label(path: FilePath, line: int, text: bytes) -> NoReturn:
    shown = text[:40].decode("utf-8", "replace")
    raise InputError(f"the label {shown!r} is not a 32-bit number", FORM, file=path, line=line)


def no_query(path: FilePath, line: int) -> NoReturn:
    problem = "there is no 'qid:' with an id after the label"
    raise InputError(problem, f"name the query of each document: {FORM}", file=path, line=line)


# -- grouping ----------------------------------------------------------------------------------------------
def _check_contiguous(path: FilePath, starts: NDArray[np.int64], names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"the documents of query {name!r} do not stand together",
                "sort the file by query (sort -s -t: -k2,2n FILE) or read it with regroup (--regroup)",
                file=path,
            )
        seen.add(name)


def _regrouping(
    starts: NDArray[np.int64], names: list[str], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """The order of rows that puts each query in one place, at its first mention; new starts and names."""
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    query = np.repeat([number[name] for name in names], np.diff(np.append(starts, n)))
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(number))
    return order, np.cumsum(counts) - counts, list(number)


def _distinct_order(data: Dataset, path: FilePath) -> Dataset:
    for qid, rows in data:
        if len(np.unique(data.y[rows])) != rows.stop - rows.start:
            raise InputError(
                f"two documents of query {qid!r} have the same label, so this is not a full order",
                "read it as graded truth",
                file=path,
            )
    return data.as_order()
