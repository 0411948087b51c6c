"""The sigmoid meta-ranker: refines any linear ranker under a bounded loss, which limits outliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from topkit.compute import Floats, Report, Trace, one_blas_thread, silent
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting, Span, check_fields
from topkit.losses import Objective, loss
from topkit.rankers.by_name import ranker as ranker_named
from topkit.rankers.learner import Learner
from topkit.scorers import Job, Linear
from topkit.scorers.model import filled

FIRST_STEP = 0.05
"""The first step size η, as published."""
SETTLED = 1e-8
"""It stops when a step lowers the objective by less than this share."""
SMALLEST_STEP = 1e-300
"""Halving stops here, before the step becomes 0."""
PENALTIES = (1e-5, 1e-4, 1e-3)
"""λ divided by the number of pairs, tried on validation data."""
DEFAULT_PENALTY = 1e-4
"""λ divided by the number of pairs without validation data."""


@dataclass(frozen=True)
class Sigmoid:
    """λ‖w‖² + Σ (1 − σ(a·(w·x_u − w·x_v))) over pairs (u better than v), descended from a linear ranker's w.

    The loss is bounded, so pairs that are far off have no influence. It is not convex, so the result stays
    near its start: the weights of the ranker named ``base``, which is trained first, or ``start`` (see
    :func:`refine_with_sigmoid`). The order does not depend on the length of w, so the start is scaled to
    scores with a deviation of 1 within queries, where the sigmoid is not flat. Gradient descent halves the
    step, 0.05 at first, whenever the objective would rise, and stops when its relative decrease is below
    1e-8. With ``l2=None`` and validation data, λ is selected from a grid. Carvalho, Elsas, Cohen & Carbonell,
    LR4IR 2008.

    Use it after a linear ranker if you suspect wrong labels. Not on clean labels, where it changes little.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("sigmoid", base="perceptron").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences")
    summary: ClassVar[str] = "sigmoid meta-ranker: refines a linear ranker under a bounded pair loss"

    base: Annotated[str, Setting("Name of the linear ranker to refine.")] = "ranksvm"
    base_settings: Annotated[Mapping[str, Any] | None, Setting("Settings of the base ranker.")] = None
    start: Annotated[
        tuple[float, ...] | None, Setting("Weights to start from, one per feature, instead of a base ranker.")
    ] = None
    steepness: Annotated[
        float, Setting("Steepness a of the sigmoid.", above=0, search=Span(0.1, 10.0, log=True))
    ] = 1.0
    l2: Annotated[float | None, Setting("Penalty λ on the squared weights; none selects it.", low=0)] = None
    max_steps: Annotated[int, Setting("Maximum steps of gradient descent.", low=1)] = 2000

    def __post_init__(self) -> None:
        check_fields(self)

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The refined weights; the traces of the base, then of the mean objective per pair for each λ."""
        start, traces = self._start(job)
        X, bound, count = self._problem(job)
        spread = _deviation_within(X @ start, job.train)
        if count == 0 or spread == 0:
            return Linear(start), traces
        start = start / spread
        if self.l2 is not None:
            penalties: tuple[float, ...] = (self.l2 / count,)
        else:
            penalties = (DEFAULT_PENALTY,) if job.valid is None else PENALTIES
        best, best_value = start, -np.inf
        for penalty in penalties:
            w, trace = descend(X, bound, count, penalty, start, self.max_steps)
            traces.append(trace)
            value = -trace.values[-1] if job.valid is None else job.judge(Linear(w).score(job.valid))
            job.report(f"l2={penalty * count:.1g}", len(traces), len(penalties), value)
            if value > best_value:
                best, best_value = w, value
        return Linear(best), traces

    @one_blas_thread()
    def epochs(self, job: Job, start: Floats | None = None) -> list[Floats]:
        """The weights after each step of gradient descent, from the base ranker's or from ``start``.

        λ is ``l2``, or the default per pair; the first weights are the start, scaled as in training.
        """
        weights = self._start(job)[0] if start is None else start
        X, bound, count = self._problem(job)
        spread = _deviation_within(X @ weights, job.train)
        if count == 0 or spread == 0:
            return [weights]
        path = [weights / spread]
        penalty = DEFAULT_PENALTY if self.l2 is None else self.l2 / count
        descend(X, bound, count, penalty, path[0], self.max_steps, path.append)
        return path

    def _problem(self, job: Job) -> tuple[Floats, Objective, float]:
        """The features, the loss of the scores, and the number of pairs."""
        pairs = "all" if job.preferences is None else "given"
        truth = job.train.y if job.preferences is None else job.preferences
        bound = loss("sigmoid", pairs=pairs, steepness=self.steepness).on(truth, job.train.ptr, job.weights)
        return filled(job.train.X), bound, 2.0 * bound(np.zeros(len(job.train)))[0]

    def _start(self, job: Job) -> tuple[Floats, list[Trace]]:
        if self.start is not None:
            start = np.asarray(self.start, np.float64)
            if start.shape != (job.train.n_features,):
                raise InputError(
                    f"start needs one weight for each of {job.train.n_features} features, got {start.size}"
                )
            return start, []
        model, traces = ranker_named(self.base, **(self.base_settings or {})).train(job)
        if not isinstance(model, Linear):
            raise InputError(f"the base ranker {self.base!r} is not linear", "name one with a linear model")
        return model.weights, traces


def refine_with_sigmoid(
    ranker: Learner, train: Dataset, valid: Dataset | None = None, *, report: Report = silent, **settings: Any
) -> Learner:
    """A fitted linear ranker, refined by :class:`Sigmoid` with these settings on data prepared the same way.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> refine_with_sigmoid(tk.ranker("ranksvm").fit(data), data).rank(data)["q"][0][0]
    'q:1'
    """
    model, preparation = ranker.fitted()
    if not isinstance(model, Linear):
        raise InputError(f"the ranker {ranker.name!r} is not linear", "refine a linear ranker")
    columns = preparation.columns
    kept = {
        "normalise": preparation.normalisation,
        "features": None if columns is None else tuple(preparation.names[i] for i in columns),
        "metric": ranker.common.metric,
        "convention": ranker.common.convention,
    }
    refined = ranker_named("sigmoid", start=model.weights.tolist(), **{**kept, **settings})
    return refined.fit(train, valid, report=report)


def descend(
    X: Floats,
    bound: Objective,
    count: float,
    penalty: float,
    start: Floats,
    max_steps: int,
    watch: Callable[[Floats], None] = lambda weights: None,
) -> tuple[Floats, Trace]:
    """Gradient descent with step halving on penalty·‖w‖² + (mean pair loss); weights and trace.

    ``watch`` is called with the weights after each step.
    """

    def value_and_slope(w: Floats) -> tuple[float, Floats]:
        value, slope = bound(X @ w)
        return penalty * float(w @ w) + value / count, 2 * penalty * w + X.T @ slope / count

    w = start
    value, gradient = value_and_slope(w)
    step = FIRST_STEP * count  # published for the sum over pairs, not for their mean
    trace = Trace(max_steps)
    going = trace.go_on(value)
    while going:
        tried = w - step * gradient
        new_value, new_gradient = value_and_slope(tried)
        while new_value > value and step > SMALLEST_STEP:
            step *= 0.5
            tried = w - step * gradient
            new_value, new_gradient = value_and_slope(tried)
        settled = value - new_value < SETTLED * abs(value)
        if new_value <= value:
            w, value, gradient = tried, new_value, new_gradient
            watch(w)
        going = trace.go_on(value)
        if settled:
            trace.reason, going = "settled", False
    return w, trace


def _deviation_within(scores: Floats, data: Dataset) -> float:
    """The standard deviation of scores from the mean of their query."""
    mean = np.add.reduceat(scores, data.ptr[:-1]) / data.lengths
    return float(np.sqrt(np.mean((scores - np.repeat(mean, data.lengths)) ** 2)))
