"""Strategies are generators: they yield questions, receive answers and return the top places."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""The names of the items of a question, in order; the answer to a question about several names the best."""


class Ask(NamedTuple):
    """A question: is item ``a`` or item ``b`` better? If ``b`` is None: which grade has item ``a``?

    With ``rest``: which of ``a``, ``b`` and the others is best? The answers are then "a", "b", "c", …, "tie".
    """

    a: int
    b: int | None
    least: int
    """The minimum number of remaining questions, including this one."""
    most: int
    """The maximum number of remaining questions, including this one."""
    likely: float | None = None
    """The expected number of remaining questions for a random order, if the strategy can estimate it."""
    rest: tuple[int, ...] = ()
    """Further items of a question about more than two."""


class Finish(NamedTuple):
    """The result of a strategy: groups of items in descending relevance; items of a group share a place.

    Items that were marked bad are left out. The groups contain at least the top k, or all that are not bad.
    """

    groups: list[list[int]]
    confidence: dict[int, float] | None = None
    """Probability that an item belongs to the top k, if the strategy tolerates assessor errors."""


Play = Generator[Ask, str, Finish]


@dataclass(frozen=True)
class Contest:
    """The task: find the ordered top k of the items 0 … n−1, perhaps with the help of a prior ranking."""

    n: int
    k: int
    seed: int = 0
    prior: tuple[int, ...] | None = None

    def random(self) -> Random:
        """A random generator with the seed of the contest; every call returns a new one."""
        return Random(self.seed)

    def shuffled(self) -> list[int]:
        """The items in random order."""
        order = list(range(self.n))
        self.random().shuffle(order)
        return order

    def arrival(self) -> list[int]:
        """The items in the order of the prior, or in random order if there is none."""
        return self.shuffled() if self.prior is None else list(self.prior)


Strategy = Callable[[Contest], Play]


def count(groups: Iterable[list[int]]) -> int:
    """The number of items in all groups."""
    return sum(map(len, groups))


SWAPPED = {"a": "b", "b": "a", "tie": "tie", "bad-a": "bad-b", "bad-b": "bad-a"}
"""The answer to the same question with the documents on the other sides."""


def keep_sides(play: Play, chance: Random) -> Play:
    """The same questions, with each document on its side of the screen.

    A document of the last question stays on its side, because moving it costs the assessor time. Otherwise
    sides are random, so that no strategy always shows the document it expects to win on the left.
    """
    left: int | None = None
    right: int | None = None
    try:
        ask = next(play)
        while True:
            if ask.b is None or ask.rest:
                left = right = None
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
