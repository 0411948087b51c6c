"""The sigmoid meta-ranker: refines any linear ranker under a loss that outliers cannot dominate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from topkit.compute import Trace, one_blas_thread
from topkit.data import Dataset, InputError
from topkit.losses import Objective, loss
from topkit.rankers.contract import Job
from topkit.rankers.learner import Learner
from topkit.scorers import Floats, Linear, Space, Span, check
from topkit.scorers.network import filled

FIRST_STEP = 0.05
"""η of the first try, as published."""
SETTLED = 1e-8
"""It ends when a step lowers the objective by less than this share."""
PENALTIES = (1e-5, 1e-4, 1e-3)
"""λ over the number of pairs, tried on validation data."""
USUAL_PENALTY = 1e-4
"""λ over the number of pairs without validation data."""


@dataclass(frozen=True)
class Sigmoid:
    """λ‖w‖² + Σ (1 − σ(a·(w·x_u − w·x_v))) over pairs (u better than v), descended from a linear ranker's w.

    The loss is bounded, so pairs that are hopelessly wrong stop pulling; it is not convex, so the result
    stays near its start: the weights of the ranker named ``base`` (with ``base_settings``), trained first, or
    ``start`` (see :func:`refine_with_sigmoid`). As the order does not depend on the length of w, the start is
    scaled so that scores have a deviation of 1 within queries, where the sigmoid is not flat. Gradient
    descent, the step halved from 0.05 whenever the objective would rise, until its relative decrease is below
    1e-8. With ``l2=None`` and validation data, λ is chosen from a grid. Carvalho, Elsas, Cohen & Carbonell,
    LR4IR 2008.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("sigmoid", base="perceptron").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "sigmoid meta-ranker: refines a linear ranker under a bounded pair loss"
    space: ClassVar[Space] = {"steepness": Span(0.1, 10.0, log=True)}

    base: str = "ranksvm"
    base_settings: Mapping[str, Any] | None = None
    start: Sequence[float] | None = None
    """Weights to start from instead of a base."""
    steepness: float = 1.0
    """a, the steepness of the sigmoid."""
    l2: float | None = None
    """λ."""
    max_steps: int = 2000

    def __post_init__(self) -> None:
        check(self.steepness > 0, "steepness", self.steepness, "above 0")
        check(self.l2 is None or self.l2 >= 0, "l2", self.l2, "0 or more, or none to choose it")
        check(self.max_steps >= 1, "max_steps", self.max_steps, "at least 1")

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The refined weights; the traces of the base, then of the objective for each λ, per pair."""
        start, traces = self._start(job)
        X = filled(job.train.X)
        pairs = "all" if job.preferences is None else "given"
        truth = job.train.y if job.preferences is None else job.preferences
        bound = loss("sigmoid", pairs=pairs, steepness=self.steepness).on(truth, job.train.ptr, job.weights)
        count = 2.0 * bound(np.zeros(len(job.train)))[0]
        scores = X @ start
        spread = _deviation_within(scores, job.train)
        if count == 0 or spread == 0:
            return Linear(start), traces
        start = start / spread
        penalties = (
            (self.l2 / count,) if self.l2 is not None else PENALTIES if job.valid else (USUAL_PENALTY,)
        )
        best, best_measure = start, -np.inf
        for penalty in penalties:
            w, trace = descend(X, bound, count, penalty, start, self.max_steps)
            traces.append(trace)
            measure = -trace.values[-1] if job.valid is None else job.judge(Linear(w).score(job.valid))
            job.report(f"l2={penalty * count:.1g}", len(traces), len(penalties), measure)
            if measure > best_measure:
                best, best_measure = w, measure
        return Linear(best), traces

    def _start(self, job: Job) -> tuple[Floats, list[Trace]]:
        if self.start is not None:
            start = np.asarray(self.start, np.float64)
            if start.shape != (job.train.n_features,):
                raise InputError(
                    f"{job.train.n_features} features need as many weights to start from, not {start.size}"
                )
            return start, []
        from topkit.rankers.registry import ranker

        model, traces = ranker(self.base, **(self.base_settings or {})).method.train(job)
        if not isinstance(model, Linear):
            raise InputError(
                f"the ranker {self.base!r} is not linear", "name one with a weight for each feature"
            )
        return model.weights, traces


def refine_with_sigmoid(
    ranker: Learner, train: Dataset, valid: Dataset | None = None, *, report: Any = None, **settings: Any
) -> Learner:
    """A fitted linear ranker, refined by :class:`Sigmoid` with these settings on data prepared alike.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> refine_with_sigmoid(tk.ranker("ranksvm").fit(data), data).rank(data)["q"][0][0]
    'q:1'
    """
    from topkit.rankers.registry import ranker as make

    if not isinstance(ranker.model, Linear) or ranker.preparation is None:
        raise InputError(
            f"the ranker {ranker.name!r} is not a fitted linear one", "fit a linear ranker first"
        )
    prepared = ranker.preparation
    columns = prepared.columns
    kept = {
        "normalise": prepared.normalisation,
        "features": None if columns is None else tuple(prepared.names[i] for i in columns),
        "metric": ranker.common.metric,
        "convention": ranker.common.convention,
    }
    refined = make("sigmoid", start=ranker.model.weights.tolist(), **{**kept, **settings})
    return refined.fit(train, valid) if report is None else refined.fit(train, valid, report=report)


def descend(
    X: Floats, bound: Objective, count: float, penalty: float, start: Floats, max_steps: int
) -> tuple[Floats, Trace]:
    """Gradient descent with step halving on penalty·‖w‖² + (mean pair loss); weights and trace."""

    def look(w: Floats) -> tuple[float, Floats]:
        value, slope = bound(X @ w)
        return penalty * float(w @ w) + value / count, 2 * penalty * w + X.T @ slope / count

    w = start
    value, gradient = look(w)
    step = FIRST_STEP * count  # 0.05 times the slope of the sum over pairs
    trace = Trace(max_steps)
    going = trace.go_on(value)
    while going:
        tried = w - step * gradient
        new_value, new_gradient = look(tried)
        while new_value > value and step > 1e-300:
            step *= 0.5
            tried = w - step * gradient
            new_value, new_gradient = look(tried)
        settled = value - new_value < SETTLED * abs(value)
        if new_value <= value:
            w, value, gradient = tried, new_value, new_gradient
        going = trace.go_on(value)
        if settled:
            trace.reason, going = "settled", False
    return w, trace


def _deviation_within(scores: Floats, data: Dataset) -> float:
    """The deviation of scores from the mean of their query, over all documents."""
    mean = np.add.reduceat(scores, data.ptr[:-1]) / data.lengths
    return float(np.sqrt(np.mean((scores - np.repeat(mean, data.lengths)) ** 2)))
