"""Reading documents and queries: JSON Lines, CSV, TREC and Cranfield files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from topkit.data import InputError
from topkit.data.files import FilePath, line_chunks
from topkit.data.settings import lookup

ID_FIELDS = ("id", "_id", "docid", "docno", "doc_id")
"""Names of the id field, the first that occurs is used."""


class Document(NamedTuple):
    """A document: its id and its fields (title, abstract, body, anchor, url, …) as text."""

    id: str
    fields: dict[str, str]


def read_documents(path: FilePath, format: str | None = None) -> Iterator[Document]:  # noqa: A002
    """Iterate over the documents of a file, plain or gzip.

    format: ``jsonl`` (one object per line with an ``id``), ``csv`` or ``tsv`` (with a header), ``trec``
    (``<DOC>`` records) or ``cranfield`` (``.I`` records); by default detected from the name and the first
    line.
    """
    return lookup(FORMATS, format or _format_of(path), "document format")(path)


def _format_of(path: FilePath) -> str:
    name = str(path).removesuffix(".gz")
    for ending, format_name in ((".jsonl", "jsonl"), (".csv", "csv"), (".tsv", "tsv")):
        if name.endswith(ending):
            return format_name
    for _, text in lines(path):
        if text.strip():
            start = text.lstrip()
            if start.startswith(".I"):
                return "cranfield"
            if start.startswith("{"):
                return "jsonl"
            if start.upper().startswith("<DOC"):
                return "trec"
            break
    raise InputError("the document format cannot be detected", f"choose from {', '.join(FORMATS)}", file=path)


def lines(path: FilePath) -> Iterator[tuple[int, str]]:
    """Each line with its number; a chunk that is not valid UTF-8 is read as Latin-1."""
    for chunk, first in line_chunks(path):
        try:
            text = chunk.decode("utf-8")
        except UnicodeDecodeError:
            text = chunk.decode("latin-1")
        yield from enumerate(text.split("\n")[:-1], first)


def _jsonl(path: FilePath) -> Iterator[Document]:
    for number, text in lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            remedy = 'write one object per line, such as {"id": "d1", "title": "…"}'
            raise InputError(f"invalid JSON ({error})", remedy, file=path, line=number) from None
        if not isinstance(record, dict):
            problem = f"expected a JSON object, got {type(record).__name__}"
            raise InputError(problem, "write {…} on each line", file=path, line=number)
        key = next((name for name in ID_FIELDS if name in record), None)
        if key is None:
            raise InputError(
                "the document has no id", f"add a field {ID_FIELDS[0]!r}", file=path, line=number
            )
        fields = {
            name: value if isinstance(value, str) else " ".join(map(str, value))
            for name, value in record.items()
            if name != key and isinstance(value, str | list)
        }
        yield Document(str(record[key]), fields)


def _table(separator: str) -> Callable[[FilePath], Iterator[Document]]:
    def read(path: FilePath) -> Iterator[Document]:
        rows = csv.reader((text + "\n" for _, text in lines(path)), delimiter=separator)
        header = next(rows, [])
        key = next((name for name in ID_FIELDS if name in header), None)
        if key is None:
            raise InputError("there is no id column", f"name it {ID_FIELDS[0]!r}", file=path, line=1)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                problem = f"expected {len(header)} columns, got {len(row)}"
                raise InputError(problem, "quote texts that contain commas", file=path, line=rows.line_num)
            fields = dict(zip(header, row, strict=True))
            yield Document(fields.pop(key), fields)

    return read


CRANFIELD_FIELDS = {"T": "title", "A": "author", "B": "source", "W": "abstract"}
"""Letter of a part of a record → field."""


def cranfield_records(path: FilePath) -> Iterator[tuple[str, dict[str, str]]]:
    """Records ``.I number`` with parts ``.T``, ``.A``, …: the number and the text of each part."""
    name, part = None, ""
    parts: dict[str, list[str]] = {}
    for number, text in lines(path):
        text = text.rstrip("\r")
        if text.startswith(".I"):
            if name is not None:
                yield name, {key: "\n".join(value) for key, value in parts.items()}
            name, part, parts = text[2:].strip(), "", {}
            if not name:
                raise InputError("expected a number after .I", file=path, line=number)
        elif re.fullmatch(r"\.[A-Z]\s*", text):
            part = text[1]
            parts.setdefault(part, [])
        elif name is None or not part:
            if text.strip():
                raise InputError(
                    "text outside of a part",
                    "start records with .I, and their parts with .T or .W",
                    file=path,
                    line=number,
                )
        else:
            parts[part].append(text)
    if name is not None:
        yield name, {key: "\n".join(value) for key, value in parts.items()}


def _cranfield(path: FilePath) -> Iterator[Document]:
    for name, parts in cranfield_records(path):
        fields = {known: parts.get(letter, "") for letter, known in CRANFIELD_FIELDS.items()}
        # The abstract of a Cranfield record repeats the title.
        fields["abstract"] = fields["abstract"].removeprefix(fields["title"])
        yield Document(name, fields)


TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)[^>]*>")


def _trec(path: FilePath) -> Iterator[Document]:
    record: list[str] = []
    for number, text in lines(path):
        if text.strip().upper() == "<DOC>":
            record = []
        elif text.strip().upper() == "</DOC>":
            yield _trec_document("\n".join(record), path, number)
        else:
            record.append(text)


def _trec_document(text: str, path: FilePath, line: int) -> Document:
    """The fields of a TREC document: the text of each outermost tag, without inner tags."""
    fields: dict[str, list[str]] = {}
    at, open_tag = 0, ""
    for tag in TAG.finditer(text):
        if open_tag:
            fields.setdefault(open_tag, []).append(text[at : tag.start()])
            if tag[1] and tag[2].lower() == open_tag:
                open_tag = ""
        elif not tag[1]:
            open_tag = tag[2].lower()
        at = tag.end()
    joined = {name: " ".join(parts).strip() for name, parts in fields.items()}
    name = joined.pop("docno", "")
    if not name:
        raise InputError("the document that ends here has no <DOCNO>", "add one", file=path, line=line)
    return Document(name, joined)


FORMATS: dict[str, Callable[[FilePath], Iterator[Document]]] = {
    "jsonl": _jsonl,
    "csv": _table(","),
    "tsv": _table("\t"),
    "trec": _trec,
    "cranfield": _cranfield,
}
"""Name of a format → reader of documents."""


def read_queries(path: FilePath) -> dict[str, str]:
    """Query id → text, from lines ``id<tab>text``, JSON Lines (``id`` and ``text``) or ``.I`` records.

    Queries of ``.I`` records are numbered in file order (1, 2, …), not by the number in the record, because
    the Cranfield judgments use this numbering.
    """
    queries: dict[str, str] = {}
    first = next((text for _, text in lines(path) if text.strip()), "")
    if first.startswith(".I"):
        for place, (_, parts) in enumerate(cranfield_records(path), 1):
            queries[str(place)] = " ".join(parts.get("W", "").split())
        return queries
    if first.startswith("{"):
        for document in _jsonl(path):
            queries[document.id] = document.fields.get("text", "")
        return queries
    for number, text in lines(path):
        if not text.strip():
            continue
        name, tab, query = text.partition("\t")
        if not tab or not name.strip():
            raise InputError("invalid query", "write id, tab, text", file=path, line=number)
        queries[name.strip()] = query.strip()
    if not queries:
        raise InputError("the file contains no queries", "write id, tab, text on each line", file=path)
    return queries


def read_cranfield_qrels(path: FilePath) -> dict[str, dict[str, float]]:
    """Judgments of the Cranfield collection as grades, where larger is better.

    Its codes are 1 (a complete answer) to 4 (of minimum interest) and 5 (of no interest); the grade is
    5 − code, from 4 to 0. The code −1 is outside this scale and becomes 0 (not relevant). A document judged
    twice gets the better grade.
    """
    table: dict[str, dict[str, float]] = {}
    for number, text in lines(path):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 3 or not fields[2].lstrip("-").isdigit():
            raise InputError("invalid judgment", "write query, document and code", file=path, line=number)
        query, doc, code = fields[0], fields[1], int(fields[2])
        grade = float(5 - code) if 1 <= code <= 5 else 0.0
        row = table.setdefault(query, {})
        row[doc] = max(grade, row.get(doc, 0.0))
    return table
