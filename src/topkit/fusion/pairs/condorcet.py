"""Condorcet fusion: documents by the number of majorities they win."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, thread_map
from topkit.fusion.ballots import Ballots
from topkit.fusion.pairs.support import Depth, pair_support, with_rest
from topkit.fusion.result import Outcome


def condorcet(ballots: Ballots, *, depth: Depth = 100) -> Outcome:
    """Condorcet fusion by Copeland's rule: majorities won minus majorities lost against the other documents.

    A document that beats every other (a Condorcet winner) is first. Lists are cut at ``depth``; the other
    documents follow by the Borda count.

    Use it if only majorities between documents should count. Not for deep lists of many systems: its cost
    grows with the square of the depth.
    """
    cut = ballots.cut(depth)
    ones = np.ones(cut.n_rankers)

    def copeland(q: int) -> Floats:
        support = pair_support(cut, q, ones)
        return np.asarray(np.sign(support - support.T).sum(axis=1), np.float64)

    parts = thread_map(copeland, range(len(cut)))
    inner = np.concatenate([part - part.min(initial=0.0) + 1 for part in parts] or [np.zeros(0)])
    return Outcome(with_rest(ballots, cut, inner, ones))
