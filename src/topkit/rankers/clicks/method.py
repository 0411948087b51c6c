"""The click-and-label ranker as a method, and further training of a fitted one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Trace
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting, check_fields
from topkit.metrics.compiled import worst_ties
from topkit.rankers.clicks.beliefs import Beliefs
from topkit.rankers.clicks.events import Clicks, Layout
from topkit.rankers.clicks.grades import Scale
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.clicks.sweep import MIXES
from topkit.rankers.clicks.utility import learn_utility
from topkit.rankers.learner import Learner
from topkit.scorers import Job


@dataclass(frozen=True)
class ClickLabelRanker:
    """A Bayesian model of clicks and of grades that learns online and ranks by expected utility.

    Clicks: P(click) = P(w·x + noise > 0); grades: the same with learned boundaries between grades. Weights
    are independent Gaussians; the precision of the noise has a Gamma prior and is integrated out. x holds the
    features, a bias, the position on the page, and a memory weight each for the query, the document and the
    pair of both. Each event is learned once, by exact moment matching (assumed-density filtering): first the
    grades, in an order that depends on names only, then the pages of ``clicks`` in their order. A document is
    examined if it is not below the last click. Utility: (1 − λ)·E[2^g − 1] + λ·P(click at position 1), with
    λ = ``mix``; with ``diversity`` κ > 0 each further click on a page counts less
    (:mod:`topkit.rankers.clicks.diversity`). With ``mix=None`` validation data chooses λ from 0, 0.1, … 1.
    With rated pages (``Clicks(…, rated=…)``) the utility is the learned probability that the user is
    satisfied (:mod:`topkit.rankers.clicks.utility`), instead of λ and κ.
    Zoeter, Taylor, Snelson, Guiver, Craswell & Szummer, LR4IR 2008.

    Use it for a stream of clicks, with or without grades, and for queries that repeat. Not without repeated
    queries or features: it then has nothing to generalise from.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("click-label").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "z-score"
    summary: ClassVar[str] = (
        "click-and-label: Bayesian model of clicks and grades, ranked by expected utility"
    )
    learns_from: ClassVar[tuple[str, ...]] = ("labels", "clicks")

    mix: Annotated[
        float | None,
        Setting(
            "λ: 0 ranks by grades only, 1 by clicks only; none chooses it on validation data, or takes 0.5.",
            low=0,
            high=1,
        ),
    ] = None
    diversity: Annotated[
        float, Setting("κ: how fast the utility of further clicks on a page falls.", low=0)
    ] = 0.0
    spread: Annotated[
        float, Setting("Prior deviation of the weights of features, bias and positions.", above=0)
    ] = 1.0
    memory: Annotated[
        float, Setting("Prior deviation of memory weights.", above=0, search=(0.2, 0.5, 1.0))
    ] = 0.5
    positions: Annotated[int, Setting("Positions on a page that have their own weight.", low=1)] = 20
    slots: Annotated[int, Setting("Size of the table of memory weights.", low=1)] = 65536

    def __post_init__(self) -> None:
        check_fields(self)

    def train(self, job: Job) -> tuple[ClickLabel, list[Trace]]:
        """The model; if there are clicks, a trace with their mean predictive log-likelihood."""
        layout = Layout(job.train.n_features, self.positions, self.slots)
        prior = Beliefs.prior(layout, self.spread, self.memory)
        weights = job.query_weights
        scale = Scale.of(job.train.y.astype(np.float64), weights[job.train.query_index])
        mix = 0.5 if self.mix is None else self.mix
        model = ClickLabel(layout, prior, prior, scale, mix, self.diversity)
        model = model.after_grades(job.train, weights, job.seed)
        traces = []
        if job.clicks is not None:
            model, likelihood, count = model.after_pages(job.clicks, job.report)
            traces.append(Trace(1, values=[likelihood / max(count, 1)], reason="settled"))
            if job.clicks.rated:
                return replace(model, utility=learn_utility(job.clicks.rated)), traces
        if self.mix is None and job.valid is not None:
            valid = worst_ties(job.valid)
            candidates = [replace(model, mix=mix) for mix in MIXES]
            model = max(candidates, key=lambda candidate: job.measure(valid, candidate.score(valid)))
        return model, traces


def continue_training(ranker: Learner, data: Dataset | None = None, clicks: Clicks | None = None) -> Learner:
    """A copy of a fitted ranker after learning from more grades, more pages, or both.

    If some of the pages are rated, the utility is learned from them anew.

    Learning in several steps gives the same model as learning from all pages at once, in the same order.

    >>> import topkit as tk
    >>> from topkit.data import Page
    >>> data = tk.Dataset.build([[0.5], [0.5]], [0, 0], ["q", "q"])
    >>> fitted = tk.ranker("click-label").fit(data)
    >>> pages = [Page("q", ("q:1", "q:2"), (False, True))] * 5
    >>> continue_training(fitted, clicks=Clicks(pages)).rank(data)["q"][0][0]
    'q:2'
    """
    model, preparation = ranker.model, ranker.preparation
    if not isinstance(model, ClickLabel) or preparation is None:
        raise InputError(f"the ranker {ranker.name!r} is not a fitted click-label ranker", "fit one first")
    if data is not None:
        model = model.after_grades(preparation(data), np.ones(data.n_queries), ranker.common.seed)
    if clicks is not None:
        model, _, _ = model.after_pages(clicks.prepared(preparation))
        if clicks.rated:
            model = replace(model, utility=learn_utility(clicks.rated))
    times = int(ranker.provenance.get("continued", 0)) + 1
    provenance = {**ranker.provenance, "continued": times}
    return replace(ranker).install(preparation, model, ranker.traces, provenance)
