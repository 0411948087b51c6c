"""AdaBoost.MH: multi-class boosting of Hamming trees and products of thresholds, by full search or bandit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Floats32, Ints, Ints32, Trace
from topkit.data import Dataset
from topkit.rankers.boosting.pools import ThresholdPool
from topkit.rankers.multiclass.bandit import DRAWS, LARGEST_EDGE, Bandit
from topkit.rankers.multiclass.boosted import Boosted, BoostedProducts, BoostedTrees, rounded_down
from topkit.scorers import Report, silent

FORMS = ("tree", "product")
"""Forms of base classifiers."""
THRESHOLDS = 128
"""Thresholds per feature; more hardly improve the edge of the best one."""
SMALLEST_EDGE = 1e-9
"""A smaller edge is rounding: the classifier does not improve the loss."""
CYCLES = 3
"""Passes over the terms of a product; most products stop changing sooner."""


@dataclass(frozen=True)
class Plan:
    """What to boost: trees with ``size`` leaves or products of ``size`` terms, and the number of rounds."""

    form: str = "tree"
    size: int = 8
    rounds: int = 200
    bandit: bool = False
    draws: int = DRAWS
    """Features that the bandit draws for each split or term."""

    def __str__(self) -> str:
        return f"{self.form} {self.size}"


class Binned(NamedTuple):
    """The thresholds of each feature, and the bins of all documents between them."""

    bins: NDArray[np.uint8]
    """Features × documents."""
    borders: Floats
    """Features × thresholds; NaN where a feature has fewer thresholds."""

    @classmethod
    def of(cls, X: Floats32) -> Binned:
        pool = ThresholdPool.of(X, THRESHOLDS)
        return cls(pool.bind(X), pool.borders)


def start_weights(classes: Ints, count: int, weights: Floats) -> Floats:
    """Signed starting weights w·y of documents × classes, whose absolute values sum to 1.

    The weight is 2^ℓ for the class ℓ of the document, and 2^ℓ/(K − 1) for each other class.

    >>> start_weights(np.array([1, 0]), 2, np.ones(2)).round(3).tolist()
    [[-0.333, 0.333], [0.167, -0.167]]
    """
    positive = weights * np.exp2(classes)
    signed = np.repeat(-positive[:, None] / max(count - 1, 1), count, axis=1)
    signed[np.arange(len(classes)), classes] = positive
    normalised: Floats = signed / np.abs(signed).sum()
    return normalised


def step_size(edge: float) -> float:
    """α = ½ ln((1 + γ)/(1 − γ)) minimises the exponential loss for a classifier of ±1 with edge γ."""
    safe = min(edge, LARGEST_EDGE)
    return 0.5 * math.log((1 + safe) / (1 - safe))


def boost(
    data: Dataset, signed: Floats, plan: Plan, seed: int = 0, report: Report = silent
) -> tuple[Boosted, Trace]:
    """Boost for the plan's rounds, or until no classifier has an edge; the trace is the exponential loss.

    ``signed`` are the starting weights of :func:`start_weights`; each round multiplies them by exp(−α·y·h).
    A round with edge γ multiplies the loss by √(1 − γ²), so the loss never rises. With a bandit, every split
    and every term is the best threshold of the features that Exp3.G draws for it; the reward of a round,
    −½ ln(1 − γ²), goes to each of its features. Busa-Fekete & Kégl, ICML 2010; Kégl & Busa-Fekete, ICML 2009.
    """
    pool = Binned.of(data.X)
    signed = signed.copy()
    grower = (_TreeGrower if plan.form == "tree" else _ProductGrower)(pool, signed.shape, plan.size)
    rng = np.random.default_rng(seed)
    bandit = Bandit.of(_first_edges(pool, signed)) if plan.bandit else None
    trace = Trace(plan.rounds)
    going = trace.go_on(1.0)
    while going:
        reach = np.empty(0) if bandit is None else bandit.reach()
        chances = rng.random((grower.choices, plan.draws)) if bandit else np.empty((grower.choices, 0))
        edge = grower.grow(signed, reach, chances)
        if edge < SMALLEST_EDGE:
            if bandit is not None and trace.go_on(trace.values[-1]):
                continue  # none of the drawn features has an edge; the next draw may find one
            trace.reason = trace.reason or "settled"
            break
        alpha = step_size(edge)
        factor = grower.reweigh(signed, alpha)
        grower.keep(alpha)
        if bandit is not None:
            bandit.learn(grower.features(), edge)
        going = trace.go_on(trace.values[-1] * factor)
        report(f"{plan}, loss", trace.steps, plan.rounds, trace.values[-1])
    return grower.model(), trace


def _sizes(pool: Binned) -> Ints:
    """The number of thresholds of each feature."""
    return np.asarray((~np.isnan(pool.borders)).sum(axis=1), np.int64)


def _first_edges(pool: Binned, signed: Floats) -> Floats:
    """The edge of each feature's best threshold under the starting weights."""
    from topkit.rankers.multiclass.kernels import growing

    rows, ones = np.arange(len(signed)), np.ones(len(signed))
    sums = np.empty((THRESHOLDS + 2, signed.shape[1] + 1))
    return np.array(
        [
            growing.best_cut(bins, size, signed, ones, rows, 0, len(rows), sums)[0]
            for bins, size in zip(pool.bins, _sizes(pool), strict=True)
        ]
    )


class _TreeGrower:
    """Grows one Hamming tree per round, in buffers that are reused, and collects the trees."""

    def __init__(self, pool: Binned, shape: tuple[int, int], leaves: int) -> None:
        documents, classes = shape
        self.pool, self.sizes, self.leaves = pool, _sizes(pool), leaves
        self.choices = 2 * leaves
        self.nodes, self.votes = np.empty((leaves, 4), np.int64), np.empty((leaves, classes), np.int8)
        self.rows, self.bounds = np.empty(documents, np.int64), np.empty((leaves, 2), np.int64)
        self.count = 0
        self.kept_nodes: list[Ints] = [np.empty((0, 4), np.int64)]
        self.values: list[Floats] = [np.empty((0, classes))]
        self.alphas: list[float] = []
        self.roots, self.splits, self.all_leaves = [0], 0, 0

    def grow(self, signed: Floats, reach: Floats, chances: Floats) -> float:
        """Grow the tree of this round; its edge."""
        from topkit.rankers.multiclass.kernels import growing

        edge, self.count = growing.grow_tree(
            self.pool.bins, self.sizes, signed, self.leaves, reach, chances, self.rows, self.nodes,
            self.bounds, self.votes,
        )  # fmt: skip
        return float(edge)

    def features(self) -> Ints:
        """The features of the tree's splits."""
        return self.nodes[: self.count - 1, 0].copy()

    def reweigh(self, signed: Floats, alpha: float) -> float:
        """Multiply the weights by exp(−α·y·h) and normalise them; the factor of the loss."""
        from topkit.rankers.multiclass.kernels.weights import update_by_leaves

        total = update_by_leaves(signed, self.rows, self.bounds, self.votes, self.count, alpha)
        signed /= total
        return float(total)

    def keep(self, alpha: float) -> None:
        """Add the tree to the model, with its splits and leaves numbered after those of earlier trees."""
        nodes = self.nodes[: self.count - 1].copy()
        inner = nodes[:, 2:] >= 0
        nodes[:, 2:] = np.where(inner, nodes[:, 2:] + self.splits, nodes[:, 2:] - self.all_leaves)
        self.kept_nodes.append(nodes)
        self.values.append(alpha * self.votes[: self.count].astype(np.float64))
        self.alphas.append(alpha)
        self.all_leaves += self.count
        self.splits += len(nodes)
        self.roots.append(self.splits)

    def model(self) -> BoostedTrees:
        """All trees so far."""
        nodes = np.concatenate(self.kept_nodes)
        return BoostedTrees(
            *_comparisons(nodes, self.pool),
            np.concatenate(self.values),
            np.cumsum(self.alphas),
            nodes[:, 2:].astype(np.int32),
            np.array(self.roots[:-1], np.int32),
        )


class _ProductGrower:
    """Grows one product of thresholds per round, in buffers that are reused, and collects the products."""

    def __init__(self, pool: Binned, shape: tuple[int, int], terms: int) -> None:
        documents, classes = shape
        self.pool, self.sizes, self.terms = pool, _sizes(pool), terms
        self.choices = CYCLES * terms
        self.nodes, self.vote = np.empty((terms + 1, 4), np.int64), np.empty(classes, np.int8)
        self.parity = np.empty(documents)
        self.count = 0
        self.kept_nodes: list[Ints] = [np.empty((0, 4), np.int64)]
        self.values: list[Floats] = [np.empty((0, classes))]
        self.alphas: list[float] = []
        self.bounds = [0]

    def grow(self, signed: Floats, reach: Floats, chances: Floats) -> float:
        """Grow the product of this round; its edge."""
        from topkit.rankers.multiclass.kernels import growing

        edge, self.count = growing.grow_product(
            self.pool.bins, self.sizes, signed, self.terms, reach, chances, CYCLES, self.nodes, self.parity
        )
        self.vote[:] = np.where(self.parity @ signed >= 0, 1, -1)
        return float(edge)

    def features(self) -> Ints:
        """The features of the product's terms."""
        return self.nodes[: self.count, 0].copy()

    def reweigh(self, signed: Floats, alpha: float) -> float:
        """Multiply the weights by exp(−α·y·h) and normalise them; the factor of the loss."""
        from topkit.rankers.multiclass.kernels.weights import update_by_parity

        total = update_by_parity(signed, self.parity, self.vote, alpha)
        signed /= total
        return float(total)

    def keep(self, alpha: float) -> None:
        """Add the product to the model."""
        self.kept_nodes.append(self.nodes[: self.count].copy())
        self.values.append(alpha * self.vote[None, :].astype(np.float64))
        self.alphas.append(alpha)
        self.bounds.append(self.bounds[-1] + self.count)

    def model(self) -> BoostedProducts:
        """All products so far."""
        return BoostedProducts(
            *_comparisons(np.concatenate(self.kept_nodes), self.pool),
            np.concatenate(self.values),
            np.cumsum(self.alphas),
            np.array(self.bounds, np.int32),
        )


def _comparisons(nodes: Ints, pool: Binned) -> tuple[Ints32, Floats32]:
    """The feature and the threshold of each node."""
    return nodes[:, 0].astype(np.int32), rounded_down(pool.borders[nodes[:, 0], nodes[:, 1]])
