"""Reading queries: tab-separated text, JSON Lines, TREC topics and SMART files."""

from __future__ import annotations

from collections.abc import Iterator

from topkit.data import InputError
from topkit.data.files import FilePath
from topkit.data.text_lines import text_lines
from topkit.features.corpus import cranfield_records, json_documents, peeked
from topkit.features.lines import Lines
from topkit.features.topics import topics


def read_queries(path: FilePath, *, field: str | None = None) -> dict[str, str]:
    """Query id → text, from one of four formats, which are detected.

    Lines ``id<tab>text`` (MS MARCO), JSON Lines (``id`` or ``_id``, and ``text``: BEIR), TREC topics, or
    ``.I`` records (SMART). ``field`` names the text: for TREC topics ``title`` (the default), ``desc`` or
    ``narr``; for JSON Lines any field.

    Queries of ``.I`` records are numbered in file order (1, 2, …), not by the number in the record, because
    the Cranfield judgments use this numbering.
    """
    first, numbered = peeked(text_lines(path))
    start = first.lstrip().lower()
    if start.startswith(".i"):
        records = cranfield_records(numbered, path)
        texts = (" ".join(parts.get("W", "").split()) for _, parts in records)
        return {str(place): text for place, text in enumerate(texts, 1)}
    queries: dict[str, str] = {}
    if start.startswith("<"):
        entries = _topic_queries(numbered, path, field)
    elif start.startswith("{"):
        entries = _json_queries(numbered, path, field)
    else:
        entries = _tab_queries(numbered, path)
    for number, name, text in entries:
        if name in queries:
            raise InputError(
                f"the query id {name!r} occurs twice", "give each query its own id", file=path, line=number
            )
        queries[name] = text
    if not queries:
        raise InputError("the file contains no queries", "write id, tab, text on each line", file=path)
    return queries


def _json_queries(numbered: Lines, path: FilePath, field: str | None) -> Iterator[tuple[int, str, str]]:
    usual = ("text", "query", "title")
    for number, document in json_documents(numbered, path):
        yield number, document.id, _text_of(document.fields, field, usual, path, number)


def _topic_queries(numbered: Lines, path: FilePath, field: str | None) -> Iterator[tuple[int, str, str]]:
    usual = ("title", "query", "desc")
    for number, name, fields in topics(numbered, path):
        yield number, name, _text_of(fields, field, usual, path, number)


def _text_of(
    fields: dict[str, str], field: str | None, usual: tuple[str, ...], path: FilePath, line: int
) -> str:
    """The field that was named, else the first of the usual ones that there is."""
    for name in usual if field is None else (field,):
        if name in fields:
            return fields[name]
    problem = f"the query has no field {field or usual[0]!r}; it has {', '.join(fields) or 'none'}"
    raise InputError(problem, "name the field of the text: field=… (--query-field)", file=path, line=line)


def _tab_queries(numbered: Lines, path: FilePath) -> Iterator[tuple[int, str, str]]:
    for number, text in numbered:
        if not text.strip():
            continue
        name, tab, query = text.partition("\t")
        if not tab or not name.strip():
            raise InputError("invalid query", "write id, tab, text", file=path, line=number)
        yield number, name.strip(), query.strip()
