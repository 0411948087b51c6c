"""Exponential weights, and the choice of how sharply they fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.rankers.ensemble.heads import Head
from topkit.scorers import Floats
from topkit.scorers.linear import best_place

STRENGTHS = tuple(float(c) for c in range(0, 201, 10))
"""Values of c that are tried: 0 weighs all alike, 200 hardly listens to any but the best."""
NEGLIGIBLE = 0.01
"""Members with less than this share of the largest weight are left out: together they are hardly heard."""


@dataclass(frozen=True)
class Variant:
    """Which members take part, and whether only the best of them does."""

    summary: str
    takes: Callable[[Head], bool]
    only_best: bool = False


VARIANTS: dict[str, Variant] = {
    "exp": Variant("all members", lambda head: True),
    "exp-cpc": Variant("calibrations of class probabilities", lambda head: head.probabilistic),
    "exp-rbc": Variant("calibrations by regression", lambda head: not head.probabilistic),
    "one-best": Variant("the member with the best measure alone", lambda head: True, only_best=True),
}
"""Name → who is mixed."""


def exponential_weights(
    measures: Floats, takes_part: NDArray[np.bool_], strength: float, only_best: bool = False
) -> Floats:
    """Weights ∝ exp(c·measure) over those that take part, summing to 1; all the weight to one if so wanted.

    >>> exponential_weights(np.array([0.5, 0.5, 0.4]), np.ones(3, bool), 10.0).round(3).tolist()
    [0.422, 0.422, 0.155]
    """
    weights = np.zeros(len(measures))
    if not takes_part.any():
        return weights
    best = int(np.argmax(np.where(takes_part, measures, -np.inf)))
    if only_best:
        weights[best] = 1.0
        return weights
    weights[takes_part] = np.exp(strength * (measures[takes_part] - measures[best]))
    weights[weights < NEGLIGIBLE] = 0.0
    shares: Floats = weights / weights.sum()
    return shares


def best_strength(judge: Callable[[float], float], strengths: Sequence[float] = STRENGTHS) -> float:
    """The c whose measure, averaged with those of its neighbours, is largest; the smallest of equals."""
    return float(strengths[best_place([judge(c) for c in strengths])])
