"""RankBoost: boosting on pairs with threshold rankers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Trace
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.boosting.loop import Boosting, BoostPiece
from topkit.rankers.boosting.pools import MOST_THRESHOLDS, WEAK, pool_of
from topkit.rankers.orders import has_different_labels
from topkit.rankers.pairs import PairSet, PairTop, pair_objective
from topkit.rankers.pieces import InPieces, Pieces
from topkit.scorers import Job, Model


@dataclass(frozen=True)
class RankBoost(InPieces):
    """RankBoost: H = Σ α_t f_t, each f_t the weak ranker with the largest |r|, r = Σ D(u,v)(f(u) − f(v)).

    D(u,v) ∝ exp(−(H(u) − H(v))) over pairs with u better than v, and α = ½ ln((1 + r)/(1 − r)). Weak rankers
    are thresholds 1[x > θ] on single features, or the features themselves. Pairs: ``all`` different labels,
    ``topk`` (better member in the top k), ``focused`` (from the top k to the rest), ``given`` (preferences).
    D factorises, so a round is linear in the documents. A missing feature is not above any threshold.
    Freund, Iyer, Schapire & Singer, JMLR 2003.

    Use it if features act by thresholds, or for preferences. Not for many documents per query with
    `pairs="all"` and fine differences, where trees on a listwise loss are better.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("rankboost").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences")
    summary: ClassVar[str] = "RankBoost: thresholds on features, boosted on pairs"

    rounds: Annotated[
        int, Setting("Maximum number of rounds.", low=1, search=Span(50, 1000, log=True, whole=True))
    ] = 300
    weak: Annotated[
        str, Setting("Weak rankers: thresholds on features, or the features themselves.", choices=WEAK)
    ] = "threshold"
    thresholds: Annotated[
        int, Setting("Maximum thresholds per feature.", low=1, high=MOST_THRESHOLDS, search=(10, 32, 100))
    ] = 32
    pairs: PairSet = "all"
    k: PairTop = 10

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def keeps_missing(self) -> bool:
        return self.weak == "threshold"

    def piece(self, job: Job) -> BoostPiece:
        """The pairs of a piece."""
        differ = has_different_labels(job.train)
        if job.preferences is not None or self.weak != "threshold" or differ.all() or not differ.any():
            return BoostPiece(job.train.ptr, None, pair_objective(job, "exponential", self.pairs, self.k))
        # lists of one label have no pairs: leaving them out saves a third of the time on MQ2008
        weights = None if job.weights is None else job.weights[differ]
        some = replace(job, train=job.train.select(differ), weights=weights)
        return BoostPiece(
            job.train.ptr,
            None,
            pair_objective(some, "exponential", self.pairs, self.k),
            active=np.flatnonzero(np.repeat(differ, job.train.lengths)),
        )

    def train_on(self, pieces: Pieces, job: Job) -> tuple[Model, list[Trace]]:
        """The sum of weak rankers, and the trace of the validation metric or of −(mean exponential loss)."""
        return Boosting(pieces, pool_of(pieces, self.weak, self.thresholds), 0.0).run(job, self.rounds)
