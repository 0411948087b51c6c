"""Judgments in text files, "qrels": TREC's ``query 0 document grade`` per line, and other formats."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data.columns import Layout, columns_of, decoded, field_count, first_fields, first_repeated
from topkit.data.errors import InputError
from topkit.data.files import FLOAT32_LIMIT, NUMBER, FilePath, line_chunks, shown, text_writer
from topkit.data.judgments import GradeTable, Judgments
from topkit.data.looks import naming_the_format
from topkit.data.words import lookup

FORM = "lines look like '151 0 WSJ870428-0145 1'"
THREE_FORM = "lines look like '151 WSJ870428-0145 1'"
TWO_FORM = "lines look like '1185869 0', a query and a relevant document"

QRELS_FORMATS = {
    "trec": "TREC: query, iteration, document, grade",
    "plain": "three columns: query, document, grade, where larger is better",
    "beir": "BEIR: a header, then query, document, grade",
    "msmarco": "MS MARCO: query and relevant document",
    "smart": "SMART: query and relevant document, then two columns without meaning",
    "cranfield": "Cranfield: query, document, code, where 1 is best and 5 not relevant",
}
"""Name of a format of judgments → its columns."""
CRANFIELD_HINT = "for the codes of the Cranfield collection (1 is best), name the format cranfield"


class Judged(NamedTuple):
    """Judgments, and the name of the format that they were read as."""

    judgments: Judgments
    format: str


def read_qrels(path: FilePath, format: str | None = None) -> Judgments:  # noqa: A002
    """Read judgments, compressed or not: one grade per query and document.

    format: one of :data:`QRELS_FORMATS`. By default TREC's four columns, BEIR's header, SMART's and MS
    MARCO's two columns are recognised. Three columns without a header are an error unless they are named
    ``plain`` (larger is better) or ``cranfield`` (1 is best), because both look the same.

    Blank lines and lines that start with ``#`` are skipped.
    """
    with naming_the_format(path, "trec-qrels"):
        judgments, name = read_judged(path, format)
        if format is None and name == "plain":
            remedy = f"for query, document, grade, name the format plain; {CRANFIELD_HINT}"
            raise InputError(field_count(4, 3), remedy, file=path)
    return judgments


def read_judged(path: FilePath, format: str | None = None) -> Judged:  # noqa: A002
    """Read judgments in one of :data:`QRELS_FORMATS`, by default detected.

    Four columns are TREC, unless the third and fourth are zero everywhere and the second is not: SMART. Three
    columns are query, document and grade, BEIR if they start with its header. Two columns are MS MARCO. The
    codes of Cranfield look the same as grades but mean the opposite, so they are read only when named.
    """
    if format is not None:
        lookup(QRELS_FORMATS, format, "format of judgments")
    chunks = line_chunks(path)
    chunk, first_line = next(chunks, (b"\n", 1))
    fields = first_fields(chunk)
    if is_header(fields):
        chunk, first_line = _without_header(chunk, first_line)
        format = format or "beir"  # noqa: A001
    width = _WIDTHS[format] if format is not None else len(fields) if len(fields) in (2, 3) else 4
    layout = Layout(width, {2: TWO_FORM, 3: THREE_FORM, 4: FORM}[width])
    columns, lines = columns_of(chain([(chunk, first_line)], chunks), path, layout, tuple(range(width)))
    if not columns[0]:
        raise InputError("the file has no judgments", layout.example, file=path)
    queries, *middle, texts = columns
    name = format or {2: "msmarco", 3: "plain", 4: "trec"}[width]
    if name == "msmarco":
        docs, texts = texts, [b"1"] * len(texts)
    elif name == "smart" or (format is None and width == 4 and _is_smart(middle[0], middle[1], texts)):
        name, docs, texts = "smart", middle[0], [b"1"] * len(texts)
    else:
        docs = middle[-1]
    if name == "cranfield":
        return Judged(Judgments(_cranfield(queries, docs, texts, lines, path)), name)
    return Judged(Judgments(_graded(queries, docs, texts, lines, (path, name))), name)


_WIDTHS = {"trec": 4, "plain": 3, "beir": 3, "msmarco": 2, "smart": 4, "cranfield": 3}


def is_header(fields: list[bytes]) -> bool:
    """Whether the fields are names of columns, such as BEIR's ``query-id corpus-id score``."""
    return len(fields) == 3 and fields[0].lower() in _QUERY_NAMES and fields[2].lower() in _GRADE_NAMES


_QUERY_NAMES = (b"query-id", b"query_id", b"qid", b"query")
_GRADE_NAMES = (b"score", b"relevance", b"label", b"grade", b"rel")


def _without_header(chunk: bytes, first_line: int) -> tuple[bytes, int]:
    """The chunk after its first line that is neither blank nor a comment."""
    while True:
        line, _, chunk = chunk.partition(b"\n")
        first_line += 1
        if line.strip() and not line.lstrip().startswith(b"#"):
            return chunk or b"\n", first_line


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
        raise InputError(problem, FORM if _WIDTHS[name] == 4 else THREE_FORM, file=path, line=int(lines[row]))
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
