"""RankBoost: boosting on pairs with threshold rankers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from topkit.compute import Trace
from topkit.data import InputError
from topkit.losses import loss
from topkit.rankers.boosting.loop import Pairs, boost
from topkit.rankers.boosting.pools import MOST_THRESHOLDS, WEAK, pool_of
from topkit.rankers.contract import Job
from topkit.scorers import Model, Space, Span, check

PAIR_SETS = ("all", "topk", "focused", "given")


@dataclass(frozen=True)
class RankBoost:
    """RankBoost: H = Σ α_t f_t, each f_t the weak ranker with the largest |r|, r = Σ D(u,v)(f(u) − f(v)).

    D(u,v) ∝ exp(−(H(u) − H(v))) over pairs with u better than v, and α = ½ ln((1 + r)/(1 − r)). Weak rankers
    are thresholds 1[x > θ] on single features, or the features themselves. Pairs: ``all`` differing labels,
    ``topk`` (better member in the top k), ``focused`` (from the top k to the rest), ``given`` (preferences).
    D factorises, so a round is linear in the documents. A missing feature is above no threshold.
    Freund, Iyer, Schapire & Singer, JMLR 2003.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("rankboost").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "RankBoost: thresholds on features, boosted on pairs"
    space: ClassVar[Space] = {"thresholds": (10, 32, 100), "rounds": Span(50, 1000, log=True, whole=True)}

    rounds: int = 300
    weak: str = "threshold"
    thresholds: int = 32
    """Thresholds a feature."""
    pairs: str = "all"
    k: int = 10
    """Size of the top, for the pair sets ``topk`` and ``focused``."""

    def __post_init__(self) -> None:
        check(self.pairs in PAIR_SETS, "pairs", self.pairs, f"one of {', '.join(PAIR_SETS)}")
        check(self.k >= 1, "k", self.k, "at least 1")
        check_boosting(self.rounds, self.weak, self.thresholds)

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The sum of weak rankers, and the trace of the validation measure or of −(mean exponential loss)."""
        if (job.preferences is not None) != (self.pairs == "given"):
            raise InputError(
                "preferences and pairs='given' belong together",
                "give preferences to fit with pairs='given', or neither",
            )
        settings = {"k": self.k} if self.pairs in ("topk", "focused") else {}
        truth = job.train.y if job.preferences is None else job.preferences
        bound = loss("exponential", pairs=self.pairs, **settings).on(truth, job.train.ptr, job.weights)
        pool = pool_of(job.train, self.weak, self.thresholds)
        return boost(job, job.train, pool, None, Pairs.of(bound), 0.0, self.rounds)


def check_boosting(rounds: int, weak: str, thresholds: int) -> None:
    """Raise unless the settings that all boosting rankers share are fine."""
    check(rounds >= 1, "rounds", rounds, "at least 1")
    check(weak in WEAK, "weak", weak, " or ".join(WEAK))
    check(1 <= thresholds <= MOST_THRESHOLDS, "thresholds", thresholds, f"1 to {MOST_THRESHOLDS}")
