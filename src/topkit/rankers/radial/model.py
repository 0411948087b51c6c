"""The model of both rankers: a weighted sum of radial kernels around points, on standardised features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from topkit.compute import Floats, Floats32, row_chunks, thread_map
from topkit.data import Dataset
from topkit.data.settings import Setting, Span
from topkit.scorers import Job, Parts, ScoreModel

WIDTHS = (0.1, 0.3, 1.0, 3.0)
"""γ times the number of features, tried on validation data: from nearly linear to local."""
DEFAULT_WIDTH = 1.0
"""γ times the number of features without validation data."""
ROWS_PER_THREAD = 1 << 10
"""Documents that justify a thread; each is compared with every point."""

Gamma = Annotated[
    float | None,
    Setting(
        "γ of the kernel exp(−γ‖x − z‖²) on standardised features; none selects it on validation data.",
        above=0,
        search=Span(1e-3, 1.0, log=True),
    ),
]


@dataclass(frozen=True)
class Scale:
    """Mean and deviation of each feature over all training documents; a missing feature is the mean."""

    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, X: Floats32) -> Scale:
        """The scale of training features; a constant feature has a spread of 1."""
        known = ~np.isnan(X)
        count = np.maximum(known.sum(axis=0), 1)
        wide = np.where(known, X, 0).astype(np.float64)
        centre = wide.sum(axis=0) / count
        deviation = np.sqrt((np.square(wide - centre) * known).sum(axis=0) / count)
        return cls(centre, np.where(deviation > 0, deviation, 1.0))

    def __call__(self, X: Floats32) -> Floats:
        """Standardised features."""
        standardised = (X.astype(np.float64) - self.centre) / self.spread
        return np.ascontiguousarray(np.nan_to_num(standardised, copy=False, nan=0.0))


@dataclass(frozen=True)
class RadialKernel(ScoreModel):
    """score = Σ_j weight_j·exp(−γ‖x − z_j‖²) + bias, x standardised."""

    kind: ClassVar[str] = "radial-kernel"
    scale: Scale
    """How the features are standardised."""
    points: Floats
    """z: points × features, standardised."""
    weights: Floats
    gamma: float
    bias: float = 0.0

    def score(self, data: Dataset) -> Floats:
        """Each document is scored separately, so the result does not depend on other documents or threads."""
        from topkit.rankers.radial import kernels

        X, out = self.scale(data.X), np.empty(len(data))
        arguments = (X, self.points, self.weights, self.gamma)
        _over_rows(lambda first, last: kernels.kernel_sums(*arguments, first, last, out), len(X))
        return out + self.bias

    @property
    def remark(self) -> str:
        return f"{len(self.points)} points, gamma {self.gamma:.3g}"

    def parts(self) -> Parts:
        return Parts(
            values={"gamma": self.gamma, "bias": self.bias},
            arrays={
                "centre": self.scale.centre,
                "spread": self.scale.spread,
                "points": self.points,
                "weights": self.weights,
            },
        )

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        scale = Scale(parts.floats("centre"), parts.floats("spread"))
        points, weights = parts.floats("points", 2), parts.floats("weights")
        model = cls(scale, points, weights, parts.number("gamma"), parts.number("bias"))
        if len(points) != len(weights) or not (scale.spread > 0).all() or model.gamma <= 0:
            raise ValueError("each point needs one weight, and spread and gamma must be positive")
        model.check_features(points.shape[1])
        return model

    def check_features(self, features: int) -> None:
        widths = (self.points.shape[1], len(self.scale.centre), len(self.scale.spread))
        if set(widths) != {features}:
            raise ValueError(f"expected points of {features} features, got {widths[0]}")


def kernel_matrix(X: Floats, points: Floats, gamma: float) -> Floats:
    """exp(−γ‖x − z‖²): rows × points.

    >>> kernel_matrix(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 2.0]]), 0.5).round(4).tolist()
    [[1.0, 0.0821]]
    """
    from topkit.rankers.radial import kernels

    out = np.empty((len(X), len(points)))
    _over_rows(lambda first, last: kernels.kernel_values(X, points, gamma, first, last, out), len(X))
    return out


def gammas_to_try(gamma: float | None, job: Job) -> Sequence[float]:
    """The chosen γ, a grid if there is validation data, or the default."""
    if gamma is not None:
        return (gamma,)
    widths = WIDTHS if job.valid is not None else (DEFAULT_WIDTH,)
    return tuple(width / job.train.n_features for width in widths)


def nothing_learned(scale: Scale) -> RadialKernel:
    """The model for data without differences to learn from: all scores are 0."""
    return RadialKernel(scale, np.zeros((0, len(scale.centre))), np.zeros(0), 1.0)


def _over_rows(work: Callable[[int, int], Any], rows: int) -> None:
    thread_map(lambda part: work(*part), row_chunks(rows, ROWS_PER_THREAD))
