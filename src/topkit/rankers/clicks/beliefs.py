"""Beliefs: an independent Gaussian for each weight, and a few noise variances with probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topkit.compute import Floats, Floats32, Ints
from topkit.rankers.clicks.events import Events, Layout

NOISES = 4
"""Quadrature points of the Gamma prior of the noise precision; four are within 0.02 of the exact link."""
SHAPE = 2.0
"""Shape of that Gamma prior; its mean is 1. The link is then Student's t with 2·SHAPE degrees of freedom."""


def noise_prior(points: int = NOISES, shape: float = SHAPE) -> tuple[Floats, Floats]:
    """Noise variances and probabilities: Gauss–Laguerre points of a Gamma prior of mean 1 on 1/variance.

    >>> variances, shares = noise_prior()
    >>> round(float(shares.sum()), 12), round(float(shares @ (1 / variances)), 12)
    (1.0, 1.0)
    """
    from scipy.special import roots_genlaguerre

    nodes, weights = roots_genlaguerre(points, shape - 1.0)
    return shape / nodes, weights / weights.sum()


@dataclass(frozen=True)
class Beliefs:
    """Posterior of the weights of one generalised linear model."""

    mean: Floats
    variance: Floats
    noise: Floats
    share: Floats
    """Probability of each noise variance: fixed for clicks, whose scale is free; learned for grades."""

    @classmethod
    def prior(cls, layout: Layout, spread: float, memory: float) -> Beliefs:
        """Means 0; deviation ``spread`` for features, bias and positions, ``memory`` for memory weights."""
        variance = np.full(len(layout), memory**2)
        variance[: layout.table] = spread**2
        return cls(np.zeros(len(layout)), variance, *noise_prior())

    def after_clicks(self, events: Events, X: Floats32) -> tuple[Beliefs, float]:
        """The beliefs after a pass over events, and the sum of the predictive log-likelihoods."""
        from topkit.rankers.clicks import kernels

        posterior = replace(self, mean=self.mean.copy(), variance=self.variance.copy())
        likelihood = kernels.learn_clicks(
            posterior.mean, posterior.variance, self.noise, self.share, X, events.row, events.slots,
            events.clicked,
        )  # fmt: skip
        return posterior, float(likelihood)

    def sums(self, X: Floats32, row: Ints, slots: Ints) -> Floats:
        """Mean and variance of s = w·x for each document, two columns."""
        from topkit.rankers.clicks import kernels

        out = np.empty((len(slots), 2))
        kernels.predict(self.mean, self.variance, X, row, slots, out)
        return out

    def above(self, mean: Floats, variance: Floats) -> Floats:
        """P(s + noise > 0) for Gaussian s, with the noise integrated out."""
        from scipy.special import ndtr

        total = np.zeros(np.broadcast_shapes(mean.shape, variance.shape))
        for noise, share in zip(self.noise, self.share, strict=True):
            total += share * ndtr(mean / np.sqrt(variance + noise))
        return total

    def click_probability(self, events: Events, X: Floats32) -> Floats:
        """The probability of a click on each examined document."""
        sums = self.sums(X, events.row, events.slots)
        return self.above(sums[:, 0], sums[:, 1])
