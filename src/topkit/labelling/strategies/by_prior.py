"""Labelling that starts from a prior ranking and learns from the answers how good it is."""

from __future__ import annotations

import numpy as np

from topkit.labelling.contest import Contest, Finish, Play, count
from topkit.labelling.strategies.forest import Forest, tournament
from topkit.labelling.strategies.insertion import insert, last_if_full
from topkit.labelling.strategies.prior import Array, Newcomer, Trust, top_probabilities

LEFT_OUT = 0.75
"""So many of the top k are expected outside the tournament; each costs an insertion."""
ALARM = 2.0
"""The tournament grows when after its first round this many times as many are expected outside."""


def tournament_by_prior(contest: Contest) -> Play:
    """A tournament among the first of the prior; each of the rest must then beat the last of the top k."""
    n, k = contest.n, contest.k
    order = contest.arrival()
    field = _Field(contest, order)
    size = field.size

    def late() -> list[int]:
        field.grow()
        return order[size : field.size]

    forest = Forest(n, field.saw_match)
    groups = yield from tournament(forest, order[:size], k, field.weigh, field.bits(), late, n - size)
    for i in range(field.size, n):
        yield from insert(groups, order[i], k, n - i - 1, last_if_full(groups, k))
    return Finish(groups)


class _Field:
    """Who plays in the tournament, and with which weights."""

    def __init__(self, contest: Contest, order: list[int]) -> None:
        n, self.k = contest.n, contest.k
        self.trust = Trust()
        by_place = top_probabilities(n, _aim(n, self.k))
        self.weights = np.empty_like(by_place)
        self.weights[order] = by_place / by_place.sum(0)
        entering = top_probabilities(n, self.k)
        none = np.zeros((1, entering.shape[1]))
        self.outside = np.concatenate([np.cumsum(entering[::-1], 0)[::-1], none])
        """How many of the top k are expected after the first so many of the prior."""
        self.size = self._enough()

    def _enough(self) -> int:
        return max(self.k, int(np.argmax(self.outside @ self.trust.belief() <= LEFT_OUT)))

    def grow(self) -> None:
        """Let more items in if the prior proved worse than expected."""
        if self.outside[self.size] @ self.trust.belief() > ALARM * LEFT_OUT:
            self.size = max(self.size, self._enough())

    def weigh(self, roots: list[int]) -> list[float]:
        """Probability that an item of the subtree of each root is the next best."""
        values: list[float] = (self.weights[roots] @ self.trust.belief()).tolist()
        return values

    def saw_match(self, winner: int, loser: int) -> None:
        both = self.weights[winner] + self.weights[loser]
        self.trust.saw(self.weights[winner] / both)
        self.weights[winner] = both

    def bits(self) -> float:
        """Information in who is best."""
        share: Array = self.weights @ self.trust.belief()
        return float(-(share * np.log2(share)).sum())


def _aim(n: int, k: int) -> int:
    """Weights tell who is among the first so many: between "is the best" and "is in the top k"."""
    return max(1, round(k * (0.65 - 0.35 * k / n)))


def sort_by_prior(contest: Contest) -> Play:
    """Insert the items in the order of the prior, each by a search that halves its probability."""
    n, k = contest.n, contest.k
    trust = Trust()
    newcomer = Newcomer(n, trust)
    groups: list[list[int]] = []
    for i, item in enumerate(contest.arrival()):
        chances = newcomer.chances(i, len(groups), count(groups))
        below = np.concatenate([[0.0], chances @ trust.belief(), [1.0]])

        def middle(low: int, high: int, below: Array = below) -> int:
            """The position that splits the probability of those open most evenly."""
            half = (below[low] + below[high + 1]) / 2
            return low + int(np.argmin(np.abs(below[low + 1 : high + 1] - half)))

        position = yield from insert(groups, item, k, n - i - 1, None, middle, most=int)
        if position is not None:
            outcome = np.diff(chances, axis=0, prepend=0.0, append=1.0)
            trust.saw(outcome[position])
        newcomer.seen(i, i + 1)
    return Finish(groups)
