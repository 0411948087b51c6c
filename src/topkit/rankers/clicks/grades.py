"""Grades as ordinal regression: s plus noise lies between boundaries that are learned with the weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topkit.compute import Floats, Floats32, Ints
from topkit.data import InputError
from topkit.rankers.clicks.beliefs import Beliefs

LARGEST = 30.0
"""If a grade is larger, gains are scaled down: 2^g of a long full order would overflow."""


@dataclass(frozen=True)
class Scale:
    """The grades of the training data, and beliefs about the boundaries between them."""

    levels: Floats
    """The grades, rising."""
    bound: Floats
    """−∞, the mean of each boundary, ∞."""
    variance: Floats

    @classmethod
    def of(cls, grades: Floats, weights: Floats) -> Scale:
        """Boundaries start at the normal quantiles of the grade frequencies, with deviation ½."""
        from scipy.special import ndtri

        levels = np.unique(grades[weights > 0])
        share = np.array([weights[grades == level].sum() for level in levels])
        below = np.cumsum(share / share.sum())[:-1]
        middle = np.sqrt(2.0) * ndtri(np.clip(below, 1e-4, 1 - 1e-4))
        bound = np.concatenate([[-np.inf], middle, [np.inf]])
        return cls(levels, bound, np.concatenate([[0.0], np.full(len(middle), 0.25), [0.0]]))

    def levels_of(self, grades: Floats) -> Ints:
        """The index of each grade's level, from 0."""
        index = np.searchsorted(self.levels, grades)
        nearest = self.levels[np.minimum(index, len(self.levels) - 1)]
        unknown = (index == len(self.levels)) | (nearest != grades)
        if unknown.any():
            known = ", ".join(f"{level:g}" for level in self.levels[:8])
            raise InputError(
                f"grade {grades[unknown][0]:g} does not occur in the training data", f"use one of {known}"
            )
        return index.astype(np.int64)

    def learn(
        self,
        beliefs: Beliefs,
        X: Floats32,
        slots: Ints,
        grades: Floats,
        weights: Floats,
    ) -> tuple[Scale, Beliefs]:
        """The scale and the beliefs after a pass over graded documents."""
        from topkit.rankers.clicks import kernels

        posterior = replace(
            beliefs, mean=beliefs.mean.copy(), variance=beliefs.variance.copy(), share=beliefs.share.copy()
        )
        bound, variance = self.bound.copy(), self.variance.copy()
        kernels.learn_grades(
            posterior.mean, posterior.variance, bound, variance, posterior.noise, posterior.share, X, slots,
            self.levels_of(grades), weights,
        )  # fmt: skip
        return replace(self, bound=bound, variance=variance), posterior

    @property
    def gains(self) -> Floats:
        """2^g − 1 of each level, at least 0; scaled so that the largest is below 2^30 (full orders)."""
        grades = np.maximum(self.levels, 0.0)
        shift = max(float(grades.max(initial=0.0)) - LARGEST, 0.0)
        gains: Floats = np.exp2(grades - shift) - np.exp2(-shift)
        return gains

    def expected_gain(self, beliefs: Beliefs, mean: Floats, variance: Floats) -> Floats:
        """E[gain] for Gaussian s: Σ (increase of the gain at a boundary)·P(s + noise above it)."""
        gains = self.gains
        total = np.full(len(mean), gains[0] if len(gains) else 0.0)
        for j in range(1, len(gains)):
            above = beliefs.above(mean - self.bound[j], variance + self.variance[j])
            total += (gains[j] - gains[j - 1]) * above
        return total
