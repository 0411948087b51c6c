"""Result pages as text: what was shown, what was clicked and, where they were judged, the grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks, text_writer
from topkit.data.judgments import Page

FORM = "a line is: session, query, [documents], [types], [clicks, 0 or 1], perhaps [grades]; tabs between"


def read_pages(path: FilePath) -> Iterator[Page]:
    """The pages of a file (.gz too), one by one, so that a log of any length fits in memory.

    A line holds session, query, a list of documents, a list of result types (not used), a list of clicks and
    perhaps a list of grades, with tabs between: ``s1⇥q7⇥[d1, d2]⇥[1, 1]⇥[0, 1]⇥[2, 0]``.
    """
    for chunk, first_line in line_chunks(path):
        for line, row in enumerate(chunk.decode("utf-8", "surrogateescape").split("\n")[:-1], first_line):
            if row.strip():
                yield _page(row.rstrip("\r"), path, line)


def _page(row: str, path: FilePath, line: int) -> Page:
    fields = row.split("\t")
    if len(fields) not in (5, 6):
        raise InputError(f"{len(fields)} fields where 5 or 6 belong", FORM, file=path, line=line)
    lists = [_items(text, path, line) for text in fields[2:]]
    docs, clicks = lists[0], lists[2]
    if not docs or any(len(items) != len(docs) for items in lists):
        raise InputError("the lists must be as long as the list of documents", FORM, file=path, line=line)
    if any(click not in ("0", "1") for click in clicks):
        raise InputError("a click is neither 0 nor 1", FORM, file=path, line=line)
    try:
        grades = tuple(float(grade) for grade in lists[3]) if len(lists) > 3 else ()
    except ValueError:
        raise InputError("a grade is not a number", FORM, file=path, line=line) from None
    if any(grade != grade or abs(grade) == float("inf") for grade in grades):
        raise InputError("a grade is not a finite number", FORM, file=path, line=line)
    clicked = tuple(click == "1" for click in clicks)
    return Page(fields[1], tuple(docs), clicked, fields[0], grades=grades)


def _items(text: str, path: FilePath, line: int) -> list[str]:
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise InputError(f"{text[:20]!r} is not a list in brackets", FORM, file=path, line=line)
    return [item.strip() for item in text[1:-1].split(",")] if text[1:-1].strip() else []


def write_pages(pages: Iterable[Page], path: FilePath) -> None:
    """Write pages in the form that :func:`read_pages` reads."""
    with text_writer(path) as stream:
        for page in pages:
            if any(mark in name for name in page.docs for mark in ",[]\t\n"):
                raise InputError(
                    f"a document of query {page.query!r} has a comma, bracket or tab in its name"
                )
            lists: list[Iterable[object]] = [page.docs, [1] * len(page.docs), [int(c) for c in page.clicks]]
            if page.grades:
                lists.append(f"{grade:g}" for grade in page.grades)
            shown = ["[" + ", ".join(str(item) for item in items) + "]" for items in lists]
            stream.write("\t".join([page.session, page.query, *shown]) + "\n")
