"""TREC judgments, "qrels": one ``query 0 document grade`` per line."""

from __future__ import annotations

from topkit.data.columns import Layout, decoded, first_repeated, read_columns
from topkit.data.errors import InputError
from topkit.data.files import FLOAT32_LIMIT, NUMBER, FilePath, shown, text_writer
from topkit.data.judgments import GradeTable, Judgments

FORM = "lines look like '151 0 WSJ870428-0145 1'"


def read_qrels(path: FilePath) -> Judgments:
    """Read TREC judgments (``.gz`` too): one grade per query and document.

    Blank lines and lines that start with ``#`` are skipped.
    """
    (queries, docs, texts), lines = read_columns(path, Layout(4, FORM), (0, 2, 3))
    if not docs:
        raise InputError("the file has no judgments", FORM, file=path)
    grades = {text: _grade(text) for text in set(texts)}
    if None in grades.values():
        row = next(i for i, text in enumerate(texts) if grades[text] is None)
        problem = f"the grade {shown(texts[row])!r} is not a number"
        raise InputError(problem, FORM, file=path, line=int(lines[row]))
    known = {text: grade for text, grade in grades.items() if grade is not None}
    names = {query: decoded([query])[0] for query in set(queries)}
    table = GradeTable(
        list(map(names.__getitem__, queries)), decoded(docs), list(map(known.__getitem__, texts))
    )
    if sum(map(len, table.by_query.values())) < len(table):
        row = first_repeated(zip(queries, docs, strict=True))
        query, doc, _ = table[row][:3]
        problem = f"document {doc!r} is judged twice for query {query!r}"
        raise InputError(problem, "keep one of the judgments", file=path, line=int(lines[row]))
    return Judgments(grades=table)


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
