"""Reading documents: JSON Lines, CSV, TSV, MS MARCO, TREC and SMART files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from topkit.data import InputError, read_judged
from topkit.data.compression import without_compression
from topkit.data.csv_rows import csv_rows
from topkit.data.files import FilePath
from topkit.data.json_rows import json_rows
from topkit.data.settings import lookup
from topkit.data.text_lines import text_lines
from topkit.features.lines import Lines

ID_FIELDS = ("id", "_id", "docid", "docno", "doc_id")
"""Names of the id field, the first that occurs is used."""


class Document(NamedTuple):
    """A document: its id and its fields (title, abstract, body, anchor, url, …) as text."""

    id: str
    fields: dict[str, str]


def read_documents(path: FilePath, format: str | None = None) -> Iterator[Document]:  # noqa: A002
    """Iterate over the documents of a file: plain, compressed or a pipe.

    format: ``jsonl`` (one object per line with an ``id`` or ``_id``: BEIR's corpus), ``csv`` or ``tsv`` (with
    a header), ``msmarco`` (no header: id and text, or id, URL, title and body, separated by tabs), ``trec``
    (``<DOC>`` records) or ``cranfield`` (``.I`` records: all SMART collections); by default detected from the
    name and the first line. CSV may be separated by commas, semicolons or tabs.
    """
    return documents_in(text_lines(path), path, format)


def documents_in(numbered: Lines, path: FilePath, format_name: str | None = None) -> Iterator[Document]:
    """The documents in numbered lines of a file: :func:`read_documents`."""
    name = format_name
    if name is None:
        first, numbered = peeked(numbered)
        name = _format_of(path, first)
    return lookup(FORMATS, name, "document format")(numbered, path)


def peeked(numbered: Lines) -> tuple[str, Lines]:
    """The first line that is not blank, and the lines from it on."""
    for number, text in numbered:
        if text.strip():
            return text, chain([(number, text)], numbered)
    return "", iter(())


def _format_of(path: FilePath, first: str) -> str:
    name = without_compression(path)
    for ending, format_name in ((".jsonl", "jsonl"), (".csv", "csv"), (".tsv", "tsv")):
        if name.endswith(ending):
            return "msmarco" if ending == ".tsv" and _is_msmarco(first) else format_name
    start = first.lstrip()
    for beginning, format_name in ((".I", "cranfield"), ("{", "jsonl"), ("<DOC", "trec")):
        if start.upper().startswith(beginning):
            return format_name
    if _is_msmarco(first):
        return "msmarco"
    raise InputError("the document format cannot be detected", f"choose from {', '.join(FORMATS)}", file=path)


def _is_msmarco(first: str) -> bool:
    """Whether a line is a row of MS MARCO: two or four columns, and none of them is named like an id."""
    fields = first.split("\t")
    return len(fields) in MSMARCO_FIELDS and not any(name.strip().lower() in ID_FIELDS for name in fields)


def _jsonl(numbered: Lines, path: FilePath) -> Iterator[Document]:
    return (document for _, document in json_documents(numbered, path))


def json_documents(numbered: Lines, path: FilePath) -> Iterator[tuple[int, Document]]:
    """The documents of JSON Lines, each with its line."""
    remedy = 'write one object per line, such as {"id": "d1", "title": "…"}'
    for number, record in json_rows(numbered, path, remedy):
        key = next((name for name in ID_FIELDS if name in record), None)
        if key is None:
            raise InputError(
                "the document has no id", f"add a field {ID_FIELDS[0]!r}", file=path, line=number
            )
        if isinstance(record[key], bool) or not isinstance(record[key], str | int | float):
            problem = f"expected text or a number as the id, got {type(record[key]).__name__}"
            raise InputError(problem, "write it as a text", file=path, line=number)
        fields = {
            name: value if isinstance(value, str) else " ".join(map(str, value))
            for name, value in record.items()
            if name != key and isinstance(value, str | list)
        }
        yield number, Document(str(record[key]), fields)


def _table(separator: str | None) -> Callable[[Lines, FilePath], Iterator[Document]]:
    def read(numbered: Lines, path: FilePath) -> Iterator[Document]:
        rows = csv_rows(numbered, path, separator)
        line, header = next(rows, (1, []))
        key = next((name for name in ID_FIELDS if name in header), None)
        if key is None:
            raise InputError("there is no id column", f"name it {ID_FIELDS[0]!r}", file=path, line=line)
        for line, row in rows:
            if len(row) != len(header):
                problem = f"expected {len(header)} columns, got {len(row)}"
                raise InputError(problem, "quote texts that contain separators", file=path, line=line)
            fields = dict(zip(header, row, strict=True))
            yield Document(fields.pop(key), fields)

    return read


MSMARCO_FIELDS = {2: ("text",), 4: ("url", "title", "body")}
"""Number of columns → the fields after the id: passages, or documents."""


def _msmarco(numbered: Lines, path: FilePath) -> Iterator[Document]:
    for number, text in numbered:
        if not text.strip():
            continue
        name, *texts = text.rstrip("\r").split("\t")  # nothing is quoted: a text may contain quotes
        if len(texts) + 1 not in MSMARCO_FIELDS or not name.strip():
            problem = f"expected 2 or 4 columns separated by tabs, got {len(texts) + 1}"
            raise InputError(problem, "write id, tab, text", file=path, line=number)
        yield Document(name.strip(), dict(zip(MSMARCO_FIELDS[len(texts) + 1], texts, strict=True)))


CRANFIELD_FIELDS = {"T": "title", "A": "author", "B": "source", "W": "abstract"}
"""Letter of a part of a record → field."""


def cranfield_records(numbered: Lines, path: FilePath) -> Iterator[tuple[str, dict[str, str]]]:
    """Records ``.I number`` with parts ``.T``, ``.A``, …: the number and the text of each part."""
    name, part = None, ""
    parts: dict[str, list[str]] = {}
    for number, text in numbered:
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


def _cranfield(numbered: Lines, path: FilePath) -> Iterator[Document]:
    for name, parts in cranfield_records(numbered, path):
        fields = {known: parts.get(letter, "") for letter, known in CRANFIELD_FIELDS.items()}
        # The abstract of a Cranfield record repeats the title.
        fields["abstract"] = fields["abstract"].removeprefix(fields["title"])
        yield Document(name, fields)


TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)[^<>]*>")
"""A tag. An opening bracket ends the search for the closing one, which would be quadratic otherwise."""
DOC_TAG = re.compile(r"<(/?)DOC(?:\s[^<>]*)?>", re.IGNORECASE)


def _trec(numbered: Lines, path: FilePath) -> Iterator[Document]:
    record: list[str] = []
    opened: int | None = None
    for number, text in numbered:
        at = 0
        for tag in DOC_TAG.finditer(text):
            if tag[1] and opened is not None:
                record.append(text[at : tag.start()])
                yield _trec_document("\n".join(record), path, number)
                opened = None
            elif tag[1]:
                problem = "</DOC> without a <DOC> before it"
                raise InputError(problem, "start each document with <DOC>", file=path, line=number)
            elif opened is not None:
                raise _unclosed(path, opened)
            else:
                opened, record = number, []
            at = tag.end()
        if opened is not None:
            record.append(text[at:])
    if opened is not None:
        raise _unclosed(path, opened)


def _unclosed(path: FilePath, line: int) -> InputError:
    problem = "the document that starts here has no </DOC>"
    return InputError(problem, "the file may be truncated; close it or remove it", file=path, line=line)


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


FORMATS: dict[str, Callable[[Lines, FilePath], Iterator[Document]]] = {
    "jsonl": _jsonl,
    "csv": _table(None),
    "tsv": _table("\t"),
    "msmarco": _msmarco,
    "trec": _trec,
    "cranfield": _cranfield,
}
"""Name of a format → reader of documents."""


def read_cranfield_qrels(path: FilePath) -> dict[str, dict[str, float]]:
    """Judgments of the Cranfield collection as grades, where larger is better.

    Its codes are 1 (a complete answer) to 4 (of minimum interest) and 5 (of no interest); the grade is
    5 − code, from 4 to 0. The code −1 is outside this scale and becomes 0 (not relevant). A document judged
    twice gets the better grade.
    """
    return read_judged(path, "cranfield").judgments.grades_by_query()
