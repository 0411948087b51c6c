"""IsoRank and QBRank: boosted regression trees, fitted to the smallest change that satisfies the truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from topkit.compute import Trace
from topkit.data.settings import Setting, Span, check_fields
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.isotonic.effort import Effort, pair_effort, query_effort
from topkit.scorers import Job, Trees, TreeScorer


@dataclass(frozen=True)
class EffortTrees(ABC):
    """Settings and training that IsoRank and QBRank share: least-squares trees on an effort."""

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels", "preferences")

    trees: Annotated[int, Setting("Largest number of trees.", low=1)] = 500
    leaves: Annotated[int, Setting("Leaves per tree.", low=2, search=(4, 8, 16))] = 4
    rate: Annotated[float, Setting("Learning rate.", above=0, search=Span(0.02, 0.1, log=True))] = 0.05
    min_leaf: Annotated[
        int,
        Setting("Smallest number of documents in a leaf.", low=1, search=Span(10, 200, log=True, whole=True)),
    ] = 20
    bagging: Annotated[float, Setting("Share of documents drawn for each tree.", above=0, high=1)] = 1.0
    feature_share: Annotated[float, Setting("Share of features drawn for each tree.", above=0, high=1)] = 1.0
    patience: Annotated[
        int, Setting("Trees without a better metric on validation data before boosting stops.", low=1)
    ] = 100

    def __post_init__(self) -> None:
        check_fields(self)

    @abstractmethod
    def effort(self, job: Job) -> Effort:
        """The objective on the training data."""

    def train(self, job: Job) -> tuple[Trees, list[Trace]]:
        """The trees; the traces of the metric (or of the effort) and of the contradicting training pairs."""
        # The first trees leave most scores equal, and in a file sorted by label such ties would look best.
        # This holds for conventions that keep the input order of ties; under trec the document ids decide.
        valid = None if job.valid is None else worst_ties(job.valid)
        effort = self.effort(job)
        scorer = TreeScorer(
            trees=self.trees,
            leaves=self.leaves,
            rate=self.rate,
            min_leaf=self.min_leaf,
            l2=0.0,
            bagging=self.bagging,
            feature_share=self.feature_share,
            patience=self.patience,
        )
        if valid is not None:  # evaluated after every tree, so the compiled metric saves a third of the time
            measured = Measured.of(valid, job.metric, job.convention)
            job = replace(job, valid=valid, measure=lambda _, scores: measured.mean(scores))
        model, traces = scorer.fit(job, effort)
        counts = [float(count) for count in effort.counts]
        contradictions = Trace(self.trees, values=counts, reason=traces[0].reason)
        contradictions.best_step = traces[0].best_step
        return model, [*traces, contradictions]


@dataclass(frozen=True)
class IsoRank(EffortTrees):
    """Trees on isotonic regression: each round fits the smallest change of all scores of a query together.

    Each round finds min Σδ² + λnζ² with s_i + δ_i ≥ s_j + δ_j + (g_i − g_j)(1 − ζ) for better i (λ =
    ``slack``; see :mod:`topkit.rankers.isotonic.least_change`), fits a regression tree to δ by least squares
    and adds ``rate`` times the tree. Grades are solved by pooling; preferences (margin 1, an even split of
    answers is a tie) and grades with ``ties`` by one quadratic program per query. Validation data decides how
    many trees are kept. The second trace counts the training pairs in the wrong order. Zheng, Zha & Sun,
    LR4IR 2008.

    Use it for preferences with ties, or for grades with trees that should move no more than needed. Not for
    long lists with preferences: each query is a quadratic program.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[i / 60] for i in range(60)], [i // 20 for i in range(60)], ["q"] * 60)
    >>> tk.ranker("isorank", min_leaf=1).fit(data).rank(data)["q"][0][0]
    'q:41'
    """

    summary: ClassVar[str] = "IsoRank: trees fitted to the smallest change that satisfies a whole query"

    slack: Annotated[float, Setting("λ, the cost of reducing margins; 10 as published.", above=0)] = 10.0
    ties: Annotated[
        float | None,
        Setting("λ₂, the cost of score differences between tied documents; none ignores ties.", above=0),
    ] = None

    def effort(self, job: Job) -> Effort:
        """The smallest change per query."""
        return query_effort(job, self.slack, self.ties)


@dataclass(frozen=True)
class QBRank(EffortTrees):
    """Trees on pairs: each round fits what each pair lacks to its margin.

    The target change of a document in a pair (i better than j) is ± max(0, g_i − g_j − (s_i − s_j)). A
    regression tree is fitted to all targets by least squares, which minimises a quadratic bound of
    ½ Σ max(0, …)². Preferences have margin 1 and their weights. Otherwise as :class:`IsoRank`. Zheng, Zha,
    Zhang, Chapelle, Chen & Sun, NIPS 2007.

    Use it for preferences with trees if IsoRank is too slow. Not for data with many pairs per document,
    whose targets contradict each other.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[i / 60] for i in range(60)], [i // 20 for i in range(60)], ["q"] * 60)
    >>> tk.ranker("qbrank", min_leaf=1).fit(data).rank(data)["q"][0][0]
    'q:41'
    """

    summary: ClassVar[str] = "QBRank: trees fitted to the smallest change that satisfies each pair"

    def effort(self, job: Job) -> Effort:
        """The smallest change per pair."""
        return pair_effort(job)
