"""The default strategy: the fewest judgments we know how to ask, with or without a prior ranking."""

from __future__ import annotations

from math import log2

from topkit.labelling.bound import lower_bound
from topkit.labelling.contest import Contest, Finish, Play
from topkit.labelling.strategies.by_prior import sort_by_prior, tournament_by_prior
from topkit.labelling.strategies.forest import Forest, tournament
from topkit.labelling.strategies.knockout import knockout
from topkit.labelling.strategies.merge_insertion import merge_insertion, merge_insertion_most

SORT_ALL = 0.65
"""With a prior, all items are sorted by insertion when k is this share of n or more."""


def adaptive(contest: Contest) -> Play:
    """Never ask what the answers imply, and let every question tell as much as it can.

    - Without a prior: a tournament in which the two lightest undefeated items play, an item's weight being
      the number of items known to be no better (Huffman's tree: the fewest matches to replay in the mean).
      For k ≤ n/5 that is no better than the bracket of ``knockout``, which is taken then because its number
      of questions is bounded tightly. Where nearly all items must be ordered: merge insertion.
    - With a prior: a tournament among the first of the prior, with weights by a model of the prior whose
      trust in it is learnt from the answers; each of the rest must then beat the last of the top k. Where k
      is most of n, every item is inserted in the order of the prior by a search that halves its probability.

    Matches are played depth first, so that the winner of the last match often stays on the screen.
    """
    n, k = contest.n, contest.k
    if contest.prior is not None:
        return sort_by_prior(contest) if k >= SORT_ALL * n else tournament_by_prior(contest)
    if 5 * k <= n:
        return knockout(contest)
    by_tournament = lower_bound(n, k) + 0.12 * k  # what it needs in the mean, by experiment
    return merge_insertion(contest) if merge_insertion_most(n) < by_tournament else even_tournament(contest)


def even_tournament(contest: Contest) -> Play:
    """The tournament without a prior: every item weighs the same at first."""
    weights = [1.0] * contest.n

    def add_weight(winner: int, loser: int) -> None:
        weights[winner] += weights[loser]

    groups = yield from tournament(
        Forest(contest.n, add_weight),
        contest.shuffled(),
        contest.k,
        lambda roots: [weights[root] for root in roots],
        bits=log2(contest.n),
    )
    return Finish(groups)
