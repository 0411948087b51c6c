"""Quicksort that stops as soon as the top k are in order."""

from __future__ import annotations

from collections.abc import Generator
from random import Random

from topkit.labelling.contest import Ask, Contest, Finish, Play, count


def quicksort(contest: Contest) -> Play:
    """Divide the items by a random pivot, sort the better part first, and stop when k items are in order.

    O(n + k log k) judgments on average (O(n log n) for k = n).

    Reference: N. Ailon, M. Mohri: An efficient reduction of ranking to classification, COLT 2008.

    Use it for comparison only. Not in practice: a random pivot wastes questions on documents below the top.
    """
    chance = contest.random()
    groups: list[list[int]] = []
    parts = [(list(range(contest.n)), False)]  # best part last; True: its items tie, so it is a group already
    while parts and count(groups) < contest.k:
        part, tied = parts.pop()
        if tied or len(part) == 1:
            groups.append(part)
            continue
        later = sum(_pairs(len(other)) for other, tied in parts if not tied)
        better, same, worse = yield from _split(part, chance, later)
        if not same:  # the pivot is bad, and so are all worse items
            parts = []
        parts += [(side, side is same) for side in (worse, same, better) if side]
    return Finish(groups)


def _split(
    part: list[int], chance: Random, later: int
) -> Generator[Ask, str, tuple[list[int], list[int], list[int]]]:
    """The items better than, equal to and worse than a random pivot; none are equal if the pivot is bad."""
    pivot = part.pop(chance.randrange(len(part)))
    sides: dict[str, list[int]] = {"a": [], "tie": [pivot], "b": [], "bad-a": []}
    size = len(part)
    while part:
        answer = yield Ask(part[-1], pivot, len(part), len(part) + _pairs(size) + later)
        if answer == "bad-b":
            return sides["a"] + part, [], []
        sides[answer].append(part.pop())
    return sides["a"], sides["tie"], sides["b"]


def _pairs(size: int) -> int:
    return size * (size - 1) // 2
