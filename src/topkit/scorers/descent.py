"""Two ways to fit parameters to an objective: L-BFGS on all queries, and Adam on mini-batches of queries.

Both see a scorer as an :class:`Architecture`: a parameter vector, scores from it, and gradients back to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Report, Trace, silent
from topkit.scorers.model import Floats, Objective, Problem
from topkit.scorers.network import filled


@dataclass(frozen=True)
class Architecture:
    """Scores as a function of features and a parameter vector, and the way back."""

    scores: Callable[[Floats, Floats], tuple[Floats, Any]]
    """(X, vector) → scores, and what ``gradient`` wants to remember."""
    gradient: Callable[[Floats, Floats, Any, Floats], Floats]
    """(X, vector, remembered, gradient in the scores) → gradient in the vector."""
    penalised: NDArray[np.bool_]
    """Which parameters the penalty shrinks; biases are free."""


Total = Callable[[Floats], tuple[float, Floats]]
"""(parameter vector) → the loss over all queries and its gradient, wherever the data is."""


def lbfgs(
    total: Total,
    penalised: NDArray[np.bool_],
    start: Floats,
    l2: float,
    scale: float,
    max_steps: int,
    tolerance: float,
    report: Report = silent,
) -> tuple[Floats, Trace]:
    """Minimise loss/scale + ½·l2·‖w‖² by L-BFGS; parameters and the trace of the objective.

    It ends when the largest component of the gradient is below ``tolerance``, or when the objective cannot be
    lowered any more in floating point.
    """
    from scipy.optimize import minimize

    trace = Trace(max_steps)
    shrink = l2 * penalised

    def value_and_slope(vector: Floats) -> tuple[float, Floats]:
        loss, gradient = total(vector)
        pull = shrink * vector
        return loss / scale + 0.5 * float(vector @ pull), gradient / scale + pull

    def after_step(intermediate_result: Any) -> None:
        trace.go_on(float(intermediate_result.fun))
        report("objective", trace.steps, max_steps, trace.values[-1])

    trace.go_on(value_and_slope(start)[0])
    result = minimize(
        value_and_slope,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        options={"maxiter": max_steps, "maxfun": 4 * max_steps, "gtol": tolerance, "ftol": 0.0, "maxcor": 20},
    )
    # status 2 is a line search that found no lower value: with an exact gradient, the floor of arithmetic
    trace.reason = "step limit" if result.status == 1 else "settled"
    return np.asarray(result.x, np.float64), trace


@dataclass(frozen=True)
class AdamPlan:
    """How Adam goes: step size, queries a batch, epochs at most, and epochs to wait for a better one."""

    rate: float
    batch: int
    epochs: int
    patience: int


def adam(
    problem: Problem[Objective], X: Floats, shape: Architecture, start: Floats, l2: float, plan: AdamPlan
) -> tuple[Floats, Trace]:
    """Minimise by Adam on batches of queries; parameters of the best epoch, and the trace it was chosen by.

    The best epoch has the best measure on validation data, or without such data the least loss.
    """
    rng = np.random.default_rng([problem.seed, 1])
    train, objective = problem.train, problem.objective
    judge = judge_of(problem, shape)
    rows_of = [np.arange(train.ptr[q], train.ptr[q + 1]) for q in range(train.n_queries)]
    vector, best = start.copy(), start.copy()
    mean, square, step = np.zeros_like(vector), np.zeros_like(vector), 0
    trace = Trace(plan.epochs, patience=plan.patience, larger_is_better=True)

    def judged(candidate: Floats) -> float:
        if judge:
            return judge(candidate)
        return -objective(shape.scores(X, candidate)[0])[0] / problem.total_weight

    going = trace.go_on(judged(vector))
    while going:
        order = rng.permutation(train.n_queries)
        for first in range(0, train.n_queries, plan.batch):
            chosen = np.sort(order[first : first + plan.batch])
            part = X[np.concatenate([rows_of[q] for q in chosen])]
            scores, memory = shape.scores(part, vector)
            _, slope = objective.select(chosen)(scores)
            share = train.n_queries / (len(chosen) * problem.total_weight)
            gradient = shape.gradient(part, vector, memory, slope) * share + l2 * shape.penalised * vector
            step += 1
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            towards = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            vector = vector - plan.rate * towards
        going = trace.go_on(judged(vector))
        if trace.best_step == trace.steps:
            best = vector.copy()
        value = trace.values[-1]
        problem.report("measure" if judge else "loss", trace.steps, plan.epochs, value if judge else -value)
    return best, trace


def judge_of(problem: Problem[Objective], shape: Architecture) -> Callable[[Floats], float] | None:
    """The measure of a parameter vector on the validation data, if there is any."""
    if problem.valid is None or problem.measure is None:
        return None
    X, measure = filled(problem.valid.X), problem.measure
    return lambda vector: measure(shape.scores(X, vector)[0])
