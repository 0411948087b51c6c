"""The default strategy: the fewest judgments of all strategies here, with or without a prior ranking."""

from __future__ import annotations

from math import log2

from topkit.labelling.bound import lower_bound
from topkit.labelling.contest import Contest, Finish, Play
from topkit.labelling.strategies.by_prior import sort_by_prior, tournament_by_prior
from topkit.labelling.strategies.forest import Forest, Rules, tournament
from topkit.labelling.strategies.knockout import knockout
from topkit.labelling.strategies.merge_insertion import merge_insertion, merge_insertion_most

SORT_ALL = 0.65
"""With a prior, all items are sorted by insertion when k is at least this share of n, because a tournament
would then replay most of its matches."""
BRACKET = 5
"""For k ≤ n/5 the bracket of ``knockout`` needs no more judgments than a tournament by weights."""
PER_PLACE = 0.12
"""Judgments per place that a tournament needs above the lower bound, on average in simulations."""


def adaptive(contest: Contest) -> Play:
    """Never ask what the answers already imply, and make every question as informative as possible.

    - Without a prior: a tournament in which the two lightest undefeated items are compared. The weight of an
      item is the number of items known to be no better (Huffman's tree, which needs the fewest replays on
      average). For k ≤ n/5 it is not better than the bracket of ``knockout``, which is used then because its
      number of questions has tight bounds. If nearly all items must be ordered: merge insertion.
    - With a prior: a tournament among the first items of the prior, with weights from a model of the prior
      that learns from the answers how reliable the prior is. Each remaining item must then beat the last of
      the top k. If k is most of n, all items are inserted in the order of the prior by a search that halves
      the probability of their position.

    Matches are played depth first, so that the winner of the last match often stays on the screen.

    Use it by default, and whenever there is a prior ranking. Not if assessors err often and each topic must
    be right; `reliable` is made for that.
    """
    n, k = contest.n, contest.k
    if contest.prior is not None:
        return sort_by_prior(contest) if k >= SORT_ALL * n else tournament_by_prior(contest)
    if BRACKET * k <= n:
        return knockout(contest)
    by_tournament = lower_bound(n, k) + PER_PLACE * k
    return merge_insertion(contest) if merge_insertion_most(n) < by_tournament else even_tournament(contest)


def even_tournament(contest: Contest) -> Play:
    """The tournament without a prior: all items have the same weight at the start."""
    weights = [1.0] * contest.n

    def add_weight(winner: int, loser: int) -> None:
        weights[winner] += weights[loser]

    rules = Rules(contest.k, lambda roots: [weights[root] for root in roots], bits=log2(contest.n))
    groups = yield from tournament(Forest(contest.n, add_weight), contest.shuffled(), rules)
    return Finish(groups)
