"""Files with rankings of many systems: CSV ``query,system,document,value`` (LETOR-agg) and LETOR text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from topkit.data import Dataset, InputError, Run, read_letor, read_run
from topkit.data.files import FilePath, line_chunks, text_writer

FORM = "expected lines like '10002,1,GX008-86-4444840,32': query, system, document, value (larger is better)"
COLUMN_NAMES = {
    "query": ("query", "qid", "query_id", "topic"),
    "system": ("system", "run", "ranker", "assessor"),
    "document": ("document", "doc", "docid", "doc_id", "docno"),
    "value": ("value", "score"),
    "rank": ("rank", "place", "position"),
}
"""Column → names that a header may use for it."""
MISSING = ("", "null", "na", "nan")
"""Values of documents that a system does not rank."""


def read_rankings(path: FilePath) -> list[Run]:
    """Read rankings in any supported format: a TREC run, or CSV or LETOR text with one run per system."""
    first = next((row for row, _ in _rows_of_text(path)), "")
    if " qid:" in first.split("#")[0]:
        return runs_of_features(read_letor(path))
    if "," in first and len(first.split()) < 6:
        return read_ranking_table(path)
    return [read_run(path)]


def read_ranking_table(path: FilePath) -> list[Run]:
    """Read rankings from CSV (compressed too), one run per system.

    The columns are query, system, document, value, as in the aggregation sets of LETOR, where a larger value
    is a better rank. With a header the columns may come in any order, and ``rank`` (smaller is better) may
    replace ``value``. An empty value or NULL means that the system does not rank the document. Equal values
    keep the order of the file.
    """
    columns = [0, 1, 2, 3]
    values_are_ranks = False
    lists: dict[str, dict[str, dict[str, float]]] = {}
    for number, (line, fields) in enumerate(_csv_rows(path)):
        if number == 0 and (header := _header(fields)) is not None:
            columns, values_are_ranks = header
            continue
        if len(fields) <= max(columns):
            raise InputError(f"expected 4 fields, got {len(fields)}", FORM, file=path, line=line)
        query, system, doc, text = (fields[c].strip() for c in columns)
        if not (query and system and doc):
            raise InputError("the query, system or document is empty", FORM, file=path, line=line)
        ranked = lists.setdefault(system, {}).setdefault(query, {})
        if text.lower() in MISSING:
            continue
        value = _number(text, path, line)
        if doc in ranked:
            problem = f"document {doc!r} is ranked twice for query {query!r} by system {system!r}"
            raise InputError(problem, "keep one of the two lines", file=path, line=line)
        ranked[doc] = -value if values_are_ranks else value
    if not lists:
        raise InputError("the file contains no rankings", FORM, file=path)
    return [_run(system, queries) for system, queries in lists.items()]


def write_ranking_table(runs: Sequence[Run], path: FilePath) -> None:
    """Write runs as CSV ``query,system,document,value`` (larger is better); scores read back exactly."""
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for run in runs:
            for qid in run:
                writer.writerows((qid, run.name, doc, repr(score)) for doc, score in run[qid])


def runs_of_features(data: Dataset) -> list[Run]:
    """Each feature as a system that ranks by it, larger values first; a missing value means not ranked.

    For LETOR's aggregation sets in LETOR text, whose features are the ranks given by systems.
    """
    docs = data.names_of_documents().tolist()
    runs = []
    for column, name in enumerate(data.names_of_features()):
        values = data.X[:, column].astype(np.float64)
        results = {
            qid: [
                (docs[i], float(values[i])) for i in range(rows.start, rows.stop) if not np.isnan(values[i])
            ]
            for qid, rows in data
        }
        runs.append(_run(name, {qid: dict(pairs) for qid, pairs in results.items()}))
    return runs


def runs_of_lists(lists: Mapping[str, Mapping[str, Sequence[str]]]) -> list[Run]:
    """Ranked lists, best first, as runs: ranker (or assessor) → query → documents.

    For example, the consensus of assessors who each ordered a top k:

    >>> lists = {"ann": {"q": ["a", "b", "c"]}, "bob": {"q": ["b", "a"]}, "eve": {"q": ["a", "c", "b"]}}
    >>> from topkit.fusion import aggregate
    >>> [doc for doc, _ in aggregate(runs_of_lists(lists), "kemeny")["q"]]
    ['a', 'b', 'c']
    """
    return [
        Run.of(
            {q: [(doc, float(len(docs) - i)) for i, doc in enumerate(docs)] for q, docs in queries.items()},
            name,
        )
        for name, queries in lists.items()
    ]


def _run(name: str, queries: dict[str, dict[str, float]]) -> Run:
    ranked = {qid: sorted(docs.items(), key=lambda item: -item[1]) for qid, docs in queries.items() if docs}
    return Run.of(ranked, name)


def _rows_of_text(path: FilePath) -> Iterator[tuple[str, int]]:
    """Lines that are neither blank nor comments, with their numbers."""
    for chunk, first in line_chunks(path):
        for line, row in enumerate(chunk.decode("utf-8", "surrogateescape").split("\n")[:-1], first):
            text = row.rstrip("\r")
            if text.strip() and not text.startswith("#"):
                yield text, line


def _csv_rows(path: FilePath) -> Iterator[tuple[int, list[str]]]:
    for text, line in _rows_of_text(path):
        try:
            yield line, next(csv.reader([text.removeprefix("\ufeff")], strict=True))
        except csv.Error as error:
            raise InputError(f"invalid CSV ({error})", FORM, file=path, line=line) from None


def _header(fields: list[str]) -> tuple[list[int], bool] | None:
    """Columns of query, system, document and value, and whether values are ranks; None if not a header."""
    names = [field.strip().lower() for field in fields]
    where = {what: [names.index(n) for n in known if n in names] for what, known in COLUMN_NAMES.items()}
    if not (where["query"] and where["document"]):
        return None
    value = where["value"] or where["rank"]
    if not (where["system"] and value):
        raise InputError("the header lacks a system or a value column", "use query,system,document,value")
    return [where["query"][0], where["system"][0], where["document"][0], value[0]], not where["value"]


def _number(text: str, path: FilePath, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value) or "_" in text:
        raise InputError(f"expected a finite number, got {text[:40]!r}", FORM, file=path, line=line)
    return value
