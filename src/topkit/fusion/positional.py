"""Fusion by place: Borda, weighted Borda and reciprocal ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.fusion.ballots import Ballots
from topkit.fusion.result import Outcome

Floats = NDArray[np.float64]


def longest(ballots: Ballots) -> Floats:
    """Length of each query's longest list, spread over the entries."""
    most = np.broadcast_to(ballots.lengths.max(axis=1, keepdims=True), ballots.lengths.shape)
    return ballots.by_list(most.astype(np.float64))


def borda_points(ballots: Ballots) -> Floats:
    """k + 1 − rank for every entry, k the query's longest list; a document that is not listed gets 0.

    A place is worth the same in a short list as in a long one.
    """
    points: Floats = longest(ballots) + 1 - ballots.places
    return points


def borda(ballots: Ballots, *, unranked: Literal["bottom", "shared"] = "bottom") -> Outcome:
    """Borda count: the sum of points for places.

    ``unranked="bottom"``: k + 1 − rank, 0 for a document that a list does not have, which is rank k + 1.
    ``"shared"``: n + 1 − rank with n documents in the pool, and what remains of a list's points is shared by
    the documents it does not have (Aslam and Montague, SIGIR 2001); a ranker without an answer says nothing.
    """
    if unranked not in ("bottom", "shared"):
        raise InputError(f"unknown way {unranked!r} for unranked documents", "use 'bottom' or 'shared'")
    if unranked == "bottom":
        return Outcome(ballots.total(borda_points(ballots)))
    lengths, pool = ballots.lengths, ballots.pool_sizes[:, None]
    left = np.where(lengths > 0, (pool - lengths + 1) / 2, 0.0)
    points = ballots.by_list((pool - left).astype(np.float64)) + 1 - ballots.places
    return Outcome(ballots.total(points) + np.repeat(left.sum(axis=1), ballots.pool_sizes))


def weighted_borda(
    ballots: Ballots, *, weights: Mapping[str, float] | Sequence[float] | None = None
) -> Outcome:
    """Borda count in which ranker i's points count ``weights[i]`` times; by ranker name or in order."""
    values = _weights(ballots, weights)
    return Outcome(weighted_total(ballots, borda_points(ballots), values), {"weight": values})


def rrf(ballots: Ballots, *, k: float = 60.0) -> Outcome:
    """Reciprocal rank fusion: Σ 1/(k + rank) over the lists that have the document.

    (Cormack, Clarke and Büttcher, SIGIR 2009, whose k is 60.)
    """
    if not k >= 0:
        raise InputError(f"k must not be negative: {k}")
    return Outcome(ballots.total(1.0 / (k + ballots.places)))


def weighted_total(ballots: Ballots, points: Floats, weights: Floats) -> Floats:
    """Each document's points, those of ranker i counted ``weights[i]`` times."""
    spread = np.broadcast_to(weights, ballots.lengths.shape)
    return ballots.total(points * ballots.by_list(spread))


def _weights(ballots: Ballots, given: Mapping[str, float] | Sequence[float] | None) -> Floats:
    names = ballots.rankers
    if given is None:
        raise InputError("weighted-borda needs weights", "give one for each ranker: weights=[0.5, 0.3, 0.2]")
    if isinstance(given, Mapping):
        if set(given) != set(names):
            odd = ", ".join(sorted(set(given) ^ set(names)))
            raise InputError(f"weights and rankers differ in {odd}", f"name just these: {', '.join(names)}")
        given = [given[name] for name in names]
    values = np.asarray(given, np.float64)
    if values.shape != (len(names),):
        raise InputError(f"{len(names)} rankers need as many weights, not {values.size}")
    if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise InputError("weights must be finite, not negative, and not all zero")
    return values
