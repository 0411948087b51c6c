"""ULARA: weights for the Borda count, learnt without labels from each ranker's distance to the mean place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import weighted_total
from topkit.fusion.result import Outcome

Floats = NDArray[np.float64]
SURPRISE = 2.0
"""An item counts if it is in more lists than chance would give it, by so many standard deviations."""
DECAY = 3.0
"""A ranker as far from the mean as a random one ends with e^−3 = 5 % of the nearest ranker's weight."""


@dataclass(frozen=True)
class Gradients:
    """Sums over items of each ranker's gradient, and of what a random list of its length would have."""

    own: Floats
    chance: Floats

    def __add__(self, other: Gradients) -> Gradients:
        return Gradients(self.own + other.own, self.chance + other.chance)

    def weights(self, rate: float | None) -> Floats:
        """w_i ∝ exp(−λ Σ∇_i). λ is the rate given, or the one by which chance costs :data:`DECAY`."""
        if rate is None:
            best = float((self.chance - self.own).max(initial=0.0))
            rate = DECAY / best if best > 0 else 0.0
        w = np.exp(-rate * (self.own - self.own.min()))
        return np.asarray(w / w.sum())


def ulara(
    ballots: Ballots,
    *,
    nu: int | None = None,
    rate: float | None = None,
    kappa: int | None = None,
    online: bool = False,
) -> Outcome:
    """ULARA (Klementiev, Roth and Small): Borda count with weights from agreement with the mean place.

    For each item j that at least ν lists have, with mean place μ(j) in those: ∇_i = (σ_i(j) − μ(j))²/κ_i²,
    where σ_i(j) = κ_i + 1 if list i, of length κ_i, lacks it. Then w_i ∝ exp(−λ Σ_q Σ_j ∇_i), exponentiated
    gradient, and documents rank by Σ_i w_i (κ_i + 1 − σ_i(j))/κ_i. (The paper prints w ← w + λ∇, which would
    reward disagreement, and asks for ν and λ by hand.)

    nu: ν; by default, in each query, the least number of lists that is two standard deviations more than
        lists drawn at random from the pool would give (but never more than some item reaches).
    rate: λ; by default such that a ranker as far from the means as a random one weighs e^−3 of the nearest.
    kappa: cut every list here first.
    online: rank each query by the weights learnt from the queries up to it, in the order given.
    """
    if nu is not None and nu < 1:
        raise InputError(f"nu must be at least 1, not {nu}")
    if rate is not None and not rate >= 0:
        raise InputError(f"the rate must not be negative: {rate}")
    if kappa is not None and kappa < 1:
        raise InputError(f"kappa must be at least 1, not {kappa}")
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
    speaks = times >= least
    if not speaks.any():
        return nothing
    places = np.where(listed, ranks, kappa + 1)[:, speaks] / kappa
    mean = (places * listed[:, speaks]).sum(axis=0) / times[speaks]
    # A random list has an item with probability κ/n, then anywhere: place u uniform on 0..1 gives E(u − μ)².
    inside = 1 / 3 - mean + mean**2
    outside = (1 + 1 / kappa - mean) ** 2
    random = (share[:, None] * inside + (1 - share[:, None]) * outside).sum(axis=1)
    own = np.full(len(lengths), random.mean())  # no answer is as good as a random one
    chance = own.copy()
    own[answered] = ((places - mean) ** 2).sum(axis=1)
    chance[answered] = random
    return Gradients(own, chance)


def usual_threshold(share: Floats, most: int) -> int:
    """ν without labels: more lists than chance gives an item, by :data:`SURPRISE` standard deviations.

    ``share`` is the part of the pool that each list holds, ``most`` the most lists with one item.
    """
    by_chance = share.sum() + SURPRISE * np.sqrt((share * (1 - share)).sum())
    return int(max(1, min(most, np.ceil(by_chance))))
