"""How reliable a prior ranking is: a model of its correlation with the truth, learned from the answers.

The model: true relevance z and prior score x of a document are standard normal with correlation ρ, and the
document at place i of n has x_i = Φ⁻¹(1 − (i + ½)/n). Then

    P(document i is among the true top j) = Φ((ρ x_i − t_j)/√(1 − ρ²)),   t_j = Φ⁻¹(1 − (j − ½)/n).

ρ is one of a few values; every answer updates their probabilities. Kendall's τ of such a prior is
(2/π) arcsin ρ, so ρ = 0.71 means τ = 0.5.
"""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats

CORRELATIONS = np.array([0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
"""The values of ρ, from useless to almost exact."""
BELIEF = np.array([0.02, 0.03, 0.05, 0.1, 0.3, 0.35, 0.12, 0.03])
"""Probability of each correlation before the first answer: the ranking of a model is rarely useless."""

LEVELS = np.linspace(4.0, -4.0, 161)
"""Values of z at which the expected number of better documents is computed."""


def prior_scores(n: int) -> Floats:
    """x_i for the prior places 0 … n−1."""
    from scipy.special import ndtri  # here, because only labellings with a prior need it

    scores: Floats = ndtri(1 - (np.arange(n) + 0.5) / n)
    return scores


def above(scores: Floats, levels: Floats | float) -> Floats:
    """P(z > level) for documents with these prior scores; the last axis is the correlation."""
    from scipy.special import ndtr

    probabilities: Floats = ndtr((scores[..., None] * CORRELATIONS - levels) / np.sqrt(1 - CORRELATIONS**2))
    return probabilities


def top_probabilities(n: int, j: int) -> Floats:
    """P(the document at prior place i is among the true top j), of shape (n, correlations).

    >>> top_probabilities(4, 2)[:, [0, 5]].round(2)  # ρ = 0 and ρ = 0.8
    array([[0.38, 0.84],
           [0.38, 0.46],
           [0.38, 0.17],
           [0.38, 0.02]])
    """
    from scipy.special import ndtri

    return above(prior_scores(n), float(ndtri(1 - (j - 0.5) / n)))


class Trust:
    """Probabilities of the correlations, updated by the outcomes."""

    def __init__(self) -> None:
        self.log = np.log(BELIEF)

    def belief(self) -> Floats:
        """Probability of each correlation given the answers so far."""
        weights = np.exp(self.log - self.log.max())
        belief: Floats = weights / weights.sum()
        return belief

    def add(self, likelihood: Floats) -> None:
        """Update by an outcome that has this probability under each correlation."""
        self.log += np.log(np.maximum(likelihood, 1e-12))


class Newcomer:
    """Where a document belongs in the sorted list of the earlier ones, by its place in the prior."""

    def __init__(self, n: int, trust: Trust) -> None:
        self.scores = prior_scores(n)
        self.trust = trust
        self.better = np.zeros((len(LEVELS), len(CORRELATIONS)))
        """The expected number of earlier documents above each level."""

    def add(self, first: int, stop: int) -> None:
        """Add the documents at these prior places; they stay added when they leave the list."""
        self.better += above(self.scores[None, first:stop], LEVELS[:, None, None]).sum(1)

    def chances(self, place: int, length: int, items: int) -> Floats:
        """P(the document at this prior place beats position p), p = 0 … length−1, one column per correlation.

        The list has ``items`` documents in ``length`` positions (some tie).
        """
        targets = np.arange(1, length + 1) * (items / (length + 1))
        levels = np.stack([np.interp(targets, column, LEVELS) for column in self.better.T], 1)
        return above(self.scores[[place]], levels)
