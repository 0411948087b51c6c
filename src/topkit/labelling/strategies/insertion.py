"""A sorted list of the k best items so far; an item must beat the last, then binary search places it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from topkit.labelling.contest import Ask, Contest, Finish, Play, count

Middle = Callable[[int, int], int]
"""(low, high) → the position to compare with next, low ≤ position < high."""


def halves(low: int, high: int) -> int:
    """The middle of the positions that are still possible."""
    return (low + high) // 2


def insertion(contest: Contest) -> Play:
    """Keep the k best items so far sorted; compare each item with the last, then place it by binary search.

    Items come in the order of the prior, or in random order. About n + k log₂k + k ln(n/k)·log₂k judgments.

    Use it with a good prior ranking, or if assessors like to compare a new document with a known list. Not
    without a prior: `knockout` needs fewer questions.
    """
    groups: list[list[int]] = []
    for number, item in enumerate(contest.arrival(), 1):
        first = last_if_full(groups, contest.k)
        yield from insert(groups, item, Search(contest.k, contest.n - number, first))
    return Finish(groups)


def last_if_full(groups: list[list[int]], k: int) -> int | None:
    """The last position if k places are filled, because most items fail there; else None."""
    return len(groups) - 1 if count(groups) >= k else None


class Search(NamedTuple):
    """How to search for the position of an item."""

    k: int
    waiting: int
    """The number of items that follow, for the bounds."""
    first: int | None = None
    """The position to compare with first; None starts with ``middle``."""
    middle: Middle = halves
    most: Callable[[int], int] = int.bit_length
    """The number of comparisons that place an item among this many positions, for the bounds."""


def insert(groups: list[list[int]], item: int, search: Search) -> Generator[Ask, str, int | None]:
    """Insert the item at its position in the sorted groups, or nowhere if k items are better.

    A tie joins the group, also at the last place, so more than k items can stay. A group that is marked bad
    is removed with all groups below it. Returns the position, or None if the item is bad.
    """
    k, waiting, first, middle, most = search
    low, high = 0, len(groups)
    while low < high:
        position = middle(low, high) if first is None else first
        longest = 1 + most(max(high - position - 1, position - low)) + waiting * (1 + most(k - 1))
        answer = yield Ask(item, groups[position][0], 1 + waiting, longest)
        first = None
        if answer == "tie":
            groups[position].append(item)
            return position
        if answer == "bad-a":
            return None
        if answer == "b":
            low = position + 1
            continue
        if answer == "bad-b":
            del groups[position:]
        high = position
    if count(groups[:low]) < k:
        groups.insert(low, [item])
    while count(groups[:-1]) >= k:
        groups.pop()
    return low
