"""A forest of beaten items: every root is undefeated, and what lost to an item directly hangs below it.

Roots play one another until one is left: the next best. It is taken out, and what hung below it becomes
roots. Only roots play, so no question is ever implied by the answers before it. Strategies differ in who
plays whom.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from topkit.labelling.contest import Ask, count

MATCH = -1
Plan = list[int]
"""Matches in the order of play: an item stands ready, MATCH lets the last two play; the winner stays."""


class Bounds(NamedTuple):
    """How many questions may follow after the matches of a plan."""

    least: int = 0
    most: int = 0
    likely: float = 0.0


def one_after_another(roots: Sequence[int]) -> Plan:
    """The first plays the second, the winner the third, and so on: the winner stays on the screen.

    >>> one_after_another([4, 7, 5])
    [4, 7, -1, 5, -1]
    """
    return [*roots[:1], *(step for root in roots[1:] for step in (root, MATCH))]


def lightest_first(roots: Sequence[int], weights: Sequence[float]) -> Plan:
    """Huffman's tree over the roots: the two lightest play, their winner has both weights, and so on.

    If a root's weight is the probability that it is the best, no plan lets the best win fewer matches in the
    mean; and every match the best has won is a match to be played again without it. Matches are ordered depth
    first, so that the winner of the last match is often in the next.

    >>> lightest_first([4, 7, 5], [0.5, 0.2, 0.3])
    [7, 5, -1, 4, -1]
    """
    heap = [
        (weight, number, [root]) for number, (root, weight) in enumerate(zip(roots, weights, strict=True))
    ]
    heapq.heapify(heap)
    number = len(heap)
    while len(heap) > 1:
        weight_a, _, a = heapq.heappop(heap)
        weight_b, _, b = heapq.heappop(heap)
        if len(a) < len(b):
            a, b = b, a
        heapq.heappush(heap, (weight_a + weight_b, number, [*a, *b, MATCH]))
        number += 1
    return heap[0][2] if heap else []


class Forest:
    """Who lost to whom, and who ties with whom, among the items in the contest."""

    def __init__(self, n: int, on_match: Callable[[int, int], None] = lambda winner, loser: None) -> None:
        self.beaten: list[list[int]] = [[] for _ in range(n)]
        self.twins: list[list[int]] = [[] for _ in range(n)]
        self.on_match = on_match
        """Told the winner and the loser of every match (for a tie: who goes on, and who goes with it)."""

    def play(self, plan: Plan, later: Bounds) -> Generator[Ask, str, int]:
        """Play the matches of a plan and return the item that is left; ``later`` is what may follow."""
        left = plan.count(MATCH)
        standing: list[int] = []
        for step in plan:
            if step != MATCH:
                standing.append(step)
                continue
            b, a = standing.pop(), standing.pop()
            answer = yield Ask(a, b, left + later.least, left + later.most, left + later.likely)
            left -= 1
            standing.append(self._settle(a, b, answer))
        return standing[0]

    def _settle(self, a: int, b: int, answer: str) -> int:
        if answer.startswith("bad"):  # the bad one leaves, and all that hangs below it, which is worse still
            return b if answer == "bad-a" else a
        winner, loser = (b, a) if answer == "b" else (a, b)
        if answer == "tie":
            self.twins[winner] += [loser, *self.twins[loser]]
            self.beaten[winner] += self.beaten[loser]
        else:
            self.beaten[winner].append(loser)
        self.on_match(winner, loser)
        return winner

    def most_matches(self, roots: Sequence[int], places: int) -> int:
        """An upper bound of the matches before the next ``places`` places are known.

        An item ``depth`` levels below a root can lose only after so many places are taken, and once a place.
        """
        most, level, depth = -places, list(roots), 0
        while level and depth < places:
            most += len(level) * (places - depth)
            level = [child for item in level for child in self.beaten[item]]
            depth += 1
        return max(0, most)


def tournament(
    forest: Forest,
    roots: list[int],
    k: int,
    weigh: Callable[[list[int]], Sequence[float]],
    bits: float,
    late: Callable[[], list[int]] = list,
    waiting: int = 0,
) -> Generator[Ask, str, list[list[int]]]:
    """The top k of the roots and of what hangs below them, the lightest roots playing first.

    ``late`` is called after the first round and names items that join then. For the bounds: ``bits`` is the
    information in who is best, and ``waiting`` items are inserted after the tournament.
    """
    groups: list[list[int]] = []
    joined: list[int] | None = None
    while roots and (places := k - count(groups)) > 0:
        matches = len(roots) - 1
        most = forest.most_matches(roots, places) - matches + waiting * (1 + (k - 1).bit_length())
        later = Bounds(waiting, max(waiting, most), waiting + (places - 1) * max(0.0, bits - 1))
        best = yield from forest.play(lightest_first(roots, weigh(roots)), later)
        if joined is None and (joined := late()):
            roots = [best, *joined]
            waiting -= len(joined)
            continue
        groups.append([best, *forest.twins[best]])
        roots = forest.beaten[best]
    return groups
