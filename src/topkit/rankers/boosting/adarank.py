"""AdaRank: boosting on queries, for any metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from topkit.compute import Trace
from topkit.data.settings import Setting, check_fields
from topkit.rankers.boosting.loop import Boosting, BoostPiece, Lists
from topkit.rankers.boosting.pools import pool_of
from topkit.rankers.pieces import MetricInPieces, Pieces
from topkit.scorers import Job, Model


@dataclass(frozen=True)
class AdaRank(MetricInPieces):
    """AdaRank: H = Σ α_t f_t, each f_t the weak ranker with the largest r = Σ_q D(q)·E(f, q).

    E is the metric that the setting ``metric`` names (MAP, NDCG@k, ERR, any), D(q) ∝ exp(−E(H, q)), and
    α = ½ ln((1 + r)/(1 − r)), which is the paper's ½ ln(Σ D(1 + E)/Σ D(1 − E)). Weak rankers are the features
    in both directions. Ties count as ordered badly, so a constant feature has the lowest value. A weak ranker
    that does not raise the metric of H on the training data is excluded until another one does. Queries with
    one label have no influence. Xu & Li, SIGIR 2007.

    Use it to optimise an unusual metric with a small, readable model: a weighted sum of few features. Not if
    features must be combined in a finer way than weights of whole features.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.3], [0.1, 0.2], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("adarank", metric="ndcg@1").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    summary: ClassVar[str] = "AdaRank: features, boosted on queries by any metric"

    rounds: Annotated[int, Setting("Maximum number of rounds.", low=1)] = 500

    def __post_init__(self) -> None:
        check_fields(self)

    def piece(self, job: Job) -> BoostPiece:
        """The lists of a piece."""
        return BoostPiece(job.train.ptr, Lists.of(job, job.train, None, job.query_weights), None)

    def train_on(self, pieces: Pieces, job: Job) -> tuple[Model, list[Trace]]:
        """The sum of weak rankers, and the trace of the metric on validation (or else training) data."""
        return Boosting(pieces, pool_of(pieces, "feature", 1), 1.0).run(job, self.rounds)
