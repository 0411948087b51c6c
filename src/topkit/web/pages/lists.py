"""Long lists in parts: searched, filtered, sorted and paged by the query string of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from fastapi import Request

PAGE = 25
"""Rows per page."""
Row = TypeVar("Row")


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """The rows of one page of a list, with the links to the others."""

    rows: list[Row]
    total: int
    page: int
    pages: int
    search: str
    sort: str
    name: str
    """The prefix of the list's parameters in the query string."""
    parameters: tuple[tuple[str, str], ...]
    """All other parameters, which links and forms keep."""

    def link(self, **changes: object) -> str:
        """The query string with some parameters of this list changed."""
        values = {"q": self.search, "sort": self.sort, "page": str(self.page)}
        values |= {key: str(value) for key, value in changes.items()}
        pairs = [(self.name + key, value) for key, value in values.items() if value not in ("", "1")]
        return "?" + urlencode([*self.parameters, *pairs])

    def sort_link(self, column: str) -> str:
        """The link of a column's heading: sort by it, or in the other direction."""
        return self.link(sort="-" + column if self.sort == column else column, page=1)

    def direction(self, column: str) -> str:
        """The value of the attribute aria-sort."""
        return {column: "ascending", "-" + column: "descending"}.get(self.sort, "none")


def listed(
    request: Request,
    rows: Iterable[Row],
    *,
    search: Callable[[Row], str] | None = None,
    sorts: Mapping[str, Callable[[Row], Any]] | None = None,
    name: str = "",
    size: int = PAGE,
) -> Listing[Row]:
    """The part of a list that the query string asks for."""
    text, sort, page = (request.query_params.get(name + key, "") for key in ("q", "sort", "page"))
    selected = list(rows)
    if search is not None and text:
        words = text.casefold().split()
        selected = [row for row in selected if all(word in search(row).casefold() for word in words)]
    key = (sorts or {}).get(sort.removeprefix("-"))
    if key is not None:
        selected.sort(key=key, reverse=sort.startswith("-"))
    return _part(request, selected, (text, sort if key else "", page), name, size)


def _part(
    request: Request, selected: Sequence[Row], asked: tuple[str, str, str], name: str, size: int
) -> Listing[Row]:
    text, sort, page = asked
    number, pages = part_number(page, len(selected), size)
    rows = list(selected[(number - 1) * size : number * size])
    listing_keys = {name + key for key in ("q", "sort", "page")}
    others = tuple(
        (key, value) for key, value in request.query_params.multi_items() if key not in listing_keys
    )
    return Listing(rows, len(selected), number, pages, text, sort, name, others)


def part_number(asked: str, total: int, size: int = PAGE) -> tuple[int, int]:
    """The number of the part to show (within its range), and how many there are.

    >>> part_number("3", 60), part_number("x", 60), part_number("9", 0)
    ((3, 3), (1, 3), (1, 1))
    """
    pages = max(1, -(-total // size))
    number = int(asked) if asked.isdecimal() and len(asked) < 10 else 1
    return min(max(number, 1), pages), pages


def stored_listing(
    request: Request, read: Callable[[str, int, int], tuple[int, list[Row]]], size: int = PAGE
) -> Listing[Row]:
    """A part of a list that the database searches: ``read(search, first, count)`` gives total and rows."""
    text, page = request.query_params.get("q", ""), request.query_params.get("page", "")
    total, _ = read(text, 0, 1)
    number, pages = part_number(page, total, size)
    _, rows = read(text, (number - 1) * size, size)
    others = tuple((k, v) for k, v in request.query_params.multi_items() if k not in ("q", "page"))
    return Listing(rows, total, number, pages, text, "", "", others)
