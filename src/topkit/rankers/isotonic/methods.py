"""IsoRank and QBRank: boosted regression trees, each fitted to the least change that the truth asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from topkit.compute import Trace
from topkit.metrics.compiled import worst_ties
from topkit.rankers.contract import Job
from topkit.rankers.isotonic.effort import Effort, pair_effort, query_effort
from topkit.scorers import Space, Span, Trees, TreeScorer, check

SPACE: Space = {
    "leaves": (4, 8, 16),
    "rate": Span(0.02, 0.1, log=True),
    "min_leaf": Span(10, 200, log=True, whole=True),
}


@dataclass(frozen=True)
class IsoRank:
    """Trees on isotonic regression: round by round, the least change of all scores of a query together.

    Each round finds min Σδ² + λnζ² with s_i + δ_i ≥ s_j + δ_j + (g_i − g_j)(1 − ζ) for better i (λ =
    ``slack``; see :mod:`topkit.rankers.isotonic.least_change`), fits a regression tree to δ by least squares
    and adds ``rate`` times the tree. Grades are solved by pooling; preferences (margin 1, an even split of
    answers is a tie), and grades with ``ties``, by a quadratic program a query. Validation data decides how
    many trees are kept. The second trace counts the training pairs not in the right order. Zheng, Zha & Sun,
    LR4IR 2008.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[i / 60] for i in range(60)], [i // 20 for i in range(60)], ["q"] * 60)
    >>> tk.ranker("isorank", min_leaf=1).fit(data).rank(data)["q"][0][0]
    'q:41'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "IsoRank: trees fitted to the least change that satisfies a whole query"
    space: ClassVar[Space] = SPACE

    slack: float = 10.0
    """λ, the price of softening margins; published with 10."""
    ties: float | None = None
    """λ₂: equal grades (and even splits of preferences) shall have near scores; none leaves them free."""
    trees: int = 500
    leaves: int = 4
    rate: float = 0.05
    min_leaf: int = 20
    bagging: float = 1.0
    feature_share: float = 1.0
    patience: int = 100

    def __post_init__(self) -> None:
        check(self.slack > 0, "slack", self.slack, "above 0")
        check(self.ties is None or self.ties > 0, "ties", self.ties, "above 0, or none")
        _scorer(self)

    def train(self, job: Job) -> tuple[Trees, list[Trace]]:
        """The trees; the trace of the measure (or effort) and of the contradicting training pairs."""
        return _boost(job, query_effort(job, float(self.slack), self.ties), _scorer(self))


@dataclass(frozen=True)
class QBRank:
    """Trees on pairs: round by round, what each pair by itself lacks to its margin.

    A document of a pair (i better than j) wants a change of ± max(0, g_i − g_j − (s_i − s_j)), and a
    regression tree is fitted to all of these by least squares: the quadratic bound of ½ Σ max(0, …)².
    Preferences have margin 1 and their weights. Everything else is as in :class:`IsoRank`. Zheng, Zha, Zhang,
    Chapelle, Chen & Sun, NIPS 2007.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[i / 60] for i in range(60)], [i // 20 for i in range(60)], ["q"] * 60)
    >>> tk.ranker("qbrank", min_leaf=1).fit(data).rank(data)["q"][0][0]
    'q:41'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "QBRank: trees fitted to the least change that satisfies each pair"
    space: ClassVar[Space] = SPACE

    trees: int = 500
    leaves: int = 4
    rate: float = 0.05
    min_leaf: int = 20
    bagging: float = 1.0
    feature_share: float = 1.0
    patience: int = 100

    def __post_init__(self) -> None:
        _scorer(self)

    def train(self, job: Job) -> tuple[Trees, list[Trace]]:
        """The trees; the trace of the measure (or effort) and of the contradicting training pairs."""
        return _boost(job, pair_effort(job), _scorer(self))


def _scorer(method: IsoRank | QBRank) -> TreeScorer:
    """The tree scorer with the settings of a method and plain least squares."""
    return TreeScorer(
        trees=method.trees,
        leaves=method.leaves,
        rate=method.rate,
        min_leaf=method.min_leaf,
        l2=0.0,
        bagging=method.bagging,
        feature_share=method.feature_share,
        patience=method.patience,
    )


def _boost(job: Job, effort: Effort, scorer: TreeScorer) -> tuple[Trees, list[Trace]]:
    # The first trees leave most scores equal, and a file sorted by label would make them look best.
    valid = None if job.valid is None else worst_ties(job.valid)
    model, traces = scorer.fit(replace(job, valid=valid), effort)
    contradictions = Trace(
        scorer.trees, values=[float(count) for count in effort.seen], reason=traces[0].reason
    )
    contradictions.best_step = traces[0].best_step
    return model, [*traces, contradictions]
