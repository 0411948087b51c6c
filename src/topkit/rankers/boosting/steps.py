"""A sum of step functions: the model of boosted threshold rankers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import Dataset
from topkit.scorers import Parts, ScoreModel


@dataclass(frozen=True)
class Steps(ScoreModel):
    """score = Σ_t α_t·1[x_{f_t} > θ_t]; a missing feature is not above any threshold."""

    kind: ClassVar[str] = "steps"
    feature: Ints
    """f: the column of each step, counted from 0."""
    threshold: Floats
    """θ: a step adds its α to documents whose feature is above it."""
    alpha: Floats

    @cached_property
    def curves(self) -> list[tuple[int, Floats, Floats]]:
        """For each feature in use: its ascending thresholds, and the score between them."""
        curves = []
        for f in np.unique(self.feature):
            steps = np.flatnonzero(self.feature == f)
            steps = steps[np.argsort(self.threshold[steps], kind="stable")]
            curves.append((int(f), self.threshold[steps], np.append(0.0, np.cumsum(self.alpha[steps]))))
        return curves

    def score(self, data: Dataset) -> Floats:
        total = np.zeros(len(data))
        for _, heights in self._heights(data):
            total += heights
        return total

    def _heights(self, data: Dataset) -> Iterator[tuple[int, Floats]]:
        """Each feature in use, with what it adds to the score of each document."""
        for f, thresholds, height in self.curves:
            column = data.X[:, f]
            above = np.searchsorted(thresholds, np.where(np.isnan(column), -np.inf, column), side="left")
            yield f, height[above]

    def contributions(self, data: Dataset) -> Floats:
        """The sum of the steps of each feature."""
        parts = np.zeros((len(data), data.n_features))
        for f, heights in self._heights(data):
            parts[:, f] = heights
        return parts

    def weights_of_features(self, features: int) -> tuple[str, Floats]:
        heights = np.zeros(features)
        np.add.at(heights, self.feature, np.abs(self.alpha))
        return "sum of its step heights", heights

    def parts(self) -> Parts:
        return Parts(arrays={"feature": self.feature, "threshold": self.threshold, "alpha": self.alpha})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        model = cls(parts.integers("feature"), parts.thresholds("threshold"), parts.floats("alpha"))
        if not model.feature.shape == model.threshold.shape == model.alpha.shape:
            raise ValueError("each step needs one feature, one threshold and one height")
        return model

    def check_features(self, features: int) -> None:
        if self.feature.max(initial=-1) >= features:
            raise ValueError(f"a step uses feature {self.feature.max() + 1} of {features}")
