"""AdaRank: boosting on queries, for any measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from topkit.compute import Trace
from topkit.metrics.compiled import worst_ties
from topkit.rankers.boosting.loop import Lists, boost
from topkit.rankers.boosting.pools import FeaturePool
from topkit.rankers.contract import Job
from topkit.rankers.labels import labels_only
from topkit.scorers import Model, Space, check


@dataclass(frozen=True)
class AdaRank:
    """AdaRank: H = Σ α_t f_t, each f_t the weak ranker with the largest r = Σ_q D(q)·E(f, q).

    E is the measure that the setting ``metric`` names (MAP, NDCG@k, ERR, any), D(q) ∝ exp(−E(H, q)), and
    α = ½ ln((1 + r)/(1 − r)), which is the paper's ½ ln(Σ D(1 + E)/Σ D(1 − E)). Weak rankers are the features
    in both directions. Equal values count as ordered badly, so that a feature which says nothing is worth
    nothing. A weak ranker that does not raise the measure of H on the training data is set aside until
    another one does. Queries of one label count for nothing. Xu & Li, SIGIR 2007.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.3], [0.1, 0.2], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("adarank", metric="ndcg@1").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "AdaRank: features, boosted on queries by any measure"
    space: ClassVar[Space] = {}

    rounds: int = 500

    def __post_init__(self) -> None:
        check(self.rounds >= 1, "rounds", self.rounds, "at least 1")

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The sum of weak rankers, and the trace of the measure on validation (or else training) data."""
        labels_only(job, "adarank")
        train = worst_ties(job.train)
        pool = FeaturePool.of(train)
        lists = Lists.of(job, train, None, job.query_weights, pool)
        return boost(job, train, pool, lists, None, 1.0, self.rounds)
