"""Topics, documents and prior rankings from files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.data.trec import read_run
from topkit.features.corpus import ID_FIELDS, lines, read_documents, read_queries
from topkit.web.store.projects import Document, Topic

TOPIC_FIELDS = ("topic", "qid", "query_id")
LONGEST_TEXT = 2_000_000  # characters of a document; nobody reads more before judging
TOPIC_FORM = "give the columns id, query and description, JSON Lines with these names, or TREC topics"


def read_topics(path: FilePath) -> list[Topic]:
    """Topics of a file: CSV or TSV with a header, JSON Lines, TREC's, Cranfield's, or lines id<tab>query.

    The names are ``id`` (or ``topic``), ``query`` (or ``title``, ``text``) and ``description``.
    """
    first = next((text for _, text in lines(path) if text.strip()), "").lstrip("\ufeff ")
    if first.startswith("<"):
        found = list(_trec_topics(path))
    elif first.startswith("{"):
        found = [_topic(record, path, line) for line, record in _json_lines(path)]
    elif first.startswith(".I"):
        found = [Topic(key, query) for key, query in read_queries(path).items()]
    elif _is_header(first):
        found = [_topic(row, path, line) for line, row in _table(path, "\t" if "\t" in first else ",")]
    elif "\t" in first:
        found = [Topic(key, query) for key, query in read_queries(path).items()]
    else:
        raise InputError("the topics cannot be read", TOPIC_FORM, file=path)
    if not found:
        raise InputError("the file holds no topics", TOPIC_FORM, file=path)
    seen: set[str] = set()
    for topic in found:
        if topic.key in seen:
            raise InputError(
                f"topic {topic.key!r} comes twice", "give each topic an id of its own", file=path
            )
        seen.add(topic.key)
    return found


def _is_header(text: str) -> bool:
    names = {name.strip().strip('"').lower() for name in re.split("[,\t]", text)}
    return bool(names & {*ID_FIELDS, "topic"}) and bool(names & {"query", "title", "text"})


def _table(path: FilePath, separator: str) -> Iterator[tuple[int, dict[str, str]]]:
    rows = csv.DictReader((text + "\n" for _, text in lines(path)), delimiter=separator)
    try:
        for row in rows:
            yield (
                rows.line_num,
                {(key or "").strip("\ufeff "): value or "" for key, value in row.items() if key},
            )
    except csv.Error as error:
        raise InputError(
            f"not CSV: {error}", "quote fields properly", file=path, line=rows.line_num
        ) from None


def _json_lines(path: FilePath) -> Iterator[tuple[int, dict[str, str]]]:
    for line, text in lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except ValueError as error:
            raise InputError(f"this is not JSON ({error})", TOPIC_FORM, file=path, line=line) from None
        if not isinstance(record, dict):
            raise InputError("this is not an object", TOPIC_FORM, file=path, line=line)
        yield line, {key: str(value) for key, value in record.items() if value is not None}


def _topic(record: Mapping[str, str], path: FilePath, line: int) -> Topic:
    by_name = {key.strip().lower(): value.strip() for key, value in record.items()}
    key = next((by_name[name] for name in (*ID_FIELDS, "topic") if by_name.get(name)), "")
    query = next((by_name[name] for name in ("query", "title", "text") if by_name.get(name)), "")
    if not key or not query:
        raise InputError(f"the topic has no {'query' if key else 'id'}", TOPIC_FORM, file=path, line=line)
    return Topic(_storable(key), _storable(query), _storable(by_name.get("description", "")))


TREC_PART = re.compile(
    r"<(num|title|desc|narr)>\s*(?:(?:Number|Topic|Description|Narrative):)?(.*?)(?=<(?:/?)(?:num|title|desc|narr|top)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)


def _trec_topics(path: FilePath) -> Iterator[Topic]:
    text = "\n".join(text for _, text in lines(path))
    for record in re.findall(r"<top>(.*?)</top>", text, re.DOTALL | re.IGNORECASE):
        parts = {name.lower(): " ".join(words.split()) for name, words in TREC_PART.findall(record)}
        if not parts.get("num") or not parts.get("title"):
            raise InputError("a topic has no <num> or no <title>", TOPIC_FORM, file=path)
        told = "\n\n".join(parts[name] for name in ("desc", "narr") if parts.get(name))
        yield Topic(_storable(parts["num"]), _storable(parts["title"]), _storable(told))


def read_material(path: FilePath, format_name: str | None = None) -> list[Document]:
    """Documents to show, from any file that ``topkit features`` reads.

    A field ``html`` makes it a page, a field ``url`` without any text the address of one; all other text is
    shown as text. A field ``topic`` names the only topic that the document is judged for.
    """
    found = [_document(one.id, dict(one.fields), path) for one in read_documents(path, format_name)]
    if not found:
        raise InputError("the file holds no documents", "give documents with an id and a text", file=path)
    return found


def _document(key: str, fields: dict[str, str], path: FilePath) -> Document:
    if not key.strip():
        raise InputError("a document has no id", "give every document an id", file=path)
    named = {name.strip().lower(): value for name, value in fields.items()}
    topic = next((named.pop(name).strip() for name in TOPIC_FIELDS if name in named), None) or None
    title, address = " ".join(named.pop("title", "").split()), named.pop("url", "").strip()
    page = named.pop("html", "")
    text = "\n\n".join(value.strip() for value in named.values() if value.strip())
    if page.strip():
        kind, body = "html", page
    elif text or not address:
        kind, body = "text", text
    else:
        kind, body = "url", address
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
            raise InputError(f"{address[:80]!r} is no address of a page", "write https://…", file=path)
    if len(body) > LONGEST_TEXT:
        raise InputError(
            f"document {key!r} has {len(body):,} characters", f"cut it to {LONGEST_TEXT:,}", file=path
        )
    return Document(_storable(key), kind, _storable(title), _storable(body), topic)


def read_prior(path: FilePath, depth: int) -> dict[str, list[str]]:
    """Topic → its first documents by a TREC run, the best first."""
    run = read_run(path, compiled=False)
    ranked = {topic: sorted(run[topic], key=lambda pair: -pair[1])[:depth] for topic in run}
    return {topic: [doc for doc, _ in pairs] for topic, pairs in ranked.items()}


def _storable(text: str) -> str:
    """Without what no database takes: characters of code 0, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
