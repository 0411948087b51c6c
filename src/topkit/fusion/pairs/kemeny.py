"""Kemeny aggregation: exact for small pools, local search for others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, thread_map
from topkit.fusion.ballots import Ballots
from topkit.fusion.pairs.support import Depth, pair_support, with_rest
from topkit.fusion.positional import borda_points
from topkit.fusion.result import Outcome, Progress

EXACT_LIMIT = 14
"""Pools up to this size get the exact Kemeny order: 2^14·14² steps take a few milliseconds."""


def kemeny(ballots: Ballots, *, depth: Depth = 100, progress: Progress | None = None) -> Outcome:
    """Kemeny aggregation: the order with the fewest disagreements with the pairs in the lists.

    Exact (dynamic programming over sets) for pools of up to 14 documents. Larger pools are NP-hard and use a
    **heuristic**: single documents are moved, from the better of the Borda and Copeland orders, until no move
    helps. ``diagnostics`` counts the queries of both kinds, and ``gap`` bounds how far the total score can be
    above the optimum (0 proves optimality). Lists are cut at ``depth``; the other documents follow by the
    Borda count.

    Use it for the consensus of a few short lists, such as the tops of assessors. Not for deep lists: beyond
    14 documents it is a local search.
    """
    cut = ballots.cut(depth)
    ones = np.ones(cut.n_rankers)
    points = cut.total(borda_points(cut))
    done = 0

    def solve(q: int) -> tuple[Floats, float, float]:
        nonlocal done
        start = cut.order(q, points)  # ties by document id, so that the order of runs does not matter
        support = pair_support(cut, q, ones)[np.ix_(start, start)]
        order = kemeny_order(support)
        inner = np.empty(len(order))
        inner[start[order]] = np.arange(len(order), 0, -1)
        done += 1
        if progress is not None:
            progress(done, len(cut))
        bound = float(np.triu(np.minimum(support, support.T), 1).sum())
        return inner, kemeny_score(support, order), bound

    parts = thread_map(solve, range(len(cut)))
    score, bound = sum(part[1] for part in parts), sum(part[2] for part in parts)
    exact = int((cut.pool_sizes <= EXACT_LIMIT).sum())
    return Outcome(
        with_rest(ballots, cut, np.concatenate([part[0] for part in parts] or [np.zeros(0)]), ones),
        diagnostics={
            "score": score,
            "exact_queries": float(exact),
            "heuristic_queries": float(len(cut) - exact),
            "gap": (score - bound) / bound if bound else 0.0,
        },
    )


def kemeny_score(support: NDArray[np.float32], order: NDArray[np.int64]) -> float:
    """The support that the order contradicts: Σ over a above b of the support for b above a."""
    return float(np.tril(support[np.ix_(order, order)], -1).sum(dtype=np.float64))


def kemeny_order(support: NDArray[np.float32]) -> NDArray[np.int64]:
    """The best order by exact search up to 14 documents, else by local search (see :func:`kemeny`).

    The search starts from the order of the rows, which also decides between equally good orders.
    """
    from topkit.fusion.pairs import kernels

    if len(support) <= EXACT_LIMIT:
        return np.asarray(kernels.exact_kemeny(support), np.int64)
    margin = support - support.T
    wins = np.sign(margin).sum(axis=1)
    starts = [np.arange(len(support)), np.argsort(-wins, kind="stable")]
    for order in starts:
        kernels.insertion_search(order, margin)
    return min(starts, key=lambda order: kemeny_score(support, order))
