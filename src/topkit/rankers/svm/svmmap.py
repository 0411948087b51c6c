"""SVM-MAP: a structural SVM that optimises average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from topkit.compute import Trace
from topkit.rankers.contract import Job
from topkit.rankers.labels import labels_only
from topkit.rankers.svm.bundle import Planes, cutting_planes
from topkit.rankers.svm.path import best_of_path
from topkit.rankers.svm.precision import whole_lists
from topkit.rankers.svm.ranksvm import check_penalty, strengths_of
from topkit.scorers import Floats, Linear, Space, Span, check
from topkit.scorers.network import filled

STRENGTHS = tuple(10.0 ** np.arange(0.0, 4.5, 0.5))
"""C times the number of queries, tried on validation data."""
USUAL_STRENGTH = 100.0
"""C times the number of queries without validation data."""


@dataclass(frozen=True)
class SvmMap:
    """SVM-MAP: ½‖w‖² + C Σ_q max_z [1 − AP(z) + w·Ψ(z) − w·Ψ(truth)] over all rankings z of query q.

    Ψ(z) = Σ z_ij (x_i − x_j)/(|R||N|) over relevant i and irrelevant j, with z_ij = 1 if z puts i above j,
    else −1. Solved by cutting planes with one slack; the most violated ranking is found exactly in O(n log
    n). Relevant is a label of at least ``rel``; in a full order, the first ``k`` (at most half the list).
    Queries without relevant, or without irrelevant, documents count for nothing. The trace holds the relative
    duality gap. Yue, Finley, Radlinski & Joachims, SIGIR 2007.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [1, 0, 0], ["q", "q", "q"])
    >>> tk.ranker("svmmap", C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "SVM-MAP: linear, an upper bound of 1 − AP by cutting planes"
    space: ClassVar[Space] = {"C": Span(1e-4, 100.0, log=True)}

    rel: float = 1.0
    k: int = 10
    C: float | None = None
    max_steps: int = 1000
    tolerance: float = 1e-3
    """It ends when the duality gap is this share of the objective."""

    def __post_init__(self) -> None:
        check(self.k >= 1, "k", self.k, "at least 1")
        check_penalty(self.C, self.max_steps, self.tolerance)

    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The fitted model, and the trace of the gap of every fit."""
        labels_only(job, "svmmap")
        tasks = whole_lists(job.train, job.query_weights, self.rel, self.k)
        X = filled(job.train.X)
        total = float(tasks.weights.sum())
        planes = Planes()

        def risk(w: Floats) -> tuple[float, Floats]:
            value, slope = tasks(X @ w)
            return value / total, X.T @ slope / total

        def fit(l2: float, start: Floats) -> tuple[Floats, Trace]:
            return cutting_planes(risk, l2, start, planes, self.max_steps, self.tolerance)

        strengths = strengths_of(job, self.C, total, STRENGTHS, USUAL_STRENGTH)
        return best_of_path(job, fit, total, strengths, "SVM-MAP")
