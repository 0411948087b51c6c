"""A sum of steps: the model of boosted threshold rankers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.scorers import Floats, Parts


@dataclass(frozen=True)
class Steps:
    """score = Σ_t α_t·1[x_{f_t} > θ_t]; a missing feature is above no threshold."""

    kind: ClassVar[str] = "steps"
    feature: NDArray[np.int64]
    threshold: Floats
    alpha: Floats

    @cached_property
    def curves(self) -> list[tuple[int, Floats, Floats]]:
        """For each feature in use: its thresholds, rising, and the score between them."""
        found = []
        for f in np.unique(self.feature):
            mine = np.flatnonzero(self.feature == f)
            mine = mine[np.argsort(self.threshold[mine], kind="stable")]
            found.append((int(f), self.threshold[mine], np.append(0.0, np.cumsum(self.alpha[mine]))))
        return found

    def score(self, data: Dataset) -> Floats:
        total = np.zeros(len(data))
        for f, thresholds, height in self.curves:
            column = data.X[:, f]
            above = np.searchsorted(thresholds, np.where(np.isnan(column), -np.inf, column), side="left")
            total += height[above]
        return total

    def parts(self) -> Parts:
        return Parts(arrays={"feature": self.feature, "threshold": self.threshold, "alpha": self.alpha})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        model = cls(
            np.ascontiguousarray(parts.arrays["feature"], np.int64),
            np.ascontiguousarray(parts.arrays["threshold"], np.float64),
            np.ascontiguousarray(parts.arrays["alpha"], np.float64),
        )
        if not model.feature.shape == model.threshold.shape == model.alpha.shape:
            raise ValueError("a step has one feature, one threshold and one height")
        return model
