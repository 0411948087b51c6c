"""Reads topics, documents and prior rankings from files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from topkit.data.csv_rows import csv_rows, separator_of
from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.data.text_lines import text_lines
from topkit.data.trec import read_run
from topkit.features.corpus import ID_FIELDS, documents_in
from topkit.features.lines import Lines
from topkit.features.queries import read_queries
from topkit.features.topics import topics
from topkit.web.document_kinds import read_template
from topkit.web.json_lines import read_records
from topkit.web.material import check_document, check_topic
from topkit.web.store.projects import Document, Topic

TOPIC_FIELDS = ("topic", "qid", "query_id")
QUERY_FIELDS = ("query", "title", "text")
TOPIC_REMEDY = "give the columns id, query and description, JSON Lines with these fields, or TREC topics"


def read_topics(path: FilePath) -> list[Topic]:
    """Reads topics: CSV or TSV with a header, JSON Lines, TREC, Cranfield, or lines ``id<tab>query``.

    The fields are ``id`` (or ``topic``), ``query`` (or ``title``, ``text``) and ``description``.
    """
    first = next((text for _, text in text_lines(path) if text.strip()), "").lstrip("\ufeff ")
    numbered: list[tuple[int | None, Topic]]
    if first.startswith("<"):
        numbered = list(_trec_topics(path))
    elif first.startswith("{"):
        records = read_records(path, TOPIC_REMEDY)
        numbered = [(line, _json_topic(record, path, line)) for line, record in records]
    elif _is_header(first):
        rows = _table(path, separator_of(first))
        numbered = [(line, _topic(row, path, line)) for line, row in rows]
    elif first.startswith(".I") or "\t" in first:
        numbered = [(None, Topic(key, query)) for key, query in read_queries(path).items()]
    else:
        raise InputError("unknown format of the topics", TOPIC_REMEDY, file=path)
    if not numbered:
        raise InputError("the file contains no topics", TOPIC_REMEDY, file=path)
    keys: set[str] = set()
    for line, topic in numbered:
        with _located(path, line):
            check_topic(topic)
            if topic.key in keys:
                raise InputError(f"topic {topic.key!r} appears twice", "give each topic a different id")
        keys.add(topic.key)
    return [topic for _, topic in numbered]


@contextmanager
def _located(path: FilePath, line: int | None) -> Iterator[None]:
    """Add the file and the line to an error."""
    try:
        yield
    except InputError as error:
        raise InputError(error.problem, error.remedy, file=path, line=line) from None


def _is_header(text: str) -> bool:
    names = {name.strip().strip('"').lower() for name in re.split("[,;\t]", text)}
    return bool(names & {*ID_FIELDS, "topic"}) and bool(names & set(QUERY_FIELDS))


def _table(path: FilePath, separator: str) -> Iterator[tuple[int, dict[str, str]]]:
    rows = csv_rows(text_lines(path), path, separator)
    _, header = next(rows, (1, []))
    for line, row in rows:
        yield line, dict(zip(header, row, strict=False))


def _json_topic(record: Mapping[str, object], path: FilePath, line: int) -> Topic:
    texts = {key: str(value) for key, value in record.items() if value is not None}
    return _topic(texts, path, line)


def _topic(record: Mapping[str, str], path: FilePath, line: int) -> Topic:
    by_name = {key.strip().lower(): value.strip() for key, value in record.items()}
    key = next((by_name[name] for name in (*ID_FIELDS, "topic") if by_name.get(name)), "")
    query = next((by_name[name] for name in QUERY_FIELDS if by_name.get(name)), "")
    if not key or not query:
        raise InputError(f"the topic has no {'query' if key else 'id'}", TOPIC_REMEDY, file=path, line=line)
    return Topic(_storable(key), _storable(query), _storable(by_name.get("description", "")))


def _trec_topics(path: FilePath) -> Iterator[tuple[int, Topic]]:
    for line, number, fields in topics(text_lines(path), path):
        title = fields.get("title") or fields.get("query")
        if not title:
            raise InputError("the topic that starts here has no <title>", TOPIC_REMEDY, file=path, line=line)
        description = "\n\n".join(fields[name] for name in ("desc", "narr") if fields.get(name))
        yield line, Topic(_storable(number), _storable(title), _storable(description))


def read_material(path: FilePath, format_name: str | None = None) -> list[Document]:
    """Reads the documents to show, from any file that ``topkit features`` reads.

    A document with a field ``html`` is shown as a page; one with a field ``url`` and no text is loaded from
    that URL; everything else is shown as text. A field ``topic`` restricts the document to one topic.
    """
    line = 0

    def counted() -> Lines:
        nonlocal line
        for number, text in text_lines(path):
            line = number  # a document is complete when its last line was read
            yield number, text

    documents = []
    for doc in documents_in(counted(), path, format_name):
        with _located(path, line):
            document = _document(doc.id, dict(doc.fields))
            check_document(document)
        documents.append(document)
    if not documents:
        raise InputError("the file contains no documents", "give documents with an id and a text", file=path)
    return documents


def _document(key: str, fields: dict[str, str]) -> Document:
    named = {name.strip().lower(): value for name, value in fields.items()}
    topic = next((named.pop(name).strip() for name in TOPIC_FIELDS if name in named), None) or None
    title, url = " ".join(named.pop("title", "").split()), named.pop("url", "").strip()
    html = named.pop("html", "")
    template = read_template(key, named)
    text = "\n\n".join(value.strip() for value in named.values() if value.strip())
    if template is not None:
        kind, body = template
    elif html.strip():
        kind, body = "html", html
    elif text or not url:
        kind, body = "text", text
    else:
        kind, body = "url", url
    return Document(_storable(key.strip()), kind, _storable(title), _storable(body), topic)


def read_prior(path: FilePath, depth: int) -> dict[str, list[str]]:
    """The first ``depth`` documents of each topic in a TREC run, best first."""
    run = read_run(path, compiled=False)
    ranked = {topic: sorted(run[topic], key=lambda pair: -pair[1])[:depth] for topic in run}
    return {topic: [doc for doc, _ in pairs] for topic, pairs in ranked.items()}


def _storable(text: str) -> str:
    """The text without characters that a database does not accept: code 0 and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
