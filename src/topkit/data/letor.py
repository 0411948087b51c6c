"""LETOR / SVMlight text: ``label qid:ID 1:value 2:value … # comment``, plain or gzip."""

from __future__ import annotations

import re
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from topkit.data import kernels
from topkit.data.arrays import check_contiguous
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.files import FLOAT32_LIMIT, NUMBER, FilePath, line_chunks, text_writer
from topkit.data.letor_scan import FORM, LetorScan, Rows, line_error, text_size
from topkit.data.looks import naming_the_format
from topkit.data.strings import Strings
from topkit.data.truth import Truth

REGROUP = "sort the file by query (sort -s -t: -k2,2n FILE) or read it with regroup (--regroup)"
BLANKS = b" \t\r\f\v"
DOCID = re.compile(rb"docid[ \t\r\f\v]*=[ \t\r\f\v]*([^ \t\r\f\v]*)[ \t\r\f\v]*(.*)", re.DOTALL)


def read_letor(
    path: FilePath, *, features: bool = True, regroup: bool = False, truth: Truth | str = "graded"
) -> Dataset:
    """Read LETOR text into a :class:`Dataset`.

    A feature that a line leaves out is 0; ``NULL`` or ``NaN`` is a missing value (NaN). ``# docid = ID note``
    gives the document id and a note; any other comment is the id. Blank lines and lines that start with ``#``
    are skipped.

    features: False reads only labels, query ids and comments, without the compiled scanner.
    regroup: True brings the rows of each query together; False raises an error if they are not contiguous.
    truth: what the labels mean: ``graded``, ``order`` or ``top-K``. A full order may use any labels in which
        larger is better; they become n, n−1, …, 1.

    Raises :class:`InputError` with file, line and remedy for anything else.
    """
    with naming_the_format(path, "letor"):
        return _read_letor(path, features, regroup, truth)


def _read_letor(path: FilePath, features: bool, regroup: bool, truth: Truth | str) -> Dataset:
    rows = _scan(path) if features else _labels(path)
    if len(rows.y) == 0:
        raise InputError("the file has no documents", FORM, file=path)
    if regroup:
        rows = _regrouped(rows)
    else:
        check_contiguous(rows.qids, REGROUP, file=path)
    kind = Truth.parse(truth) if isinstance(truth, str) else truth
    data = dataset_of_rows(rows)
    if kind.kind == "order":
        return _distinct_order(data, path)
    return data if kind.kind == "graded" else data.with_labels(rows.y, kind)


def dataset_of_rows(rows: Rows) -> Dataset:
    """Rows whose queries are contiguous as a data set with graded truth."""
    return Dataset(
        rows.X,
        rows.y,
        np.append(rows.starts, len(rows.y)),
        tuple(rows.qids),
        doc_ids=rows.ids if len(rows.ids.blob) else None,
        notes=rows.notes if len(rows.notes.blob) else None,
    )


def _scan(path: FilePath) -> Rows:
    with closing(LetorScan(path, text_size(path))) as scan:
        for chunk, line in line_chunks(path):
            scan.add(chunk, line)
        return scan.finish()


def _labels(path: FilePath) -> Rows:
    """The rows of a file without features, read without Numba."""
    labels: list[float] = []
    ids: list[bytes] = []
    notes: list[bytes] = []
    starts: list[int] = []
    queries: list[bytes] = []
    for chunk, first_line in line_chunks(path):
        for line, text in enumerate(chunk.split(b"\n")[:-1], first_line):
            body, _, comment = text.partition(b"#")
            fields = body.split(None, 2)
            if not fields:
                continue
            if not NUMBER.fullmatch(fields[0]) or abs(float(fields[0])) >= FLOAT32_LIMIT:
                raise line_error(path, line, kernels.BAD_LABEL, fields[0])
            if len(fields) < 2 or not fields[1].startswith(b"qid:") or len(fields[1]) == 4:
                raise line_error(path, line, kernels.NO_QUERY, b"")
            if not queries or queries[-1] != fields[1]:
                starts.append(len(labels))
                queries.append(fields[1])
            labels.append(float(fields[0]))
            comment = comment.strip(BLANKS)
            named = DOCID.fullmatch(comment)
            ids.append(named[1] if named else comment)
            notes.append(named[2] if named else b"")
    y = np.array(labels, np.float32)
    qids = [query[4:].decode("utf-8", "surrogateescape") for query in queries]
    X = np.zeros((len(y), 0), np.float32)
    return Rows(X, y, np.array(starts, np.int64), qids, Strings.of_bytes(ids), Strings.of_bytes(notes))


def _regrouped(rows: Rows) -> Rows:
    """The rows with each query in one place, where it occurs first."""
    number = {qid: i for i, qid in enumerate(dict.fromkeys(rows.qids))}
    query = np.repeat([number[qid] for qid in rows.qids], np.diff(np.append(rows.starts, len(rows.y))))
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(number))
    return Rows(
        rows.X[order],
        rows.y[order],
        np.cumsum(counts) - counts,
        list(number),
        rows.ids.take(order),
        rows.notes.take(order),
    )


def _distinct_order(data: Dataset, path: FilePath) -> Dataset:
    for qid, rows in data:
        if len(np.unique(data.y[rows])) != rows.stop - rows.start:
            raise InputError(
                f"two documents of query {qid!r} have the same label, so this is not a full order",
                "read it as graded truth",
                file=path,
            )
    return data.as_order()


# -- writing -----------------------------------------------------------------------------------------------
def write_letor(data: Dataset, path: FilePath, *, sparse: bool = False, queries: bool = True) -> None:
    """Write a data set as LETOR text; every float32 reads back to the same value. ``.gz`` compresses.

    The text cannot hold feature names or the kind of truth: use Parquet to keep them. ``sparse`` leaves out
    zeros and writes ``nan`` instead of ``NULL``, as tools for SVMlight files expect. ``queries=False`` leaves
    out query and document ids, which LightGBM does not read.
    """
    heads = [f"{j + 1}:" for j in range(data.n_features)]
    ids = None if data.doc_ids is None or not queries else data.doc_ids.tolist()
    notes = None if data.notes is None else data.notes.tolist()
    _check_writable(data)
    with text_writer(path) as stream:
        for qid, rows in data:
            labels = shortest_texts(data.y[rows])
            values = shortest_texts(data.X[rows])
            if not sparse:
                values = ["NULL" if text == "nan" else text for text in values]
            for i, row in enumerate(range(rows.start, rows.stop)):
                row_values = values[i * data.n_features : (i + 1) * data.n_features]
                entries = list(map(str.__add__, heads, row_values))
                if sparse:
                    entries = [e for e, value in zip(entries, row_values, strict=True) if float(value) != 0]
                line = [labels[i].removesuffix(".0"), *([f"qid:{qid}"] if queries else []), *entries]
                if ids is not None:
                    line.append(f"#docid = {ids[row]}" + (f" {notes[row]}" if notes and notes[row] else ""))
                stream.write(" ".join(line) + "\n")


def shortest_texts(values: NDArray[np.float32]) -> list[str]:
    """The shortest text of each number that reads back to it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts: list[str] = pc.cast(pa.array(values.ravel()), pa.string()).to_pylist()
    return texts


def _check_writable(data: Dataset) -> None:
    """Refuse ids with spaces: they would read back as another data set."""
    for what, names in (("query id", data.qids), ("document id", data.doc_ids or ())):
        for name in names:
            if not name or any(c in name for c in " \t\r\n\f\v\0"):
                raise InputError(
                    f"the {what} {name!r} cannot be written as LETOR text", "use Parquet instead"
                )
