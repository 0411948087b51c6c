"""AdaBoost.MH: multi-class boosting of thresholds, Hamming trees and products, by full search or bandit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace
from topkit.data import Dataset
from topkit.rankers.boosting.pools import ThresholdPool
from topkit.rankers.multiclass.boosted import Boosted, BoostedProducts, BoostedTrees, rounded_down
from topkit.scorers import Floats, Report, silent

Ints = NDArray[np.int64]

FORMS = ("tree", "product")
THRESHOLDS = 128
"""Thresholds tried on each feature."""
LARGEST_EDGE = 1 - 1e-9
"""A perfect edge would have an infinite weight."""
SMALLEST_EDGE = 1e-9
"""A classifier with less has nothing to add."""
CYCLES = 3
"""Times that the terms of a product are gone through at most."""
EXPLORE = 0.05
"""Share of the bandit's draws that are by pure chance."""
DRAWS = 8
"""Features that the bandit draws for each choice; the best of them is taken."""
LEARN = 5.0
"""How strongly a reward of the size of the first round's best moves the bandit."""


@dataclass(frozen=True)
class Plan:
    """What to boost: trees of ``size`` leaves or products of ``size`` terms, for so many rounds."""

    form: str = "tree"
    size: int = 8
    rounds: int = 200
    bandit: bool = False

    def __str__(self) -> str:
        return f"{self.form} {self.size}"


def start_weights(index: Ints, classes: int, weights: Floats) -> Floats:
    """Signed starting weights w·y: 2^ℓ for a document's own class ℓ, 2^ℓ/(K − 1) for each other, |sum| 1.

    >>> start_weights(np.array([1, 0]), 2, np.ones(2)).round(3).tolist()
    [[-0.333, 0.333], [0.167, -0.167]]
    """
    own = weights * np.exp2(index)
    signed = np.repeat(-own[:, None] / max(classes - 1, 1), classes, axis=1)
    signed[np.arange(len(index)), index] = own
    found: Floats = signed / np.abs(signed).sum()
    return found


def step_size(edge: float) -> float:
    """α = ½ ln((1 + γ)/(1 − γ)), the least of the exponential loss for a classifier of ±1 with edge γ."""
    safe = min(edge, LARGEST_EDGE)
    return 0.5 * math.log((1 + safe) / (1 - safe))


@dataclass
class Bandit:
    """Exp3.G over features: which arm to pull next, from what pulling earned so far."""

    pull: Floats
    follows: Floats
    """How often an arm (column) came after another (row)."""
    last: int = -1

    unit: float = 1.0
    """The best reward of the first look: rewards are counted in it."""

    @classmethod
    def of(cls, pool: ThresholdPool, sizes: Ints, signed: Floats) -> Bandit:
        """Every arm is pulled once: the reward of its best threshold under the starting weights."""
        from topkit.rankers.multiclass import kernels

        rows, ones = np.arange(len(signed)), np.ones(len(signed))
        sums = np.empty((THRESHOLDS + 2, signed.shape[1] + 1))
        edges = [
            kernels.best_cut(row, size, signed, ones, rows, 0, len(rows), sums)[0]
            for row, size in zip(pool.bins, sizes, strict=True)
        ]
        rewards = np.array([reward_of(edge) for edge in edges])
        unit = float(rewards.max(initial=0.0)) or 1.0
        return cls(LEARN * rewards / unit, np.zeros((len(rewards), len(rewards))), unit=unit)

    def learn(self, arms: Ints, edge: float) -> None:
        """Reward the features that a round with this edge was made of."""
        from topkit.rankers.multiclass import kernels

        reward = LEARN * reward_of(edge) / self.unit
        self.last = kernels.reward_arms(self.pull, self.follows, arms, len(arms), reward, self.last)


def reward_of(edge: float) -> float:
    """−½ ln(1 − γ²): how much a round with edge γ lowers the logarithm of the loss; 0 without an edge."""
    return -0.5 * math.log1p(-(min(max(edge, 0.0), LARGEST_EDGE) ** 2))


def boost(
    data: Dataset, signed: Floats, plan: Plan, seed: int = 0, report: Report = silent
) -> tuple[Boosted, Trace]:
    """Boost for the plan's rounds, or until nothing has an edge; the trace holds the exponential loss.

    ``signed`` are the starting weights of :func:`start_weights`; each round multiplies them by exp(−α·y·h).
    A round with edge γ multiplies the loss by √(1 − γ²), so it never rises. With a bandit, every split and
    every term is the best threshold of eight features that Exp3.G draws; the reward of a round,
    −½ ln(1 − γ²), goes to each feature that took part. Busa-Fekete & Kégl, ICML 2010; Kégl & Busa-Fekete,
    ICML 2009.
    """
    from topkit.rankers.multiclass import kernels

    pool = ThresholdPool.of(data, THRESHOLDS)
    sizes = (~np.isnan(pool.borders)).sum(axis=1)
    signed = signed.copy()
    n, K = signed.shape
    most = plan.size if plan.form == "tree" else plan.size + 1  # a tree has one split less than leaves
    nodes, votes = np.empty((most, 4), np.int64), np.empty((most, K), np.int8)
    rows, bounds, parity = np.empty(n, np.int64), np.empty((most, 2), np.int64), np.empty(n)
    choices = 2 * plan.size if plan.form == "tree" else CYCLES * plan.size
    rng, bandit = np.random.default_rng(seed), Bandit.of(pool, sizes, signed) if plan.bandit else None
    builder = _Builder(plan.form, pool.borders, K)
    trace = Trace(plan.rounds)
    going = trace.go_on(1.0)
    while going:
        chances = np.empty((choices, 0)) if bandit is None else rng.random((choices, DRAWS))
        reach = np.empty(0) if bandit is None else kernels.arm_reach(bandit.pull, EXPLORE)
        shared = (pool.bins, sizes, signed, plan.size, reach, chances)
        if plan.form == "tree":
            edge, count = kernels.grow_tree(*shared, rows, nodes, bounds, votes)
            arms = nodes[: count - 1, 0].copy()
        else:
            edge, count = kernels.grow_product(*shared, CYCLES, nodes, parity)
            votes[0] = np.where(parity @ signed >= 0, 1, -1)
            arms = nodes[:count, 0].copy()
        if edge < SMALLEST_EDGE:
            if bandit is not None and trace.go_on(trace.values[-1]):
                continue  # the features drawn had nothing; the next ones may
            trace.reason = trace.reason or "settled"
            break
        alpha = step_size(edge)
        if plan.form == "tree":
            shrunk = kernels.update_by_leaves(signed, rows, bounds, votes, count, alpha)
        else:
            shrunk = kernels.update_by_parity(signed, parity, votes[0], alpha)
        builder.add(nodes, votes, count, alpha)
        if bandit is not None:
            bandit.learn(arms, edge)
        going = trace.go_on(trace.values[-1] * shrunk)
        report(f"{plan}, loss", trace.steps, plan.rounds, trace.values[-1])
    return builder.model(), trace


class _Builder:
    """Collects the rounds and puts them together as a model."""

    def __init__(self, form: str, borders: Floats, classes: int) -> None:
        self.form, self.borders = form, borders
        self.nodes: list[Ints] = []
        self.values: list[Floats] = [np.empty((0, classes))]
        self.alphas: list[float] = []
        self.splits, self.leaves = [0], 0

    def add(self, nodes: Ints, votes: NDArray[np.int8], count: int, alpha: float) -> None:
        """One more tree of ``count`` leaves, or product of ``count`` terms."""
        own = nodes[: count - 1 if self.form == "tree" else count].copy()
        if self.form == "tree":
            inner = own[:, 2:] >= 0
            own[:, 2:] = np.where(inner, own[:, 2:] + self.splits[-1], own[:, 2:] - self.leaves)
            self.leaves += count
        self.nodes.append(own)
        self.values.append(alpha * votes[: count if self.form == "tree" else 1].astype(np.float64))
        self.splits.append(self.splits[-1] + len(own))
        self.alphas.append(alpha)

    def model(self) -> Boosted:
        nodes = np.concatenate([np.empty((0, 4), np.int64), *self.nodes])
        feature = nodes[:, 0].astype(np.int32)
        threshold = rounded_down(self.borders[nodes[:, 0], nodes[:, 1]])
        values, total = np.concatenate(self.values), np.cumsum(self.alphas)
        if self.form == "tree":
            root = np.array(self.splits[:-1], np.int32)
            return BoostedTrees(feature, threshold, nodes[:, 2:].astype(np.int32), root, values, total)
        return BoostedProducts(feature, threshold, np.array(self.splits, np.int32), values, total)
