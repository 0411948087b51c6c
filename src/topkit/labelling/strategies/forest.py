"""A forest of beaten items: the roots are undefeated, and the children of an item lost to it directly.

Roots are compared until one is left: the next best. It is removed, and its children become roots. Only roots
are compared, so no question is implied by earlier answers. Strategies differ in which roots are compared.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from topkit.labelling.contest import Ask, count

MATCH = -1
"""In a plan: compare the last two items."""
Plan = list[int]
"""Matches in postfix order: an item is pushed on a stack, MATCH replaces the top two by the winner."""


class Bounds(NamedTuple):
    """The number of questions that may follow the matches of a plan."""

    least: int = 0
    most: int = 0
    likely: float = 0.0


def one_after_another(roots: Sequence[int]) -> Plan:
    """Compare the first with the second, the winner with the third, and so on: it stays on the screen.

    >>> one_after_another([4, 7, 5])
    [4, 7, -1, 5, -1]
    """
    return [*roots[:1], *(step for root in roots[1:] for step in (root, MATCH))]


def lightest_first(roots: Sequence[int], weights: Sequence[float]) -> Plan:
    """Huffman's tree over the roots: the two lightest are compared, the winner gets both weights, and so on.

    If the weight of a root is the probability that it is the best, this plan minimises the expected number of
    matches that the best item wins; each of them has to be replayed without it. Matches are ordered depth
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
    """Which items lost to which, and which tie."""

    def __init__(self, n: int, on_match: Callable[[int, int], None] = lambda winner, loser: None) -> None:
        self.beaten: list[list[int]] = [[] for _ in range(n)]
        self.twins: list[list[int]] = [[] for _ in range(n)]
        self.on_match = on_match
        """Called with the winner and the loser of each match (after a tie: the item kept and its twin)."""

    def play(self, plan: Plan, later: Bounds) -> Generator[Ask, str, int]:
        """Play the matches of a plan and return the item that is left; ``later`` bounds what may follow."""
        left = plan.count(MATCH)
        stack: list[int] = []
        for step in plan:
            if step != MATCH:
                stack.append(step)
                continue
            b, a = stack.pop(), stack.pop()
            answer = yield Ask(a, b, left + later.least, left + later.most, left + later.likely)
            left -= 1
            stack.append(self._settle(a, b, answer))
        return stack[0]

    def _settle(self, a: int, b: int, answer: str) -> int:
        if answer.startswith("bad"):  # the bad item is removed with its subtree, which is worse still
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
        """An upper bound of the number of matches until the next ``places`` places are known.

        An item ``depth`` levels below a root takes part only after ``depth`` places are filled, and loses at
        most once per place.
        """
        most, level, depth = -places, list(roots), 0
        while level and depth < places:
            most += len(level) * (places - depth)
            level = [child for item in level for child in self.beaten[item]]
            depth += 1
        return max(0, most)


class Rules(NamedTuple):
    """The parameters of a tournament."""

    k: int
    weigh: Callable[[list[int]], Sequence[float]]
    """The weights of the roots; the lightest are compared first."""
    bits: float
    """The entropy of which item is best, for the bounds."""
    late: Callable[[], list[int]] = list
    """Called after the first round; returns the items that join then."""
    waiting: int = 0
    """The number of items that are inserted after the tournament, for the bounds."""


def tournament(forest: Forest, roots: list[int], rules: Rules) -> Generator[Ask, str, list[list[int]]]:
    """The top k of the roots and their subtrees."""
    k, waiting = rules.k, rules.waiting
    groups: list[list[int]] = []
    joined: list[int] | None = None
    while roots and (places := k - count(groups)) > 0:
        matches = len(roots) - 1
        most = forest.most_matches(roots, places) - matches + waiting * (1 + (k - 1).bit_length())
        later = Bounds(waiting, max(waiting, most), waiting + (places - 1) * max(0.0, rules.bits - 1))
        best = yield from forest.play(lightest_first(roots, rules.weigh(roots)), later)
        if joined is None and (joined := rules.late()):
            roots = [best, *joined]
            waiting -= len(joined)
            continue
        groups.append([best, *forest.twins[best]])
        roots = forest.beaten[best]
    return groups
