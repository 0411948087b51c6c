"""RankSVM in the primal, without listing pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from topkit.compute import Floats, Trace
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.pairs import PairSet, PairTop
from topkit.rankers.pieces import InPieces, Pieces
from topkit.rankers.svm.newton import newton
from topkit.rankers.svm.pairs import LOSSES, Pairs, pair_count
from topkit.rankers.svm.path import (
    COST,
    DEFAULT_PAIR_STRENGTH,
    PAIR_STRENGTHS,
    MaxSteps,
    best_of_path,
    cutting_plane_fit,
    strengths_of,
)
from topkit.scorers import Job, Linear

NEWTON_SHARE = 1e-4
"""Newton's tolerance relative to the setting: it converges so fast that stopping early saves nothing."""


@dataclass(frozen=True)
class RankSVM(InPieces):
    """RankSVM: ½‖w‖² + C Σ φ(w·x_u − w·x_v) over pairs (u better than v), φ the squared or the plain hinge.

    The squared hinge is solved by truncated Newton, the plain one by cutting planes; both cost O(n log n) per
    query.
    Pairs: ``all`` different labels (graded or full order), ``topk`` (the better member in the top k),
    ``focused`` (from the top k to the rest), ``given`` (preferences passed to fit). With ``C=None`` and
    validation data, a grid of C is fitted with warm starts and the one with the best metric is kept; without
    validation data, C is 1000 divided by the number of pairs. A missing feature is 0. Joachims, KDD 2002;
    Chapelle & Keerthi, Information Retrieval 2010.

    Use it first for a strong linear baseline, and for preferences without grades (`pairs="given"`). Not for
    effects that are not linear in the features.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("ranksvm", C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences")
    summary: ClassVar[str] = "RankSVM: linear, hinge or squared hinge on pairs"

    loss: Annotated[str, Setting("Loss of a pair.", choices=LOSSES)] = "squared-hinge"
    pairs: PairSet = "all"
    k: PairTop = 10
    C: Annotated[float | None, Setting(COST, above=0, search=Span(1e-7, 10.0, log=True))] = None
    max_steps: MaxSteps = 1000
    tolerance: Annotated[
        float,
        Setting(
            "The plain hinge stops when its gap is at most this share of the objective; "
            "the squared hinge is solved more exactly.",
            above=0,
        ),
    ] = 1e-3

    def __post_init__(self) -> None:
        check_fields(self)

    def piece(self, job: Job) -> Pairs:
        """The pairs of a piece."""
        return Pairs.of(job, self.loss, self.pairs, self.k)

    def train_on(self, pieces: Pieces, job: Job) -> tuple[Linear, list[Trace]]:
        """The fitted model, and the trace of every fit: objective (squared) or relative gap (plain)."""
        count = pieces.total(pair_count)

        def newton_fit(l2: float, start: Floats) -> tuple[Floats, Trace]:
            return newton(pieces, count, l2, start, self.max_steps, NEWTON_SHARE * self.tolerance)

        plain_fit = cutting_plane_fit(pieces, count, self.max_steps, self.tolerance)
        strengths = strengths_of(job, self.C, count, PAIR_STRENGTHS, DEFAULT_PAIR_STRENGTH)
        fit = plain_fit if self.loss == "hinge" else newton_fit
        return best_of_path(job, fit, count, strengths, "RankSVM")
