"""RankSVM in the primal, without listing pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from topkit.compute import Trace
from topkit.rankers.contract import Job
from topkit.rankers.svm.bundle import Planes, cutting_planes
from topkit.rankers.svm.newton import newton
from topkit.rankers.svm.pairs import LOSSES, PAIR_SETS, Pairs
from topkit.rankers.svm.path import best_of_path
from topkit.scorers import Floats, Linear, Space, Span, check
from topkit.scorers.network import filled

STRENGTHS = tuple(10.0 ** np.arange(0.0, 6.0, 0.5))
"""C times the number of pairs, tried on validation data."""
USUAL_STRENGTH = 1e3
"""C times the number of pairs without validation data."""
NEWTON_SHARE = 1e-4
"""Newton's last step is this much smaller than the tolerance: it converges too fast to save anything."""


@dataclass(frozen=True)
class RankSVM:
    """RankSVM: ½‖w‖² + C Σ φ(w·x_u − w·x_v) over pairs (u better than v), φ the squared or the plain hinge.

    The squared hinge goes by truncated Newton, the plain one by cutting planes; both cost O(n log n) a query.
    Pairs: ``all`` differing labels (graded or full order), ``topk`` (the better member in the top k),
    ``focused`` (from the top k to the rest), ``given`` (preferences given to fit). With ``C=None`` and
    validation data a grid of C is fitted with warm starts and the best measure kept; without, C is 1000 over
    the number of pairs. Equal scores, queries of one label and missing features (0) cost nothing.
    Joachims, KDD 2002; Chapelle & Keerthi, Information Retrieval 2010.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("ranksvm", C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "RankSVM: linear, hinge or squared hinge on pairs"
    space: ClassVar[Space] = {"C": Span(1e-7, 10.0, log=True)}

    loss: str = "squared-hinge"
    pairs: str = "all"
    k: int = 10
    """Size of the top, for the pair sets ``topk`` and ``focused``."""
    C: float | None = None
    max_steps: int = 1000
    tolerance: float = 1e-3
    """The plain hinge ends when its gap is this share of the objective; the squared one goes further."""

    def __post_init__(self) -> None:
        check(self.loss in LOSSES, "loss", self.loss, " or ".join(LOSSES))
        check(self.pairs in PAIR_SETS, "pairs", self.pairs, f"one of {', '.join(PAIR_SETS)}")
        check(self.k >= 1, "k", self.k, "at least 1")
        check_penalty(self.C, self.max_steps, self.tolerance)

    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The fitted model, and the trace of every fit: objective (squared) or relative gap (plain)."""
        pairs = Pairs.of(job, self.loss, self.pairs, self.k)
        X = filled(job.train.X)
        planes = Planes()

        def risk(w: Floats) -> tuple[float, Floats]:
            value, slope = pairs.objective(X @ w)
            return value / pairs.count, X.T @ slope / pairs.count

        def fit(l2: float, start: Floats) -> tuple[Floats, Trace]:
            if self.loss == "hinge":
                return cutting_planes(risk, l2, start, planes, self.max_steps, self.tolerance)
            return newton(X, pairs, l2, start, self.max_steps, NEWTON_SHARE * self.tolerance)

        strengths = strengths_of(job, self.C, pairs.count, STRENGTHS, USUAL_STRENGTH)
        return best_of_path(job, fit, pairs.count, strengths, "RankSVM")


def check_penalty(C: float | None, max_steps: int, tolerance: float) -> None:
    """Raise unless the settings that all SVM rankers share are fine."""
    check(C is None or C > 0, "C", C, "above 0, or none to choose it")
    check(max_steps >= 1, "max_steps", max_steps, "at least 1")
    check(tolerance > 0, "tolerance", tolerance, "above 0")


def strengths_of(
    job: Job, C: float | None, total: float, grid: tuple[float, ...], usual: float
) -> tuple[float, ...]:
    """The values of C·total to fit: the given one, or the grid where there is something to choose by."""
    if C is not None:
        return (C * total,)
    return (usual,) if job.valid is None else grid
