"""What answers imply: the transitive closure of "better", "about the same" and "bad"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

Relation = Literal["a", "b", "tie"]


class Known:
    """What follows from the answers so far, under the assumption that preferences are transitive.

    - a ≻ b and b ≻ c give a ≻ c.
    - a ∼ b makes a and b equivalent: what is better or worse than one is better or worse than the other.
    - "bad" puts an item below all items that are not bad, together with all that tie with it or are worse;
      bad items tie with one another.

    Sets of items are the bits of integers, so an answer takes a few operations per item that it concerns.
    An answer that contradicts earlier ones changes nothing and is counted in ``conflicts``.

    >>> known = Known(3)
    >>> known.record(0, 1, "a")
    >>> known.record(1, 2, "tie")
    >>> known.relation(0, 2), known.relation(2, 0), known.relation(1, 2)
    ('a', 'b', 'tie')
    """

    def __init__(self, n: int) -> None:
        self.better = [0] * n
        self.worse = [0] * n
        self.same = [1 << i for i in range(n)]
        self.bad = 0
        self.conflicts = 0
        self.undefeated = n
        """Items that no other is known to beat (tied ones count once); an answer lowers it by at most 1."""

    def relation(self, a: int, b: int) -> Relation | None:
        """Whether ``a`` is better ("a") or worse ("b") than ``b``, or ties with it ("tie"); None: unknown."""
        bad_a, bad_b = self.bad >> a & 1, self.bad >> b & 1
        if bad_a or bad_b:
            return "tie" if bad_a and bad_b else "b" if bad_a else "a"
        if self.worse[a] >> b & 1:
            return "a"
        if self.better[a] >> b & 1:
            return "b"
        return "tie" if self.same[a] >> b & 1 else None

    def record(self, a: int, b: int, answer: str) -> None:
        """Add the answer ("a", "b", "tie", "bad-a" or "bad-b") to "is a or b better?"."""
        if answer.startswith("bad"):
            item = a if answer == "bad-a" else b
            self.undefeated -= not self.is_bad(item) and not self.better[item]
            self.bad |= self.same[item] | self.worse[item]
            return
        before = self.relation(a, b)
        if before is not None:
            self.conflicts += before != answer
        elif answer == "tie":
            self._join(a, b)
        else:
            self._above(a, b) if answer == "a" else self._above(b, a)

    def _above(self, winner: int, loser: int) -> None:
        up = self.better[winner] | self.same[winner]
        down = self.worse[loser] | self.same[loser]
        self.undefeated -= not self.better[loser]
        for item in bits(up):
            self.worse[item] |= down
        for item in bits(down):
            self.better[item] |= up

    def _join(self, a: int, b: int) -> None:
        both = self.same[a] | self.same[b]
        up = self.better[a] | self.better[b]
        down = self.worse[a] | self.worse[b]
        self.undefeated -= not self.better[a] or not self.better[b]
        for item in bits(both):
            self.same[item], self.better[item], self.worse[item] = both, up, down
        for item in bits(up):
            self.worse[item] |= both | down
        for item in bits(down):
            self.better[item] |= both | up

    def is_bad(self, item: int) -> bool:
        """Whether the item was marked bad, or is known to be no better than one that was."""
        return bool(self.bad >> item & 1)


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits that are 1, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def in_groups(known: Known, order: Iterable[int]) -> list[list[int]]:
    """An order of items as groups that share a place: neighbours that are known to tie are one group."""
    groups: list[list[int]] = []
    for item in order:
        if groups and known.relation(groups[-1][0], item) == "tie":
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups
