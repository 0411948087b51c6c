"""Adam on mini-batches of queries, with early stopping on validation data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Trace
from topkit.scorers.model import HasGradient, Job, filled

Forward = Callable[[Floats, Floats], tuple[Floats, Callable[[Floats], Floats]]]
"""(X, parameters) → scores, and a function from the gradient in the scores to that in the parameters."""


@dataclass(frozen=True)
class AdamPlan:
    """Step size, queries per batch, maximum epochs, and epochs to wait for a better one."""

    rate: float
    batch: int
    epochs: int
    patience: int


class Batches:
    """The training queries in batches; each iteration is one epoch in a new random order (seeded)."""

    def __init__(self, job: Job, objective: HasGradient, size: int) -> None:
        self.job, self.objective, self.size = job, objective, size
        self.rng = np.random.default_rng([job.seed, 1])
        ptr = job.train.ptr
        self.rows_of = [np.arange(ptr[q], ptr[q + 1]) for q in range(job.train.n_queries)]

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], HasGradient, float]]:
        """Rows, their objective, and the factor from its gradient to that of the mean loss per query."""
        queries = self.job.train.n_queries
        order = self.rng.permutation(queries)
        for first in range(0, queries, self.size):
            chosen = np.sort(order[first : first + self.size])
            share = queries / (len(chosen) * self.job.total_weight)
            yield np.concatenate([self.rows_of[q] for q in chosen]), self.objective.select(chosen), share


def adam(
    job: Job, objective: HasGradient, forward: Forward, start: Floats, penalty: Floats, plan: AdamPlan
) -> tuple[Floats, Trace]:
    """Minimise the mean loss per query + ½·Σ penalty·w²; parameters of the best epoch, and the trace.

    The best epoch has the best metric on the validation data or, without validation data, the lowest loss.
    """
    batches = Batches(job, objective, plan.batch)
    X = filled(job.train.X)
    evaluate = _evaluation(job, objective, forward, X)
    vector, best = start.copy(), start.copy()
    mean, square, step = np.zeros_like(vector), np.zeros_like(vector), 0
    trace = Trace(plan.epochs, patience=plan.patience, larger_is_better=True)
    going = trace.go_on(evaluate(vector))
    while going:
        for rows, part, share in batches:
            scores, pull_back = forward(X[rows], vector)
            gradient = pull_back(part(scores)[1]) * share + penalty * vector
            step += 1
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            towards = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            vector = vector - plan.rate * towards
        going = trace.go_on(evaluate(vector))
        if trace.best_step == trace.steps:
            best = vector.copy()
        report_epoch(job, trace)
    return best, trace


def _evaluation(job: Job, objective: HasGradient, forward: Forward, X: Floats) -> Callable[[Floats], float]:
    """Parameters → validation metric, or minus the mean training loss; larger is better."""
    if job.valid is None:
        return lambda vector: -objective(forward(X, vector)[0])[0] / job.total_weight
    valid = filled(job.valid.X)
    return lambda vector: job.judge(forward(valid, vector)[0])


def report_epoch(job: Job, trace: Trace) -> None:
    """Report the latest value of a trace that holds the metric, or minus the loss without validation data."""
    value = trace.values[-1]
    if job.valid is None:
        job.report("loss", trace.steps, trace.max_steps, -value)
    else:
        job.report("metric", trace.steps, trace.max_steps, value)
