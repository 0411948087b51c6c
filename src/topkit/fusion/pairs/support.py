"""What the lists say of each pair of documents, and how documents beyond a cut are added to a result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import borda_points, weighted_total

Floats = NDArray[np.float64]


def pair_support(ballots: Ballots, q: int, weights: Floats) -> NDArray[np.float32]:
    """Document × document: the weight of the rankers that put one above the other.

    A listed document is above every document that the list does not have.
    """
    from topkit.fusion.pairs import kernels

    n, first = int(ballots.pool_sizes[q]), q * ballots.n_rankers
    table = np.zeros((n, n), np.float32)
    kernels.pair_support(
        ballots.items, ballots.list_ptr[first : first + ballots.n_rankers + 1], weights, table
    )
    return table


def cut_at(ballots: Ballots, depth: int) -> Ballots:
    """The first ``depth`` of every list."""
    if depth < 1:
        raise InputError(f"depth must be at least 1, not {depth}")
    return ballots.cut(depth)


def with_rest(ballots: Ballots, cut: Ballots, inner: Floats, weights: Floats) -> Floats:
    """Scores of all pooled documents: ``inner`` of those in the cut, the rest below 0 by weighted Borda.

    Documents of the cut with an inner score of 0 join the rest.
    """
    scores = weighted_total(ballots, borda_points(ballots), weights)
    scores = np.asarray(scores / (scores.max(initial=0.0) + 1.0) - 1.0)
    places = np.flatnonzero(in_cut(ballots, cut))
    chosen = inner > 0
    scores[places[chosen]] = inner[chosen]
    return scores


def in_cut(ballots: Ballots, cut: Ballots) -> NDArray[np.bool_]:
    """Which pooled documents the cut still has; both keep the pool's order, and a row is one document."""
    return np.isin(ballots.rows, cut.rows, assume_unique=True)
