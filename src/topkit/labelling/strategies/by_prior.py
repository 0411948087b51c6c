"""Labelling that starts from a prior ranking and learns from the answers how reliable it is."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.labelling.contest import Contest, Finish, Play, count
from topkit.labelling.strategies.forest import Forest, Rules, tournament
from topkit.labelling.strategies.insertion import Search, insert, last_if_full
from topkit.labelling.strategies.prior import Newcomer, Trust, top_probabilities

LEFT_OUT = 0.75
"""How many of the top k may be expected outside the tournament; each of them costs an insertion."""
ALARM = 2.0
"""The tournament grows if after its first round this many times :data:`LEFT_OUT` are expected outside."""


def tournament_by_prior(contest: Contest) -> Play:
    """A tournament among the first items of the prior; every other must then beat the last of the top k."""
    n, k = contest.n, contest.k
    order = contest.arrival()
    players = _Players(contest, order)
    size = players.size

    def late() -> list[int]:
        players.grow()
        return order[size : players.size]

    forest = Forest(n, players.add_match)
    rules = Rules(k, players.weigh, players.bits(), late, n - size)
    groups = yield from tournament(forest, order[:size], rules)
    for i in range(players.size, n):
        yield from insert(groups, order[i], Search(k, n - i - 1, last_if_full(groups, k)))
    return Finish(groups)


class _Players:
    """The items of the prior that take part in the tournament, and their weights."""

    def __init__(self, contest: Contest, order: list[int]) -> None:
        n, self.k = contest.n, contest.k
        self.trust = Trust()
        by_place = top_probabilities(n, _aim(n, self.k))
        self.weights = np.empty_like(by_place)
        self.weights[order] = by_place / by_place.sum(0)
        entering = top_probabilities(n, self.k)
        none = np.zeros((1, entering.shape[1]))
        self.outside = np.concatenate([np.cumsum(entering[::-1], 0)[::-1], none])
        """``outside[i]``: how many of the top k are expected after the first i items of the prior."""
        self.size = self._enough()

    def _enough(self) -> int:
        return max(self.k, int(np.argmax(self.outside @ self.trust.belief() <= LEFT_OUT)))

    def grow(self) -> None:
        """Admit more items if the prior turned out worse than expected."""
        if self.outside[self.size] @ self.trust.belief() > ALARM * LEFT_OUT:
            self.size = max(self.size, self._enough())

    def weigh(self, roots: list[int]) -> list[float]:
        """P(the next best item is in the subtree of each root)."""
        probabilities: list[float] = (self.weights[roots] @ self.trust.belief()).tolist()
        return probabilities

    def add_match(self, winner: int, loser: int) -> None:
        """Update the trust in the prior and the weight of the winner."""
        both = self.weights[winner] + self.weights[loser]
        self.trust.add(self.weights[winner] / both)
        self.weights[winner] = both

    def bits(self) -> float:
        """The entropy of which item is best, in bits."""
        share: Floats = self.weights @ self.trust.belief()
        return float(-(share * np.log2(share)).sum())


def _aim(n: int, k: int) -> int:
    """Weights are probabilities of being among this many first: between 1 (is the best) and k."""
    return max(1, round(k * (0.65 - 0.35 * k / n)))


def sort_by_prior(contest: Contest) -> Play:
    """Insert the items in the order of the prior, each by a search that halves the probability."""
    n, k = contest.n, contest.k
    trust = Trust()
    newcomer = Newcomer(n, trust)
    groups: list[list[int]] = []
    for i, item in enumerate(contest.arrival()):
        chances = newcomer.chances(i, len(groups), count(groups))
        below = np.concatenate([[0.0], chances @ trust.belief(), [1.0]])

        def middle(low: int, high: int, below: Floats = below) -> int:
            """The position that divides the remaining probability most evenly."""
            half = (below[low] + below[high + 1]) / 2
            return low + int(np.argmin(np.abs(below[low + 1 : high + 1] - half)))

        search = Search(k, n - i - 1, None, middle, most=int)
        position = yield from insert(groups, item, search)
        if position is not None:
            outcome = np.diff(chances, axis=0, prepend=0.0, append=1.0)
            trust.add(outcome[position])
        newcomer.add(i, i + 1)
    return Finish(groups)
