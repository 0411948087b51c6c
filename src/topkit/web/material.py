"""What topics and documents may contain, however they come in: by a file of material or a whole project."""

from __future__ import annotations

from urllib.parse import urlsplit

from topkit.data.errors import InputError
from topkit.web.store.projects import Document, Topic

LONGEST_TEXT = 2_000_000
"""Characters of a document; nobody reads more before judging."""
LONGEST_KEY = 1000
LONGEST_QUERY = 20_000


def check_topic(topic: Topic) -> None:
    """Raise an error for a topic that cannot be judged or exported."""
    check_key(topic.key, "topic")
    for name, text in (("query", topic.query), ("description", topic.description)):
        _check_length(text, LONGEST_QUERY, f"the {name} of topic {topic.key!r}")


def check_document(document: Document) -> None:
    """Raise an error for a document that cannot be shown, judged or exported."""
    check_key(document.key, "document")
    if document.kind == "url" and not is_web_address(document.body):
        problem = f"invalid URL {document.body[:80]!r} of document {document.key!r}"
        raise InputError(problem, "write https://…")
    _check_length(document.title, LONGEST_QUERY, f"the title of document {document.key!r}")
    _check_length(document.body, LONGEST_TEXT, f"document {document.key!r}")


def check_key(key: str, what: str) -> None:
    """Raise an error for an id that the formats of judgments cannot hold: they separate ids by spaces."""
    if not key:
        raise InputError(f"a {what} has no id", f"give every {what} an id")
    if key.split() != [key]:
        remedy = "replace the spaces, for example by _: TREC and LETOR files separate ids by spaces"
        raise InputError(f"the id {key[:80]!r} of a {what} contains spaces", remedy)
    _check_length(key, LONGEST_KEY, f"the id {key[:40]!r}… of a {what}")


def _check_length(text: str, longest: int, what: str) -> None:
    if len(text) > longest:
        raise InputError(f"{what} has {len(text):,} characters", f"shorten it to {longest:,}")


def is_web_address(url: str) -> bool:
    """Whether a browser can load the URL from another site."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an open bracket in the host
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
