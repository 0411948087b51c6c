"""The support for each pair of documents, and the scores of documents beyond a cut."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import borda_points, weighted_total

Depth = Annotated[int, Setting("Documents of each list that are compared.", low=1)]
"""The setting of all methods that cut the lists first."""


def pair_support(ballots: Ballots, q: int, weights: Floats) -> NDArray[np.float32]:
    """Document × document: the weight of the rankers that rank the first above the second.

    A listed document is above every document that is not listed.
    """
    from topkit.fusion.pairs import kernels

    n, first = int(ballots.pool_sizes[q]), q * ballots.n_rankers
    table = np.zeros((n, n), np.float32)
    kernels.pair_support(
        ballots.items, ballots.list_ptr[first : first + ballots.n_rankers + 1], weights, table
    )
    return table


def with_rest(ballots: Ballots, cut: Ballots, inner: Floats, weights: Floats) -> Floats:
    """Scores of all pooled documents: ``inner`` in the cut, the other documents below 0 by weighted Borda.

    Documents of the cut with an inner score of 0 count as outside.
    """
    scores = weighted_total(ballots, borda_points(ballots), weights)
    scores = np.asarray(scores / (scores.max(initial=0.0) + 1.0) - 1.0)
    places = np.flatnonzero(in_cut(ballots, cut))
    chosen = inner > 0
    scores[places[chosen]] = inner[chosen]
    return scores


def in_cut(ballots: Ballots, cut: Ballots) -> NDArray[np.bool_]:
    """Which pooled documents are in the cut; both keep the order of the pool."""
    return np.isin(ballots.rows, cut.rows, assume_unique=True)
