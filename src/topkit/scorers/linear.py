"""Linear models, and their scorer: L-BFGS to the optimum for each penalty of a grid, or Adam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Trace, one_blas_thread, thread_map
from topkit.compute.kernel_options import WORTH_COMPILING
from topkit.data import Dataset
from topkit.data.settings import Setting, Span, check_fields
from topkit.scorers.adam import AdamPlan, adam
from topkit.scorers.descent import Curved, Descent, Hessian, Remembered, Total, approximate_hessian
from topkit.scorers.descent import Matrix as Matrix
from topkit.scorers.model import HasGradient, Job, Parts, ScoreModel, filled, row_products

L2_GRID = tuple(10.0 ** -np.arange(0.0, 5.5, 0.5))
"""Penalties tried on validation data, strongest first: each fit starts from the previous one."""
DEFAULT_L2 = 1e-3
"""The penalty without validation data."""

BLOCK = 1 << 15
"""Rows per thread task. It is fixed, so that sums over blocks do not depend on the number of threads."""


@dataclass(frozen=True)
class Linear(ScoreModel):
    """score = w·x + b; a missing feature counts as 0."""

    kind: ClassVar[str] = "linear"
    weights: Floats
    bias: float = 0.0

    def score(self, data: Dataset) -> Floats:
        scores = np.empty(len(data))

        def work(start: int) -> None:
            rows = slice(start, start + BLOCK)
            scores[rows] = row_products(filled(data.X[rows]), self.weights[:, None])[:, 0]

        thread_map(work, range(0, len(data), BLOCK))
        scores += self.bias
        return scores

    def contributions(self, data: Dataset) -> Floats:
        """w_f·x_f for each feature f."""
        return filled(data.X) * self.weights

    def weights_of_features(self, features: int) -> tuple[str, Floats]:
        return "absolute weight", np.abs(self.weights)

    def parts(self) -> Parts:
        return Parts(values={"bias": self.bias}, arrays={"weights": self.weights})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        return cls(parts.floats("weights"), parts.number("bias"))

    def check_features(self, features: int) -> None:
        if len(self.weights) != features:
            raise ValueError(f"expected {features} weights, got {len(self.weights)}")


@dataclass(frozen=True)
class LinearScorer:
    """score = w·x + b, fitted to loss(s)/loss(0) + ½·l2·‖w‖²; b is not penalised.

    Dividing by the loss at s = 0 gives one penalty the same meaning for every loss. With ``l2=None`` and
    validation data, every penalty of a grid is fitted. The one whose validation metric, averaged with its two
    neighbours, is best is kept: validation sets are small, and a single peak is noise. Without validation
    data l2 is 1e-3. L-BFGS works in the coordinates of an approximate Hessian, which takes a tenth of the
    steps (:mod:`topkit.scorers.descent`). ``optimiser="adam"`` minimises the mean loss per query on batches
    of queries and stops early.
    """

    normalisation: ClassVar[str] = "z-score"

    l2: Annotated[
        float | None,
        Setting(
            "Penalty on the squared weights; none selects it on validation data.",
            low=0,
            search=Span(1e-5, 1.0, log=True),
        ),
    ] = None
    optimiser: Annotated[str, Setting("Optimiser.", choices=("lbfgs", "adam"))] = "lbfgs"
    max_steps: Annotated[int, Setting("Maximum steps of L-BFGS, or epochs of Adam.", low=1)] = 1000
    tolerance: Annotated[
        float, Setting("L-BFGS stops when the largest component of the gradient is below this.", low=0)
    ] = 1e-6
    rate: Annotated[float, Setting("Adam's step size.", above=0)] = 0.01
    batch: Annotated[int, Setting("Adam's queries per batch.", low=1)] = 32
    patience: Annotated[int, Setting("Adam's epochs without improvement before it stops.", low=1)] = 20

    def __post_init__(self) -> None:
        check_fields(self)

    @one_blas_thread()
    def fit(self, job: Job, objective: HasGradient) -> tuple[Linear, list[Trace]]:
        """The fitted model, and the trace of every fit."""
        features = job.train.n_features
        if self.optimiser == "adam":
            plan = AdamPlan(self.rate, self.batch, self.max_steps, self.patience)
            penalty = (self.l2 or 0.0) * _penalised(features)
            vector, trace = adam(job, objective, _forward, np.zeros(features + 1), penalty, plan)
            return _model(vector), [trace]
        X = product_matrix(job.train.X)

        def total(vector: Floats) -> tuple[float, Floats]:
            loss, slope = objective(linear_scores(X, vector))
            return loss, linear_gradient(X, slope)

        hessian = partial(approximate_hessian, objective, X) if isinstance(objective, Curved) else None
        return self.descend(total, hessian, job)

    def descend(self, total: Total, hessian: Hessian | None, job: Job) -> tuple[Linear, list[Trace]]:
        """Fit by L-BFGS to a total loss over all queries; of ``job.train`` only the features are counted."""
        features, evaluate = job.train.n_features, vector_metric(job)
        start, remembered = np.zeros(features + 1), Remembered(total)
        scale = remembered(start)[0] or job.total_weight
        descent = Descent(remembered, scale, self.max_steps, self.tolerance, hessian, job.report)
        grid = (self.l2,) if self.l2 is not None else L2_GRID if evaluate else (DEFAULT_L2,)
        vectors, values, traces = [], [], []
        for l2 in grid:
            start, trace = descent.minimise(l2 * _penalised(features), start)
            vectors.append(start)
            traces.append(trace)
            values.append(evaluate(start) if evaluate else 0.0)
            job.report(f"l2={l2:.1g}", len(vectors), len(grid), values[-1])
        return _model(vectors[best_place(values)]), traces


def product_matrix(X: NDArray[np.float32]) -> Matrix:
    """Features for :func:`linear_scores` and :func:`linear_gradient`, with 0 for missing values.

    Small data is float64, for BLAS. Large data stays float32 and is not copied unless values are missing;
    kernels add the products in float64.
    """
    if X.size < WORTH_COMPILING:
        return filled(X)
    return np.nan_to_num(X, nan=0.0) if np.isnan(X.sum()) else X


def linear_scores(X: Matrix, vector: Floats) -> Floats:
    """X·w + b for a parameter vector (w, b)."""
    scores = products(X, np.ascontiguousarray(vector[:-1]))
    scores += vector[-1]
    return scores


def linear_gradient(X: Matrix, slope: Floats) -> Floats:
    """The gradient in (w, b) from the gradient in the scores."""
    return np.append(row_sum(X, slope), slope.sum())


def products(X: Matrix, weights: Floats) -> Floats:
    """X·w for a :func:`product_matrix`."""
    scores = np.zeros(len(X))

    def work(start: int) -> None:
        stop = min(start + BLOCK, len(X))
        if X.dtype == np.float64:
            scores[start:stop] = X[start:stop] @ weights
        else:
            from topkit.scorers.kernels import add_products

            add_products(X, weights, start, stop, scores)

    thread_map(work, range(0, len(X), BLOCK))
    return scores


def row_sum(X: Matrix, slope: Floats) -> Floats:
    """Σ slope_i·x_i for a :func:`product_matrix`; the sum does not depend on the number of threads."""

    def part(start: int) -> Floats:
        stop = min(start + BLOCK, len(X))
        if X.dtype == np.float64:
            product: Floats = slope[start:stop] @ X[start:stop]
            return product
        from topkit.scorers.kernels import add_rows

        gradient = np.zeros(X.shape[1])
        add_rows(X, slope, start, stop, gradient)
        return gradient

    total: Floats = np.sum(thread_map(part, range(0, len(X), BLOCK)), axis=0)
    return total


def vector_metric(job: Job) -> Callable[[Floats], float] | None:
    """(w, b) → the metric on the validation data; None without validation data."""
    if job.valid is None:
        return None
    X = product_matrix(job.valid.X)
    return lambda vector: job.judge(linear_scores(X, vector))


def best_place(values: list[float]) -> int:
    """Index of the largest mean of a value and its neighbours; the first of equals."""
    means = [sum(near) / len(near) for near in (values[max(i - 1, 0) : i + 2] for i in range(len(values)))]
    return int(np.argmax(means))


def _forward(X: Floats, vector: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    return linear_scores(X, vector), lambda slope: linear_gradient(X, slope)


def _penalised(features: int) -> Floats:
    """1 for each weight, 0 for the constant."""
    return np.append(np.ones(features), 0.0)


def _model(vector: Floats) -> Linear:
    return Linear(vector[:-1].copy(), float(vector[-1]))
