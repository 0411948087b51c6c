"""Exponential weights of members, and the choice of how fast they fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topkit.compute import Bools, Floats
from topkit.rankers.mixture.heads import Head
from topkit.scorers.linear import best_place

STRENGTHS = tuple(float(c) for c in range(0, 201, 10))
"""Values of c to try: 0 gives all members the same weight, 200 almost all the weight to the best."""
NEGLIGIBLE = 0.01
"""Members below this share of the largest weight are dropped: they cost time and hardly change the score."""


@dataclass(frozen=True)
class Variant:
    """Which members are mixed, and whether only the best of them is used."""

    summary: str
    includes: Callable[[Head], bool]
    only_best: bool = False


VARIANTS: dict[str, Variant] = {
    "exp": Variant("all members", lambda head: True),
    "exp-cpc": Variant("calibrations of class probabilities", lambda head: head.probabilistic),
    "exp-rbc": Variant("calibrations by regression", lambda head: not head.probabilistic),
    "one-best": Variant("only the member with the best measure", lambda head: True, only_best=True),
}
"""Name → which members are mixed."""


def exponential_weights(
    measures: Floats, included: Bools, strength: float, only_best: bool = False
) -> Floats:
    """Weights ∝ exp(c·measure) of the included members, summing to 1; ``only_best`` gives one member all.

    >>> exponential_weights(np.array([0.5, 0.5, 0.4]), np.ones(3, bool), 10.0).round(3).tolist()
    [0.422, 0.422, 0.155]
    """
    weights = np.zeros(len(measures))
    if not included.any():
        return weights
    best = int(np.argmax(np.where(included, measures, -np.inf)))
    if only_best:
        weights[best] = 1.0
        return weights
    weights[included] = np.exp(strength * (measures[included] - measures[best]))
    weights[weights < NEGLIGIBLE] = 0.0
    shares: Floats = weights / weights.sum()
    return shares


def best_strength(
    judge: Callable[[float], float], strengths: Sequence[float] = STRENGTHS
) -> tuple[float, float]:
    """The c with the largest measure, averaged with its neighbours (the smallest of equals); its measure."""
    measures = [judge(c) for c in strengths]
    place = best_place(measures)
    return float(strengths[place]), measures[place]
