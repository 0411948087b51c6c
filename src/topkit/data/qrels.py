"""Judgments in text files, "qrels": TREC's ``query 0 document grade`` per line, and older formats."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data.columns import Layout, columns_of, decoded, first_repeated
from topkit.data.errors import InputError
from topkit.data.files import FLOAT32_LIMIT, NUMBER, FilePath, line_chunks, shown, text_writer
from topkit.data.judgments import GradeTable, Judgments
from topkit.data.names import lookup

FORM = "lines look like '151 0 WSJ870428-0145 1'"
THREE_FORM = "lines look like '151 WSJ870428-0145 1'"

QRELS_FORMATS = {
    "trec": "TREC: query, iteration, document, grade",
    "plain": "three columns: query, document, grade, where larger is better",
    "smart": "SMART: query and relevant document, then two columns without meaning",
    "cranfield": "Cranfield: query, document, code, where 1 is best and 5 not relevant",
}
"""Name of a format of judgments → its columns."""
CRANFIELD_HINT = "for the codes of the Cranfield collection (1 is best), name the format cranfield"


class Judged(NamedTuple):
    """Judgments, and the name of the format that they were read as."""

    judgments: Judgments
    format: str


def read_qrels(path: FilePath) -> Judgments:
    """Read TREC judgments (``.gz`` too): one grade per query and document.

    Blank lines and lines that start with ``#`` are skipped.
    """
    return read_judged(path, "trec").judgments


def read_judged(path: FilePath, format: str | None = None) -> Judged:  # noqa: A002
    """Read judgments in one of :data:`QRELS_FORMATS`, by default detected.

    Four columns are TREC, unless the third and fourth are zero everywhere and the second is not: SMART. Three
    columns are query, document and grade. The codes of Cranfield look the same but mean the opposite, so they
    are read only when named.
    """
    if format is not None:
        lookup(QRELS_FORMATS, format, "format of judgments")
    chunks = line_chunks(path)
    first = next(chunks, (b"\n", 1))
    width = 3 if format in ("plain", "cranfield") or (format is None and _first_width(first[0]) == 3) else 4
    layout = Layout(width, THREE_FORM if width == 3 else FORM)
    columns, lines = columns_of(chain([first], chunks), path, layout, tuple(range(width)))
    if not columns[0]:
        raise InputError("the file has no judgments", layout.example, file=path)
    if width == 3:
        name = format or "plain"
        queries, docs, texts = columns
    else:
        queries, iterations, docs, texts = columns
        name = format or ("smart" if _is_smart(iterations, docs, texts) else "trec")
        if name == "smart":
            docs, texts = iterations, [b"1"] * len(docs)
    if name == "cranfield":
        return Judged(Judgments(_cranfield(queries, docs, texts, lines, path)), name)
    return Judged(Judgments(_graded(queries, docs, texts, lines, (path, name))), name)


def _first_width(chunk: bytes) -> int:
    """The number of fields of the first line that is neither blank nor a comment."""
    rows = (line.split() for line in chunk.split(b"\n"))
    return next((len(fields) for fields in rows if fields and not fields[0].startswith(b"#")), 0)


def _is_smart(iterations: list[bytes], docs: list[bytes], texts: list[bytes]) -> bool:
    no_documents = set(docs) == {b"0"} and all(_grade(text) == 0 for text in set(texts))
    return no_documents and not set(iterations) <= {b"0", b"Q0", b"q0"}


def _graded(
    queries: list[bytes],
    docs: list[bytes],
    texts: list[bytes],
    lines: NDArray[np.int64],
    source: tuple[FilePath, str],
) -> GradeTable:
    path, name = source
    grades = {text: _grade(text) for text in set(texts)}
    if None in grades.values():
        row = next(i for i, text in enumerate(texts) if grades[text] is None)
        problem = f"the grade {shown(texts[row])!r} is not a number"
        raise InputError(problem, THREE_FORM if name == "plain" else FORM, file=path, line=int(lines[row]))
    known = {text: grade for text, grade in grades.items() if grade is not None}
    names = {query: decoded([query])[0] for query in set(queries)}
    table = GradeTable(
        list(map(names.__getitem__, queries)), decoded(docs), list(map(known.__getitem__, texts))
    )
    if sum(map(len, table.by_query.values())) < len(table):
        row = first_repeated(zip(queries, docs, strict=True))
        query, doc, _ = table[row][:3]
        problem = f"document {doc!r} is judged twice for query {query!r} (read as {QRELS_FORMATS[name]})"
        remedy = "keep one of the judgments" + (f"; {CRANFIELD_HINT}" if name == "plain" else "")
        raise InputError(problem, remedy, file=path, line=int(lines[row]))
    return table


def _cranfield(
    queries: list[bytes], docs: list[bytes], texts: list[bytes], lines: NDArray[np.int64], path: FilePath
) -> GradeTable:
    """Codes 1 to 5 as grades 4 to 0; −1 is outside of the scale and becomes 0; the better grade counts."""
    table: dict[tuple[str, str], float] = {}
    for query, doc, text, line in zip(decoded(queries), decoded(docs), texts, lines.tolist(), strict=True):
        if text not in (b"-1", b"1", b"2", b"3", b"4", b"5"):
            problem = f"expected a code from 1 to 5 or -1, got {shown(text)!r}"
            raise InputError(problem, "name the format plain for grades", file=path, line=line)
        table[query, doc] = max(5.0 - int(text) if text != b"-1" else 0.0, table.get((query, doc), 0.0))
    return GradeTable([query for query, _ in table], [doc for _, doc in table], list(table.values()))


def write_qrels(judgments: Judgments, path: FilePath) -> None:
    """Write the grades as TREC judgments."""
    with text_writer(path) as stream:
        for query, doc, grade, *_ in judgments.grades:
            if query.split() != [query] or doc.split() != [doc]:
                raise InputError(f"the id {doc!r} or {query!r} has spaces", "qrels cannot hold it; rename it")
            stream.write(f"{query} 0 {doc} {grade:.17g}\n")


def _grade(text: bytes) -> float | None:
    if not NUMBER.fullmatch(text) or abs(float(text)) >= FLOAT32_LIMIT:
        return None
    return float(text)
