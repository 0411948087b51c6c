"""ULARA: weights for the Borda count, learned without labels from the distance of each ranker to the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import weighted_total
from topkit.fusion.result import Outcome, across_queries

SURPRISE = 2.0
"""An item counts if the number of its lists exceeds chance by this many standard deviations."""
DECAY = 3.0
"""A ranker as far from the mean as a random one ends with e^−3 = 5 % of the nearest ranker's weight."""


@dataclass(frozen=True)
class Gradients:
    """Sums over items of the gradient of each ranker, and of the gradient of a random list of its length."""

    actual: Floats
    """One sum per ranker."""
    chance: Floats
    """The sum that is expected of a random list of the same length."""

    def __add__(self, other: Gradients) -> Gradients:
        return Gradients(self.actual + other.actual, self.chance + other.chance)

    def weights(self, rate: float | None) -> Floats:
        """w_i ∝ exp(−λ Σ∇_i) with λ = rate; None chooses λ so that a random ranker loses a factor e^DECAY."""
        if rate is None:
            best = float((self.chance - self.actual).max(initial=0.0))
            rate = DECAY / best if best > 0 else 0.0
        w = np.exp(-rate * (self.actual - self.actual.min()))
        return np.asarray(w / w.sum())


@across_queries
def ulara(
    ballots: Ballots,
    *,
    nu: Annotated[
        int | None, Setting("Number of lists that an item must be in to count; none chooses it.", low=1)
    ] = None,
    rate: Annotated[float | None, Setting("Learning rate λ; none chooses it.", low=0.0)] = None,
    kappa: Annotated[int | None, Setting("Depth to which lists are cut; none keeps them.", low=1)] = None,
    online: Annotated[bool, Setting("Whether a query uses the weights of the queries up to it.")] = False,
) -> Outcome:
    """ULARA (Klementiev, Roth and Small): Borda count with weights from agreement with the mean rank.

    For each item j in at least ν lists, with mean rank μ(j) in those: ∇_i = (σ_i(j) − μ(j))²/κ_i², where
    σ_i(j) = κ_i + 1 if list i, of length κ_i, lacks it. Then w_i ∝ exp(−λ Σ_q Σ_j ∇_i), exponentiated
    gradient, and documents are sorted by Σ_i w_i (κ_i + 1 − σ_i(j))/κ_i. (The paper prints w ← w + λ∇, which
    would reward disagreement, and has no rule for ν and λ.)

    The default ν is, in each query, the smallest number of lists that is two standard deviations above the
    number expected for lists drawn at random from the pool (but at most the largest number of lists with a
    common item). The default λ gives a ranker as far from the means as a random one e^−3 of the largest
    weight.

    Use it if rankers differ in quality and most lists overlap. Not for small overlaps: then few documents
    inform the weights.
    """
    whole = ballots
    ballots = ballots if kappa is None else ballots.cut(kappa)
    zero = Gradients(np.zeros(ballots.n_rankers), np.zeros(ballots.n_rankers))
    sums = [zero]
    for q in range(len(ballots)):
        sums.append(sums[-1] + query_gradients(ballots.ranks(q), ballots.lengths[q], nu))
    weights = sums[-1].weights(rate)
    used = np.stack([s.weights(rate) for s in sums[1:]]) if online else weights
    limit = (whole.lengths if kappa is None else np.minimum(whole.lengths, kappa)).astype(np.float64)
    places = np.minimum(whole.places, whole.by_list(limit + 1.0))
    points = (whole.by_list(limit + 1.0) - places) / whole.by_list(np.maximum(limit, 1.0))
    return Outcome(weighted_total(whole, points, used), {"weight": weights})


def query_gradients(ranks: NDArray[np.int32], lengths: NDArray[np.int64], nu: int | None) -> Gradients:
    """The gradients of one query, summed over its items; ``ranks`` is ranker × item with 0 for absent."""
    answered = lengths > 0
    nothing = Gradients(np.zeros(len(lengths)), np.zeros(len(lengths)))
    if not answered.any():
        return nothing
    ranks, kappa = ranks[answered], lengths[answered].astype(np.float64)[:, None]
    listed = ranks > 0
    times = listed.sum(axis=0)
    share = kappa[:, 0] / ranks.shape[1]
    least = usual_threshold(share, int(times.max())) if nu is None else nu
    counts = times >= least
    if not counts.any():
        return nothing
    places = np.where(listed, ranks, kappa + 1)[:, counts] / kappa
    mean = (places * listed[:, counts]).sum(axis=0) / times[counts]
    # A random list has an item with probability κ/n, at a uniform place u on 0..1: E(u − μ)².
    inside = 1 / 3 - mean + mean**2
    outside = (1 + 1 / kappa - mean) ** 2
    random = (share[:, None] * inside + (1 - share[:, None]) * outside).sum(axis=1)
    actual = np.full(len(lengths), random.mean())  # a missing answer counts as a random one
    chance = actual.copy()
    actual[answered] = ((places - mean) ** 2).sum(axis=1)
    chance[answered] = random
    return Gradients(actual, chance)


def usual_threshold(share: Floats, most: int) -> int:
    """The default ν: the number of lists expected by chance plus :data:`SURPRISE` standard deviations.

    ``share`` is the share of the pool in each list, ``most`` the largest number of lists with one item.
    """
    by_chance = share.sum() + SURPRISE * np.sqrt((share * (1 - share)).sum())
    return int(max(1, min(most, np.ceil(by_chance))))
