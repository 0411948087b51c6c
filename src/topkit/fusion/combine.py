"""Fusion by score: CombSUM and CombMNZ, on ranks or on normalised scores."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import borda_points
from topkit.fusion.result import Outcome

Scale = Annotated[
    str, Setting("How scores are scaled before they are added.", choices=("rank", "min-max", "none"))
]


def combsum(ballots: Ballots, *, scale: Scale = "min-max") -> Outcome:
    """CombSUM: the sum of the scores of a document, scaled to 0..1 in each list (Fox and Shaw, TREC-2).

    ``scale``: ``min-max``, (score − smallest)/(largest − smallest) in the list, 1 if all are equal; ``rank``,
    k + 1 − rank, which gives the Borda count; ``none``, unscaled scores.

    Use it if the scores of all systems have the same meaning. Not for scores on different scales with
    outliers; use ranks (`scale="rank"`) or `rrf`.
    """
    return Outcome(ballots.total(_scaled(ballots, scale)))


def combmnz(ballots: Ballots, *, scale: Scale = "rank") -> Outcome:
    """CombMNZ: the sum of the scores of a document times the number of lists that contain it.

    On ranks by default, Σ (k + 1 − rank) · |lists| (Klementiev, Roth and Small, LR4IR 2008, section 6.2);
    ``scale`` as in :func:`combsum`.

    Use it if a document that many systems return is likely relevant. Not if uninformative systems may be
    among the runs.
    """
    lists = ballots.total(np.ones(len(ballots.items)))
    return Outcome(ballots.total(_scaled(ballots, scale)) * lists)


def _scaled(ballots: Ballots, scale: Scale) -> NDArray[np.float64]:
    if scale == "rank":
        return borda_points(ballots)
    if scale == "none":
        return ballots.scores
    if np.isinf(ballots.scores).any():
        raise InputError("infinite scores cannot be scaled to 0..1", "use scale='rank'")
    filled = np.diff(ballots.list_ptr) > 0
    first = ballots.list_ptr[:-1][filled]
    largest, smallest = np.zeros(len(filled)), np.zeros(len(filled))
    if len(first):
        largest[filled] = np.maximum.reduceat(ballots.scores, first)
        smallest[filled] = np.minimum.reduceat(ballots.scores, first)
    spread = ballots.by_list(largest - smallest)
    above = ballots.scores - ballots.by_list(smallest)
    return np.divide(above, spread, out=np.ones_like(above), where=spread > 0)
