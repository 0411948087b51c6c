"""Sorting with nearly the minimum number of comparisons: pairs first, then insertion in a special order."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from math import ceil, lgamma, log, log2

from topkit.labelling.contest import Ask, Contest, Finish, Play


class _Unit:
    """Items that tie, and the units that lost to them in each round of pairs."""

    def __init__(self, item: int) -> None:
        self.items = [item]
        self.losers: list[list[_Unit]] = []

    def absorb(self, other: _Unit) -> None:
        """Add a unit that ties, with the units that lost to it."""
        self.items += other.items
        for losers, other_losers in zip(self.losers, other.losers, strict=False):
            losers += other_losers


def merge_insertion(contest: Contest) -> Play:
    """Sort all items by merge insertion, for any k: at most Σ ⌈log₂(3i/4)⌉ judgments, i = 2 … n.

    Reference: L. Ford, S. Johnson: A tournament problem, American Mathematical Monthly 66, 1959.

    Use it to order a short list completely (k ≥ n). Not for a small top of a long list: it sorts everything.
    """
    order = yield from _Sorter(contest.n).sort([_Unit(item) for item in contest.shuffled()], 0)
    return Finish([unit.items for unit in reversed(order)])


def merge_insertion_most(n: int) -> int:
    """The maximum number of comparisons of merge insertion if nothing ties.

    >>> [merge_insertion_most(n) for n in range(1, 11)]
    [0, 1, 3, 5, 7, 10, 13, 16, 19, 22]
    """
    return sum(ceil(log2(3 * i / 4)) for i in range(2, n + 1))


class _Sorter:
    def __init__(self, n: int) -> None:
        self.undefeated = n
        self.most = sum((i - 1).bit_length() for i in range(2, n + 1))  # ties can disturb the best order
        self.likely = lgamma(n + 1) / log(2) + 0.02 * n  # log₂ n! and a little more

    def ask(self, a: _Unit, b: _Unit) -> Generator[Ask, str, str]:
        least = max(1, self.undefeated - 1)
        ask = Ask(a.items[0], b.items[0], least, max(least, self.most), max(least, self.likely))
        self.most -= 1
        self.likely -= 1
        return (yield ask)

    def sort(self, units: list[_Unit], level: int) -> Generator[Ask, str, list[_Unit]]:
        """The units in ascending order, worst first."""
        if len(units) < 2:
            return units
        winners = []
        for a, b in zip(units[::2], units[1::2], strict=False):
            answer = yield from self.ask(a, b)
            self.undefeated -= 1
            winner, loser = (b, a) if answer in ("b", "bad-a") else (a, b)
            winner.losers.append([])
            if answer == "tie":
                winner.absorb(loser)
            elif not answer.startswith("bad"):
                winner.losers[level].append(loser)
            winners.append(winner)
        chain = yield from self.sort(winners, level + 1)
        waiting: list[tuple[_Unit | None, list[_Unit]]] = [(winner, winner.losers[level]) for winner in chain]
        if len(units) % 2:
            waiting.append((None, [units[-1]]))
        for place in _good_order(len(waiting)):
            partner, losers = waiting[place]
            for loser in list(losers):
                yield from self._insert(chain, loser, partner)
                self.undefeated -= partner is None
        return chain

    def _insert(self, chain: list[_Unit], unit: _Unit, partner: _Unit | None) -> Generator[Ask, str, None]:
        """Insert the unit at its position below its partner, which beat it."""
        low, high = 0, len(chain)
        if partner is not None:
            if partner not in chain:  # it was marked bad
                return
            high = chain.index(partner)
        while low < high:
            middle = (low + high) // 2
            answer = yield from self.ask(unit, chain[middle])
            if answer == "tie":
                chain[middle].absorb(unit)
                return
            if answer == "bad-a":
                return
            if answer == "bad-b":
                del chain[: middle + 1]
                low, high = 0, high - middle - 1
            elif answer == "a":
                low = middle + 1
            else:
                high = middle
        chain.insert(low, unit)


def _good_order(size: int) -> Iterator[int]:
    """The 1st, the 3rd and 2nd, the 5th and 4th, the 11th … 6th: a loser always has 2^m − 1 open positions.

    >>> list(_good_order(6))
    [0, 2, 1, 4, 3, 5]
    """
    before, end = 0, 1
    while before < size:
        yield from reversed(range(before, min(end, size)))
        before, end = end, end + 2 * before if before else 3
