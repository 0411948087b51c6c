"""Result pages as text: the documents shown, the clicks and, if the documents were judged, the grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topkit.data.columns import field_count
from topkit.data.errors import InputError
from topkit.data.files import FilePath, numbered_lines, text_writer
from topkit.data.judgments import Page

FORM = "fields are session, query, [documents], [types], [clicks] and optional [grades], separated by tabs"


def read_pages(path: FilePath) -> Iterator[Page]:
    """The pages of a file (.gz too), one at a time, so that a log of any length can be read.

    A line has session, query, documents, result types (ignored), clicks (0 or 1) and optional grades,
    separated by tabs; the last four are lists: ``s1⇥q7⇥[d1, d2]⇥[1, 1]⇥[0, 1]⇥[2, 0]``.
    """
    for line, text in numbered_lines(path):
        if text.strip():
            yield _page(text.decode("utf-8", "surrogateescape").rstrip("\r"), path, line)


def _page(row: str, path: FilePath, line: int) -> Page:
    fields = row.split("\t")
    if len(fields) not in (5, 6):
        raise InputError(field_count("5 or 6", len(fields)), FORM, file=path, line=line)
    lists = [_items(text, path, line) for text in fields[2:]]
    docs, clicks = lists[0], lists[2]
    if not docs or any(len(items) != len(docs) for items in lists):
        raise InputError("expected lists as long as the list of documents", FORM, file=path, line=line)
    if any(click not in ("0", "1") for click in clicks):
        raise InputError("expected clicks of 0 or 1", FORM, file=path, line=line)
    try:
        grades = tuple(float(grade) for grade in lists[3]) if len(lists) > 3 else ()
    except ValueError:
        raise InputError("a grade is not a number", FORM, file=path, line=line) from None
    if any(grade != grade or abs(grade) == float("inf") for grade in grades):
        raise InputError("a grade is not a finite number", FORM, file=path, line=line)
    clicked = tuple(click == "1" for click in clicks)
    return Page(fields[1], tuple(docs), clicked, fields[0], grades=grades)


def read_satisfaction(path: FilePath) -> dict[str, bool]:
    """Session → whether the user was satisfied, from lines ``session 1`` or ``session 0``."""
    satisfied: dict[str, bool] = {}
    for line, text in numbered_lines(path):
        fields = text.decode("utf-8", "surrogateescape").split()
        if not fields:
            continue
        if len(fields) != 2 or fields[1] not in ("0", "1"):
            problem = f"expected a session and 0 or 1, got {' '.join(fields)[:40]!r}"
            raise InputError(problem, "write lines such as 's17 1'", file=path, line=line)
        if fields[0] in satisfied:
            raise InputError(f"session {fields[0]!r} occurs twice", "keep one line", file=path, line=line)
        satisfied[fields[0]] = fields[1] == "1"
    return satisfied


def _items(text: str, path: FilePath, line: int) -> list[str]:
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise InputError(f"expected a list in brackets, got {text[:20]!r}", FORM, file=path, line=line)
    return [item.strip() for item in text[1:-1].split(",")] if text[1:-1].strip() else []


def write_pages(pages: Iterable[Page], path: FilePath) -> None:
    """Write pages in the format that :func:`read_pages` reads."""
    with text_writer(path) as stream:
        for page in pages:
            if any(mark in name for name in page.docs for mark in ",[]\t\n"):
                raise InputError(f"a document id of query {page.query!r} has a comma, bracket or tab")
            lists: list[Iterable[object]] = [page.docs, [1] * len(page.docs), [int(c) for c in page.clicks]]
            if page.grades:
                lists.append(f"{grade:g}" for grade in page.grades)
            fields = ["[" + ", ".join(str(item) for item in items) + "]" for items in lists]
            stream.write("\t".join([page.session, page.query, *fields]) + "\n")
