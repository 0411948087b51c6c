"""A sorted list of the k best so far; newcomers must beat the last of it and are placed by halving."""

from __future__ import annotations

from collections.abc import Callable, Generator

from topkit.labelling.contest import Ask, Contest, Finish, Play, count

Middle = Callable[[int, int], int]
"""(low, high) → the group to compare with next, low ≤ middle < high."""


def halves(low: int, high: int) -> int:
    """The middle of the places that are still open."""
    return (low + high) // 2


def insertion(contest: Contest) -> Play:
    """Keep the k best so far sorted; a newcomer is compared with the last of them, then placed by halving.

    Items come in the order of the prior, or at random. About n + k log₂k + k ln(n/k)·log₂k judgments.
    """
    groups: list[list[int]] = []
    for seen, item in enumerate(contest.arrival(), 1):
        first = last_if_full(groups, contest.k)
        yield from insert(groups, item, contest.k, contest.n - seen, first)
    return Finish(groups)


def last_if_full(groups: list[list[int]], k: int) -> int | None:
    """The last position if k places are taken, because most newcomers fail there."""
    return len(groups) - 1 if count(groups) >= k else None


def insert(
    groups: list[list[int]],
    item: int,
    k: int,
    waiting: int,
    first: int | None = None,
    middle: Middle = halves,
    most: Callable[[int], int] = int.bit_length,
) -> Generator[Ask, str, int | None]:
    """Put the item at its position in the sorted groups, or nowhere if k items are better.

    It is compared with position ``first``, then with ``middle`` of those still open. ``waiting`` items come
    after it, and ``most(size)`` comparisons place an item among ``size`` positions (for the bounds). A tie
    joins the group, also at the last place, so more than k items can stay; a group that is marked bad goes
    with all that is below it. Returns the position, or None if the item is bad.
    """
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
