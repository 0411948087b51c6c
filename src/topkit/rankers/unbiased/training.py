"""Training on a click log without its position bias: any loss, any scorer, six estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from topkit.clicks import ClickLog
from topkit.clicks.pairs import Pairs, totals
from topkit.clicks.propensities import Propensities, estimate_propensities
from topkit.clicks.relevance import RELEVANCE, Sums, relevance
from topkit.compute import Floats, Trace
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting, check_fields
from topkit.losses import Loss
from topkit.rankers.unbiased.dual import dual_propensities
from topkit.rankers.unbiased.lists import ListObjective, clicked_lists
from topkit.rankers.unbiased.pairwise import DebiasedPairs
from topkit.rankers.unbiased.regression import predicted_relevance
from topkit.scorers import Job, Model, ScoreModel, Scorer

ESTIMATORS = (*RELEVANCE, "dual", "pairwise")
"""How clicks are corrected; see :class:`UnbiasedClicks`."""


@dataclass(frozen=True)
class UnbiasedClicks:
    """A click log to learn from, and how to correct its position bias.

    - ``snips`` (default), ``ips``, ``dr``: the relevance of each document is estimated from its clicks and
      the propensities (:func:`topkit.clicks.relevance.relevance`); ``dr`` adds a regression on the features,
      fitted to the other half of the queries. The loss is then the sum over documents d of relevance(d)·loss
      with d as the only relevant document. It is linear in the estimates, so their errors average out.
    - ``dual``: the propensities are learned together with the ranker, in turn: the ranker with the present
      propensities, then the propensities with the relevance that the scores predict.
    - ``pairwise``: lists of two documents, one clicked and one skipped on the same page, with weights by
      both positions that are learned together with the ranker.
    - ``naive``: click rates as they are, for comparison.

    >>> import topkit as tk
    >>> data = tk.demo_data()
    >>> log = tk.simulate_clicks(data, data.X[:, 0], 2000, seed=1)
    >>> ranker = tk.ranker("listnet").fit(data, clicks=tk.UnbiasedClicks(log, "pbm"))
    """

    source: ClassVar[str] = "click logs"
    """What a method must learn from to take it."""

    log: ClickLog
    propensities: Propensities | str = "pbm"
    """Propensities, or the name of a way to estimate them from the log. Not used by dual and pairwise."""
    estimator: Annotated[str, Setting("How clicks are corrected.", choices=ESTIMATORS)] = "snips"
    smoothing: Annotated[
        float,
        Setting(
            "Examinations at the average relevance that naive, snips and dr add to each document.", low=0
        ),
    ] = 1.0
    clip: Annotated[float, Setting("Smallest propensity that ips divides by.", low=0, high=1)] = 0.05
    rounds: Annotated[int, Setting("Rounds of dual and pairwise.", low=1)] = 5

    def __post_init__(self) -> None:
        check_fields(self)

    def prepared(self, prepare: Callable[[Dataset], Dataset]) -> UnbiasedClicks:
        """The same log: its documents are named, and their features are those of the training data."""
        return self

    def known_propensities(self) -> Propensities:
        """The propensities, estimated from the log if only their method is given."""
        if isinstance(self.propensities, Propensities):
            return self.propensities
        return estimate_propensities(self.log, self.propensities)


def click_labels(data: Dataset, clicks: UnbiasedClicks | ClickLog) -> Dataset:
    """The data set with estimated relevance as labels, for rankers that learn from nothing but labels.

    Documents that were never shown get the average or, with ``dr``, the prediction of the regression.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[1.0], [0.0]], [0, 0], ["q", "q"], doc_ids=["a", "b"])
    >>> pages = [tk.Page("q", ("a", "b"), (True, False)), tk.Page("q", ("b", "a"), (False, True))] * 4
    >>> (click_labels(data, tk.ClickLog.of_pages(pages)).y > 0.5).tolist()
    [True, False]
    """
    clicks = UnbiasedClicks(clicks) if isinstance(clicks, ClickLog) else clicks
    if clicks.estimator not in RELEVANCE:
        raise InputError(
            f"the estimator {clicks.estimator!r} needs a ranker to learn with, it gives no labels",
            f"choose from {', '.join(RELEVANCE)}",
        )
    values, _ = _relevance(data, clicks, clicks.known_propensities())
    return data.with_labels(values, data.truth)


def train_on_clicks(loss: Loss, scorer: Scorer, job: Job) -> tuple[Model, list[Trace]]:
    """The model that the scorer fits to the loss on corrected clicks, and the traces of its fits."""
    clicks: UnbiasedClicks = job.clicks
    if loss.pairs_given:
        raise InputError("pairs='given' learns from preferences, not from clicks", "use other pairs")
    if clicks.estimator == "pairwise":
        return _train_pairwise(loss, scorer, job, clicks)
    if clicks.estimator == "dual":
        return _train_dual(loss, scorer, job, clicks)
    values, traffic = _relevance(job.train, clicks, clicks.known_propensities())
    return scorer.fit(job, _objective(loss, job, values, traffic))


def _train_dual(loss: Loss, scorer: Scorer, job: Job, clicks: UnbiasedClicks) -> tuple[Model, list[Trace]]:
    """The ranker and the propensities in turn; the first propensities treat all positions alike."""
    log = clicks.log
    propensities = Propensities(np.ones(log.n_positions), method="dual")
    fitted: tuple[Model, list[Trace]] | None = None
    for _ in range(clicks.rounds):
        values, traffic = _relevance(job.train, clicks, propensities, "snips")
        fitted = scorer.fit(job, _objective(loss, job, values, traffic))
        scores = _scores(fitted[0], job.train)
        propensities = dual_propensities(log, Pairs.of_dataset(job.train), scores)
    assert fitted is not None  # noqa: S101 (there is at least one round)
    return fitted


def _train_pairwise(
    loss: Loss, scorer: Scorer, job: Job, clicks: UnbiasedClicks
) -> tuple[Model, list[Trace]]:
    pairs = DebiasedPairs.of(clicks.log, job.train)
    fitted: tuple[Model, list[Trace]] | None = None
    for _ in range(clicks.rounds):
        fitted = scorer.fit(job, pairs.objective(loss, job))
        pairs = pairs.updated(_scores(fitted[0], job.train))
    assert fitted is not None  # noqa: S101 (there is at least one round)
    return fitted


def _scores(model: Any, data: Dataset) -> Floats:
    if not isinstance(model, ScoreModel):
        raise InputError("dual and pairwise need a scorer with scores", "use the estimator snips")
    return model.score(data)


def _relevance(
    data: Dataset, clicks: UnbiasedClicks, propensities: Propensities, estimator: str | None = None
) -> tuple[Floats, Floats]:
    """The estimated relevance of each document, and the share of pages of each query."""
    chosen = estimator or clicks.estimator
    sums = Sums.of(clicks.log, propensities, clicks.clip, Pairs.of_dataset(data))
    if not sums.impressions.any():
        raise InputError(
            "no document of the log is in the training data",
            "use the same query and document ids in both",
        )
    if not sums.clicks.any():
        raise InputError("the log has no clicks on the training documents", "use a longer log")
    model = predicted_relevance(data, sums) if chosen == "dr" else None
    return relevance(sums, chosen, clicks.smoothing, model), _traffic(clicks.log, data)


def _traffic(log: ClickLog, data: Dataset) -> Floats:
    """Pages of each query of the data: impressions at the position where it has most of them."""
    cells = log.cells()
    size = log.n_positions
    key = log.pairs.query[cells.pair] * size + cells.bucket
    pages = totals(key, cells.impressions, len(log.pairs.qids) * size).reshape(-1, size).max(axis=1)
    known = dict(zip(log.pairs.qids, pages.tolist(), strict=True))
    return np.array([known.get(qid, 0.0) for qid in data.qids])


def _objective(loss: Loss, job: Job, values: Floats, traffic: Floats) -> ListObjective:
    weights = values * np.repeat(traffic * job.query_weights, job.train.lengths)
    return clicked_lists(loss, job.train.ptr, weights, job.total_weight)
