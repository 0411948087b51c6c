"""Linear classifiers for a path of penalties, as one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.rankers.mixture.staged import Staged
from topkit.scorers import Parts
from topkit.scorers.model import filled, row_products


@dataclass(frozen=True)
class LinearClasses(Staged):
    """f(x) = Mᵀ(x, 1) for each penalty of a path, one score per class; a missing feature counts as 0."""

    kind: ClassVar[str] = "linear-classes"
    weights: Floats
    """Penalties × (features and a constant) × classes."""
    strengths: tuple[float, ...]
    """C times the total weight of the training documents, rising."""

    @property
    def rounds(self) -> int:
        """Number of penalties."""
        return len(self.weights)

    @property
    def columns(self) -> int:
        """Number of classes."""
        return int(self.weights.shape[2])

    def outputs(self, data: Dataset, stages: Sequence[int]) -> Floats:
        """Scores with the first, second … penalty, for each number in ``stages``: stages × n × classes."""
        chosen = self.weights[np.asarray(stages) - 1]
        # All stages side by side in one matrix product.
        matrix = np.ascontiguousarray(chosen.transpose(1, 0, 2).reshape(chosen.shape[1], -1))
        scores = row_products(filled(data.X), matrix[:-1]) + matrix[-1]
        return np.ascontiguousarray(scores.reshape(len(data), len(chosen), -1).transpose(1, 0, 2))

    def first(self, rounds: int) -> LinearClasses:
        """The first penalties of the path."""
        return LinearClasses(self.weights[:rounds], self.strengths[:rounds])

    def parts(self) -> Parts:
        return Parts(values={"strengths": list(self.strengths)}, arrays={"weights": self.weights})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        weights = parts.floats("weights", 3)
        strengths = tuple(float(strength) for strength in parts.values["strengths"])
        if len(weights) != len(strengths) or not np.isfinite(strengths).all():
            raise ValueError("each penalty needs one matrix of weights")
        if weights.shape[1] < 1 or weights.shape[2] < 1:
            raise ValueError("the model has no classes or no constant")
        return cls(weights, strengths)

    def check_features(self, features: int) -> None:
        if self.weights.shape[1] != features + 1:
            raise ValueError(f"expected {features} weights and a constant, got {self.weights.shape[1]}")
