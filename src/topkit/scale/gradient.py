"""A linear ranker that minimises a loss, over pieces: L-BFGS on the totals of value and gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topkit.compute import Floats, Trace
from topkit.losses import Objective, loss
from topkit.rankers.orders import drawn_job
from topkit.rankers.pieces import InPieces, Pieces
from topkit.scorers import Job, Linear, LinearScorer
from topkit.scorers.descent import PIECE_SAMPLE, Matrix, approximate_hessian
from topkit.scorers.linear import linear_gradient, linear_scores

Sums = tuple[float, Floats]
"""Value and gradient in (w, b)."""


@dataclass(frozen=True)
class LinearGradient(InPieces):
    """A loss by name and a linear scorer; losses themselves hold compiled functions and cannot be sent."""

    loss: str
    settings: Mapping[str, Any]
    scorer: LinearScorer
    draws: bool = False

    @property
    def draws_order(self) -> bool:
        return self.draws

    def arranged(self, job: Job) -> Job:
        return drawn_job(job, self.settings.get("k"))[0] if self.draws else job

    def piece(self, job: Job) -> Objective:
        """The loss on the labels of a piece."""
        k = job.train.truth.k if self.draws else None
        settings = self.settings if k is None else {**self.settings, "k": k}
        return loss(self.loss, **settings).on(job.train.y, job.train.ptr, job.weights)

    def train_on(self, pieces: Pieces, job: Job) -> tuple[Linear, list[Trace]]:
        """The fitted model, and the trace of the objective of every fit."""
        return self.scorer.descend(
            lambda vector: pieces.total(gradient_sums, vector),
            lambda vector: pieces.total(approximate_hessian, vector, PIECE_SAMPLE),
            job,
        )


def gradient_sums(objective: Objective, X: Matrix, vector: Floats) -> Sums:
    """Value and gradient of a linear model on one piece; sums of products are in double precision."""
    value, slope = objective(linear_scores(X, vector))
    return value, linear_gradient(X, slope)
