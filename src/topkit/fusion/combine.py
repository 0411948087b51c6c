"""Fusion by score: CombSUM and CombMNZ, on places or on normalised scores."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import borda_points
from topkit.fusion.result import Outcome

Scale = Literal["rank", "min-max", "none"]


def combsum(ballots: Ballots, *, scale: Scale = "min-max") -> Outcome:
    """CombSUM: the sum of a document's scores, each list's scaled to 0..1 first (Fox and Shaw, TREC-2).

    ``scale``: ``min-max``, (score − least)/(largest − least) in the list, 1 for all where all are equal;
    ``rank``, k + 1 − rank, which makes it the Borda count; ``none``, scores as they are.
    """
    return Outcome(ballots.total(_scaled(ballots, scale)))


def combmnz(ballots: Ballots, *, scale: Scale = "rank") -> Outcome:
    """CombMNZ: the sum of a document's scores times the number of lists that have it.

    On places by default, Σ (k + 1 − rank) · |lists| (Klementiev, Roth and Small, LR4IR 2008, section 6.2);
    ``scale`` as in :func:`combsum`.
    """
    lists = ballots.total(np.ones(len(ballots.items)))
    return Outcome(ballots.total(_scaled(ballots, scale)) * lists)


def _scaled(ballots: Ballots, scale: Scale) -> NDArray[np.float64]:
    if scale == "rank":
        return borda_points(ballots)
    if scale == "none":
        return ballots.scores
    if scale != "min-max":
        raise InputError(f"unknown scale {scale!r}", "use 'rank', 'min-max' or 'none'")
    if np.isinf(ballots.scores).any():
        raise InputError("a score is infinite, so scores cannot be scaled", "use scale='rank'")
    filled = np.diff(ballots.list_ptr) > 0
    first = ballots.list_ptr[:-1][filled]
    largest, least = np.zeros(len(filled)), np.zeros(len(filled))
    if len(first):
        largest[filled] = np.maximum.reduceat(ballots.scores, first)
        least[filled] = np.minimum.reduceat(ballots.scores, first)
    spread = ballots.by_list(largest - least)
    above = ballots.scores - ballots.by_list(least)
    return np.divide(above, spread, out=np.ones_like(above), where=spread > 0)
