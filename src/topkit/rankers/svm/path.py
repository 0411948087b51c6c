"""What the SVM rankers share: the settings of the solver, and one linear model for each C of a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Floats, Trace, one_blas_thread
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.pieces import InPieces, Pieces, score_sums
from topkit.rankers.svm.bundle import Planes, cutting_planes
from topkit.scorers import Job, Linear
from topkit.scorers.linear import Matrix

PAIR_STRENGTHS = tuple(10.0 ** np.arange(0.0, 6.0, 0.5))
"""C times the number of pairs, tried on validation data."""
DEFAULT_PAIR_STRENGTH = 1e3
"""C times the number of pairs without validation data."""
QUERY_STRENGTHS = tuple(10.0 ** np.arange(0.0, 4.5, 0.5))
"""C times the number of queries, tried on validation data."""
DEFAULT_QUERY_STRENGTH = 100.0
"""C times the number of queries without validation data."""

COST = "Weight C of the loss; none selects it on validation data."
MaxSteps = Annotated[int, Setting("Maximum steps of the solver.", low=1)]

Fit = Callable[[float, Floats], tuple[Floats, Trace]]
"""(l2, start) → weights and trace of ½·l2·‖w‖² + mean loss."""
ScoreLoss = Callable[[Floats], tuple[float, Floats]]
"""Scores → value and subgradient of a convex loss."""


@dataclass
class QueryLoss:
    """A convex loss of scores that is a sum over queries, and what it is divided by."""

    objective: ScoreLoss
    total: float

    def __call__(self, scores: Floats) -> tuple[float, Floats]:
        return self.objective(scores)


@dataclass(frozen=True)
class QuerySVM(InPieces):
    """Settings and solver of the SVM rankers whose loss is a sum over queries, solved by cutting planes.

    The state of a piece is a :class:`QueryLoss`.
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    title: ClassVar[str]
    """The name of the ranker in warnings."""

    C: Annotated[float | None, Setting(COST, above=0, search=Span(1e-4, 100.0, log=True))] = None
    max_steps: MaxSteps = 1000
    tolerance: Annotated[
        float, Setting("Stop when the duality gap is at most this share of the objective.", above=0)
    ] = 1e-3

    def __post_init__(self) -> None:
        check_fields(self)

    def train_on(self, pieces: Pieces, job: Job) -> tuple[Linear, list[Trace]]:
        """The model for the best C, and the trace of the gap of every fit."""
        total = pieces.total(total_of)
        fit = cutting_plane_fit(pieces, total, self.max_steps, self.tolerance)
        strengths = strengths_of(job, self.C, total, QUERY_STRENGTHS, DEFAULT_QUERY_STRENGTH)
        return best_of_path(job, fit, total, strengths, self.title)


def total_of(loss: QueryLoss, X: Matrix) -> float:
    """What the loss of a piece adds to the total that scales it."""
    return loss.total


def cutting_plane_fit(pieces: Pieces, total: float, max_steps: int, tolerance: float) -> Fit:
    """Fit by cutting planes to loss/total; the planes are kept from one penalty to the next."""
    planes = Planes()

    def risk(w: Floats) -> tuple[float, Floats]:
        value, slope = pieces.total(score_sums, w)
        return value / total, slope / total

    return lambda l2, start: cutting_planes(risk, l2, start, planes, max_steps, tolerance)


def strengths_of(
    job: Job, C: float | None, total: float, grid: tuple[float, ...], default: float
) -> tuple[float, ...]:
    """The values of C·total to fit: the chosen one, or the grid if there is validation data."""
    if C is not None:
        return (C * total,)
    return (default,) if job.valid is None else grid


@one_blas_thread()
def best_of_path(
    job: Job, fit: Fit, total: float, strengths: Sequence[float], name: str
) -> tuple[Linear, list[Trace]]:
    """The model with the best metric on the validation data, or the last one without any.

    The grid starts with the smallest C, and each fit starts from the previous one. ½‖w‖² + C·Σ loss has the
    minimiser of ½·l2·‖w‖² + (Σ loss)/total with l2 = 1/(C·total); ``strengths`` are values of C·total, so
    that one grid serves data sets of any size.
    """
    features = job.train.n_features
    w, best, best_value = np.zeros(features), np.zeros(features), -np.inf
    traces: list[Trace] = []
    if total <= 0:  # nothing to learn from
        return Linear(w), traces
    for strength in strengths:
        w, trace = fit(1.0 / strength, w)
        trace.warn_unless_converged(f"{name} with C={strength / total:.3g}")
        traces.append(trace)
        value = trace.values[-1] if job.valid is None else job.judge(Linear(w).score(job.valid))
        job.report(f"C={strength / total:.1g}", len(traces), len(strengths), value)
        if job.valid is None or value > best_value:
            best, best_value = w, value
    return Linear(best), traces
