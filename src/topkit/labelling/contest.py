"""What a strategy is: a generator that yields questions, receives answers and returns the top places."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple


class Ask(NamedTuple):
    """A question a strategy puts: is item ``a`` or item ``b`` better? (``b`` is None: grade item ``a``.)"""

    a: int
    b: int | None
    least: int
    """The fewest questions that can still follow, this one included."""
    most: int
    """The most questions that can still follow, this one included."""
    likely: float | None = None
    """About how many will follow on a random order, where the strategy can tell."""


class Finish(NamedTuple):
    """What a strategy returns: items by falling relevance, those that share a place in one group.

    Items that were marked bad are left out. The groups hold at least the top k, or all that are not bad.
    """

    groups: list[list[int]]
    confidence: dict[int, float] | None = None
    """Probability that an item belongs to the top k, where the strategy reckons with errors."""


Play = Generator[Ask, str, Finish]


@dataclass(frozen=True)
class Contest:
    """The task: find the ordered top k of items 0 … n−1, which a prior ranking may already have sorted."""

    n: int
    k: int
    seed: int = 0
    prior: tuple[int, ...] | None = None

    def random(self) -> Random:
        """The contest's own source of chance; every call starts it anew."""
        return Random(self.seed)

    def shuffled(self) -> list[int]:
        """The items in random order."""
        order = list(range(self.n))
        self.random().shuffle(order)
        return order

    def arrival(self) -> list[int]:
        """The items in the order of the prior, or at random where there is none."""
        return self.shuffled() if self.prior is None else list(self.prior)


Strategy = Callable[[Contest], Play]


def count(groups: Iterable[list[int]]) -> int:
    """Items in all groups together."""
    return sum(map(len, groups))


def keep_sides(play: Play, chance: Random) -> Play:
    """The same play, with every document on its own side of the screen.

    A document of the last question stays on its side, because moving it costs the assessor time; otherwise
    sides are drawn at random, so that no strategy always shows its favourite on the left.
    """
    left: int | None = None
    right: int | None = None
    try:
        ask = next(play)
        while True:
            if ask.b is None:
                ask = play.send((yield ask))
                continue
            swap = ask.a == right or ask.b == left
            if {ask.a, ask.b} == {left, right} or not {ask.a, ask.b} & {left, right}:
                swap = chance.random() < 0.5
            if swap:
                ask = ask._replace(a=ask.b, b=ask.a)
            left, right = ask.a, ask.b
            answer = yield ask
            ask = play.send(SWAPPED[answer] if swap else answer)
    except StopIteration as end:
        finish: Finish = end.value
        return finish


SWAPPED = {"a": "b", "b": "a", "tie": "tie", "bad-a": "bad-b", "bad-b": "bad-a"}
