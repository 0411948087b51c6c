"""Two ways to fit a network to an objective: L-BFGS on all queries, and Adam on mini-batches of queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.compute import Trace
from topkit.scorers.model import Floats, Problem
from topkit.scorers.network import backward, filled, forward, pack, unpack


def penalty_of(vector: Floats, sizes: list[int], l2: float) -> tuple[float, Floats]:
    """½·l2·‖W‖² over the matrices (biases are free), and its gradient."""
    gradient = np.zeros_like(vector)
    for (matrix, _), (slope, _) in zip(unpack(vector, sizes), unpack(gradient, sizes), strict=True):
        slope += l2 * matrix
    return 0.5 * float(vector @ gradient), gradient


def lbfgs(
    problem: Problem,
    X: Floats,
    sizes: list[int],
    activation: str,
    start: Floats,
    l2: float,
    max_steps: int,
    tolerance: float,
) -> tuple[Floats, Trace]:
    """Minimise mean loss a query + ½·l2·‖W‖² by L-BFGS; parameters and the trace of the objective.

    It ends when the largest component of the gradient is below ``tolerance``, or when the objective cannot be
    lowered any more in floating point.
    """
    from scipy.optimize import minimize

    scale = 1.0 / problem.total_weight
    trace = Trace(max_steps)
    latest = np.inf

    def value_and_slope(vector: Floats) -> tuple[float, Floats]:
        nonlocal latest
        layers = unpack(vector, sizes)
        states = forward(layers, X, activation)
        loss, slope = problem.objective(states[-1][:, 0])
        gradient = pack(backward(layers, states, slope * scale, activation))
        extra, shrink = penalty_of(vector, sizes, l2)
        latest = loss * scale + extra
        return latest, gradient + shrink

    def after_step(intermediate_result: object) -> None:
        value = float(intermediate_result.fun)  # type: ignore[attr-defined]
        trace.go_on(value)
        problem.report("objective", trace.steps, max_steps, value)

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


def adam(
    problem: Problem,
    X: Floats,
    sizes: list[int],
    activation: str,
    start: Floats,
    l2: float,
    rate: float,
    batch: int,
    epochs: int,
    patience: int,
    judge: Callable[[Floats], float] | None,
) -> tuple[Floats, Trace]:
    """Minimise by Adam on batches of queries; the parameters of the best epoch, and the trace it was chosen by.

    ``judge`` gives the measure of parameters on validation data (larger is better); without it the epoch's
    mean loss decides.
    """
    rng = np.random.default_rng([problem.seed, 1])
    train, objective = problem.train, problem.objective
    queries, scale = train.n_queries, train.n_queries / problem.total_weight
    vector, best = start.copy(), start.copy()
    mean, square = np.zeros_like(vector), np.zeros_like(vector)
    trace = Trace(epochs, patience=patience, larger_is_better=True)
    step = 0

    def judged(candidate: Floats) -> float:
        if judge:
            return judge(candidate)
        return -objective(forward_scores(candidate, X, sizes, activation))[0] / problem.total_weight

    going = trace.go_on(judged(vector))
    while going:
        order = rng.permutation(queries)
        for first in range(0, queries, batch):
            chosen = np.sort(order[first : first + batch])
            rows = np.concatenate([np.arange(train.ptr[q], train.ptr[q + 1]) for q in chosen])
            layers = unpack(vector, sizes)
            states = forward(layers, X[rows], activation)
            _, slope = objective.select(chosen)(states[-1][:, 0])
            gradient = pack(backward(layers, states, slope * (scale / len(chosen)), activation))
            gradient += penalty_of(vector, sizes, l2)[1]
            step += 1
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            towards = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            vector = vector - rate * towards
        value = judged(vector)
        going = trace.go_on(value)
        if trace.best_step == trace.steps:
            best = vector.copy()
        problem.report("measure" if judge else "loss", trace.steps, epochs, value if judge else -value)
    return best, trace


def forward_scores(vector: Floats, X: Floats, sizes: list[int], activation: str) -> Floats:
    """Scores of a parameter vector."""
    return forward(unpack(vector, sizes), X, activation)[-1][:, 0]


def judge_of(problem: Problem, sizes: list[int], activation: str) -> Callable[[Floats], float] | None:
    """The measure of a parameter vector on the validation data, if there is any."""
    if problem.valid is None or problem.measure is None:
        return None
    X, measure = filled(problem.valid.X), problem.measure
    return lambda vector: measure(forward_scores(vector, X, sizes, activation))
