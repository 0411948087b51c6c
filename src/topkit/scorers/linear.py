"""The linear scorer: L-BFGS to the optimum for each penalty of a grid, or Adam with early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from topkit.compute import Report, Trace, one_blas_thread, silent
from topkit.scorers.descent import AdamPlan, Architecture, Total, adam, judge_of, lbfgs
from topkit.scorers.model import Floats, Objective, Problem
from topkit.scorers.network import Linear, filled, linear_gradient, linear_scores
from topkit.scorers.settings import Space, Span, check

L2_GRID = tuple(10.0 ** -np.arange(0.0, 5.5, 0.5))
"""Penalties tried on validation data, strongest first: each fit starts from the one before."""


@dataclass(frozen=True)
class LinearScorer:
    """score = w·x + b, fitted to loss(s)/loss(0) + ½·l2·‖w‖²; b is free.

    Dividing by the loss at s = 0 lets one penalty mean the same for every loss. With ``l2=None`` and
    validation data, every penalty of a grid is fitted, and the one whose measure, averaged with those of its
    two neighbours, is best is kept: validation sets are small, and a lone peak is luck. Without validation
    data it is 1e-3. ``optimiser="adam"`` goes by batches of queries on the mean loss a query and stops early.
    """

    normalisation: ClassVar[str] = "z-score"
    space: ClassVar[Space] = {"l2": Span(1e-5, 1.0, log=True)}

    l2: float | None = None
    optimiser: str = "lbfgs"
    max_steps: int = 1000
    """Steps of L-BFGS, or epochs of Adam."""
    tolerance: float = 1e-6
    """L-BFGS ends when no component of the gradient is larger."""
    rate: float = 0.01
    """Adam's step."""
    batch: int = 32
    """Adam's queries a batch."""
    patience: int = 20
    """Adam's epochs without a better measure before it stops."""

    def __post_init__(self) -> None:
        check(self.l2 is None or self.l2 >= 0, "l2", self.l2, "0 or more, or none to choose it")
        check(self.optimiser in ("lbfgs", "adam"), "optimiser", self.optimiser, "lbfgs or adam")
        check(self.max_steps >= 1, "max_steps", self.max_steps, "at least 1")
        check(self.rate > 0, "rate", self.rate, "above 0")
        check(self.batch >= 1, "batch", self.batch, "at least 1")

    @one_blas_thread()
    def fit(self, problem: Problem[Objective]) -> tuple[Linear, list[Trace]]:
        """The fitted model, and the trace of every fit."""
        X = filled(problem.train.X)
        start = np.zeros(X.shape[1] + 1)
        shape = Architecture(
            lambda X, vector: (linear_scores(X, vector), None),
            lambda X, vector, memory, slope: linear_gradient(X, slope),
            np.append(np.ones(X.shape[1], bool), False),
        )
        if self.optimiser == "adam":
            plan = AdamPlan(self.rate, self.batch, self.max_steps, self.patience)
            best, trace = adam(problem, X, shape, start, self.l2 or 0.0, plan)
            return _model(best), [trace]

        def total(vector: Floats) -> tuple[float, Floats]:
            loss, slope = problem.objective(linear_scores(X, vector))
            return loss, linear_gradient(X, slope)

        return self.descend(total, X.shape[1], problem.total_weight, judge_of(problem, shape), problem.report)

    def descend(
        self,
        total: Total,
        features: int,
        total_weight: float,
        judge: Callable[[Floats], float] | None = None,
        report: Report = silent,
    ) -> tuple[Linear, list[Trace]]:
        """Fit by L-BFGS to a total loss, wherever its data is; ``judge`` measures a vector."""
        start = np.zeros(features + 1)
        penalised = np.append(np.ones(features, bool), False)
        scale = total(start)[0] or total_weight
        grid = (self.l2,) if self.l2 is not None else L2_GRID if judge else (1e-3,)
        found, measures, traces = [], [], []
        for l2 in grid:
            start, trace = lbfgs(total, penalised, start, l2, scale, self.max_steps, self.tolerance, report)
            found.append(start)
            traces.append(trace)
            measures.append(judge(start) if judge else 0.0)
            report(f"l2={l2:.1g}", len(found), len(grid), measures[-1])
        return _model(found[best_place(measures)]), traces


def best_place(measures: list[float]) -> int:
    """Where the mean of a measure and its neighbours is largest; the first of equals."""
    means = [
        sum(near) / len(near) for near in (measures[max(i - 1, 0) : i + 2] for i in range(len(measures)))
    ]
    return int(np.argmax(means))


def _model(vector: Floats) -> Linear:
    return Linear(vector[:-1].copy(), float(vector[-1]))
