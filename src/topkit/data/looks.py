"""What a file looks like: errors of readers name the format of the file and how to read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from topkit.data.blocks import FilePath, file_size, text_blocks
from topkit.data.errors import InputError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
HEADER_NAMES = {"qid", "query", "query_id", "label", "docno", "doc_id"}


class Look(NamedTuple):
    """A format: what it is, and how to read it."""

    what: str
    how: str


LOOKS: dict[str, Look] = {
    "parquet": Look("Parquet", "use tk.read_parquet, or end the file name in .parquet"),
    "sqlite": Look("an SQLite database", "export a table of it as CSV"),
    "zip": Look("a zip archive", "unpack it first"),
    "letor": Look("LETOR text", "use tk.read_letor; it is a data set"),
    "svmlight": Look(
        "SVMlight text without query ids", "use tk.read_lightgbm; the sizes of the queries are in FILE.query"
    ),
    "trec-run": Look("a TREC run", "use tk.read_run; it is a run, not judgments or a data set"),
    "trec-qrels": Look("TREC judgments", "use tk.read_qrels or --qrels"),
    "beir-qrels": Look("BEIR judgments", "use tk.read_qrels or --qrels"),
    "preferences": Look("preferences", "use tk.read_preferences or --preferences"),
    "three": Look(
        "a run of MS MARCO (query, document, rank) or judgments (query, document, grade)",
        'use tk.read_run, or tk.read_qrels with format="plain"',
    ),
    "trec-topics": Look("TREC topics", "use tk.read_queries or --queries"),
    "trec-documents": Look("TREC documents", "use tk.read_documents"),
    "smart": Look("a SMART collection (.I records)", "use tk.read_documents or tk.read_queries"),
    "texts": Look("JSON Lines of documents or queries", "use tk.read_documents or tk.read_queries"),
    "data-jsonl": Look("JSON Lines of a data set", "end the file name in .jsonl"),
    "json": Look("JSON Lines", "give a file of the expected format"),
    "json-array": Look("one JSON array", "write one object per line (JSON Lines)"),
    "preference-table": Look("a table of preferences", "use tk.read_preferences or --preferences"),
    "csv": Look("CSV", "use tk.read_csv, or end the file name in .csv"),
    "tsv": Look("TSV", "use tk.read_csv, or end the file name in .tsv"),
    "tab-text": Look("ids with texts, separated by a tab", "use tk.read_queries or tk.read_documents"),
    "scores": Look("scores, one per line", "use tk.read_scores, or give it to `topkit eval` after the data"),
}
"""Name of a format → what it is and how to read it."""


@contextmanager
def naming_the_format(path: FilePath, *expected: str) -> Iterator[None]:
    """Add what the file looks like to an error about its content, if that is not what was expected.

    The file is opened again for this, so a pipe gets the error as it is.
    """
    try:
        yield
    except InputError as error:
        if error.file is None or not file_size(path):
            raise
        name = look_of(path)
        if name is None or name in expected:
            raise
        look = LOOKS[name]
        remedy = f"{error.remedy}; " if error.remedy else ""
        remedy += f"the file looks like {look.what}: {look.how}"
        raise InputError(error.problem, remedy, file=error.file, line=error.line) from None


def look_of(path: FilePath) -> str | None:
    """The name in :data:`LOOKS` of what a file looks like, or None."""
    try:
        block = next(text_blocks(path), b"")[: 1 << 16]
    except InputError:
        return None
    for magic, name in ((b"PAR1", "parquet"), (b"SQLite format 3", "sqlite"), (b"PK\x03\x04", "zip")):
        if block.startswith(magic):
            return name
    lines = (line.strip("\r ") for line in block.decode("utf-8", "replace").split("\n"))
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return look_of_line(first)


def look_of_line(line: str) -> str | None:
    """What a file with this first line looks like.

    >>> look_of_line("2 qid:10 1:0.5"), look_of_line("31_1 A B B"), look_of_line("query-id\\tcorpus\\tscore")
    ('letor', 'preferences', 'beir-qrels')
    """
    lower = line.lower()
    if line.startswith("{"):
        return _json_look(line)
    for start, name in (
        ("[", "json-array"),
        (".i ", "smart"),
        ("<top", "trec-topics"),
        ("<doc", "trec-documents"),
        ("<?xml", "trec-topics"),
    ):
        if lower.startswith(start):
            return name
    if re.match(r"\S+\s+qid:", line):
        return "letor"
    if re.match(r"\S+\s+\d+:\S", line):
        return "svmlight"
    return _table_look(line) or _column_look(line.split())


def _json_look(line: str) -> str:
    import json  # here, because only errors need it

    record = None
    with suppress(ValueError):
        record = json.loads(line)
    if not isinstance(record, dict):
        return "json"
    names = set(record)
    if "winner" in names or {"a", "b", "answer"} <= names:
        return "preferences"
    if names & {"qid", "query_id"} and "label" in names:
        return "data-jsonl"
    return "texts" if names & {"_id", "id", "docno", "docid", "doc_id"} else "json"


def _table_look(line: str) -> str | None:
    """A header or a row of a table with tabs or commas."""
    for separator, name in (("\t", "tsv"), (",", "csv")):
        fields = [field.strip().strip('"').lower() for field in line.split(separator)]
        if len(fields) < 2:
            continue
        if fields[0] in ("query-id", "query_id") and fields[-1] == "score":
            return "beir-qrels"
        if "winner" in fields or {"a", "b", "answer"} <= set(fields):
            return "preference-table"
        words = not any(NUMBER.fullmatch(field) for field in fields)
        if words and HEADER_NAMES & set(fields):
            return name
        if separator == "\t" and len(fields) == 2 and " " in fields[1]:
            return "tab-text"
        if separator == "," and len(fields) > 3:
            return name
    return None


def _column_look(fields: list[str]) -> str | None:
    """Columns that are separated by white space."""
    number: Callable[[str], object] = NUMBER.fullmatch
    width = len(fields)
    if width == 6 and number(fields[3]) and number(fields[4]):
        return "trec-run"
    if width in (4, 5, 6) and fields[3] in (fields[1], fields[2], "tie"):
        return "preferences"
    if width == 4 and number(fields[3]):
        return "trec-qrels"
    if width == 3 and number(fields[2]):
        return "three"
    return "scores" if width == 1 and number(fields[0]) else None
