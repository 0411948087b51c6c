"""Exp3.G: a bandit that draws promising features instead of searching all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from topkit.compute import Floats, Ints

EXPLORE = 0.05
"""Share of the draws that are uniformly random, so that every feature keeps being tried."""
DRAWS = 8
"""Features drawn for each choice by default; the best of them is taken. The paper draws one."""
LEARN = 5.0
"""How much a reward as large as the best one of the first round changes the pull of a feature."""
LARGEST_EDGE = 1 - 1e-9
"""A perfect edge of 1 would have an infinite weight and an infinite reward."""


@dataclass
class Bandit:
    """Which features to draw next, from the rewards of earlier draws."""

    pull: Floats
    """Log-odds of each feature."""
    follows: Floats
    """How often a feature (column) was drawn after another (row)."""
    unit: float = 1.0
    """The largest reward of the first round; rewards are measured in it."""
    last: int = -1

    @classmethod
    def of(cls, edges: Floats) -> Bandit:
        """Start from the edge of each feature's best threshold under the starting weights."""
        rewards = np.array([reward_of(edge) for edge in edges])
        unit = float(rewards.max(initial=0.0)) or 1.0
        return cls(LEARN * rewards / unit, np.zeros((len(rewards), len(rewards))), unit)

    def reach(self) -> Floats:
        """Cumulative probabilities of the features."""
        from topkit.rankers.multiclass.kernels.bandit import arm_reach

        probabilities: Floats = arm_reach(self.pull, EXPLORE)
        return probabilities

    def learn(self, features: Ints, edge: float) -> None:
        """Reward the features of a round with this edge."""
        from topkit.rankers.multiclass.kernels.bandit import reward_arms

        reward = LEARN * reward_of(edge) / self.unit
        self.last = reward_arms(self.pull, self.follows, features, len(features), reward, self.last)


def reward_of(edge: float) -> float:
    """−½ ln(1 − γ²): how much a round with edge γ lowers the logarithm of the loss; 0 without an edge."""
    return -0.5 * math.log1p(-(min(max(edge, 0.0), LARGEST_EDGE) ** 2))
