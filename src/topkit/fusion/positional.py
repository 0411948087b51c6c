"""Fusion by rank: Borda, weighted Borda and reciprocal ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.result import Outcome

Weights = tuple[float, ...] | Mapping[str, float] | None
"""One weight per ranker, in their order or by name."""


def longest(ballots: Ballots) -> Floats:
    """Length of the longest list of each query, repeated for its entries."""
    most = np.broadcast_to(ballots.lengths.max(axis=1, keepdims=True), ballots.lengths.shape)
    return ballots.by_list(most.astype(np.float64))


def borda_points(ballots: Ballots) -> Floats:
    """k + 1 − rank for every entry, with k the longest list of the query; 0 for unlisted documents.

    A rank is worth the same in a short list as in a long one.
    """
    points: Floats = longest(ballots) + 1 - ballots.places
    return points


def borda(
    ballots: Ballots,
    *,
    unranked: Annotated[
        str, Setting("Points of documents that a list does not have.", choices=("bottom", "shared"))
    ] = "bottom",
) -> Outcome:
    """Borda count: the sum of points for ranks.

    ``unranked="bottom"``: k + 1 − rank, and 0 for a document that a list does not have, as at rank k + 1.
    ``"shared"``: n + 1 − rank with n documents in the pool; the documents that a list does not have share its
    remaining points (Aslam and Montague, SIGIR 2001), and a ranker without an answer gives no points.

    Use it as the plain baseline for complete lists of informative rankers. Not for short lists over large
    pools, where `rrf` is the usual choice.
    """
    if unranked == "bottom":
        return Outcome(ballots.total(borda_points(ballots)))
    lengths, pool = ballots.lengths, ballots.pool_sizes[:, None]
    remaining = np.where(lengths > 0, (pool - lengths + 1) / 2, 0.0)
    points = ballots.by_list((pool - remaining).astype(np.float64)) + 1 - ballots.places
    return Outcome(ballots.total(points) + np.repeat(remaining.sum(axis=1), ballots.pool_sizes))


def weighted_borda(
    ballots: Ballots,
    *,
    weights: Annotated[Weights, Setting("Weight of each ranker, in order or by name; required.")] = None,
) -> Outcome:
    """Borda count in which the points of ranker i count ``weights[i]`` times; by ranker name or in order.

    Use it if you know how good each ranker is. Not without such knowledge; `agreement` and `ulara` learn
    weights.
    """
    values = _weights(ballots, weights)
    return Outcome(weighted_total(ballots, borda_points(ballots), values), {"weight": values})


def rrf(
    ballots: Ballots, *, k: Annotated[float, Setting("Constant added to every rank.", low=0.0)] = 60.0
) -> Outcome:
    """Reciprocal rank fusion: Σ 1/(k + rank) over the lists that contain the document.

    Cormack, Clarke and Büttcher, SIGIR 2009, with k = 60.

    Use it for a few good systems with scores that cannot be compared; it has no scale. Not if many runs are
    uninformative.
    """
    return Outcome(ballots.total(1.0 / (k + ballots.places)))


def weighted_total(ballots: Ballots, points: Floats, weights: Floats) -> Floats:
    """The points of each document, those of ranker i counted ``weights[i]`` times."""
    spread = np.broadcast_to(weights, ballots.lengths.shape)
    return ballots.total(points * ballots.by_list(spread))


def _weights(ballots: Ballots, weights: Weights) -> Floats:
    names = ballots.rankers
    if weights is None:
        raise InputError("weighted-borda needs weights", "give one per ranker: weights=[0.5, 0.3, 0.2]")
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            different = ", ".join(sorted(set(weights) ^ set(names)))
            raise InputError(f"weights and rankers differ in {different}", f"expected {', '.join(names)}")
        weights = tuple(weights[name] for name in names)
    values = np.asarray(weights, np.float64)
    if values.shape != (len(names),):
        raise InputError(f"expected {len(names)} weights, one per ranker, got {values.size}")
    if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise InputError("weights must be finite, not negative, and not all zero")
    return values
