"""The click-and-label ranker as a method, and how a fitted one goes on learning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from topkit.compute import Trace
from topkit.data import Dataset, InputError
from topkit.metrics.compiled import worst_ties
from topkit.rankers.clicks.beliefs import Beliefs
from topkit.rankers.clicks.events import Clicks, Layout
from topkit.rankers.clicks.grades import Scale
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.contract import Job
from topkit.rankers.labels import labels_only
from topkit.rankers.learner import Learner
from topkit.scorers import Space, check


@dataclass(frozen=True)
class ClickLabelRanker:
    """A Bayesian model of clicks and of grades that learns online and ranks by expected utility.

    Clicks: P(click) = P(w·x + noise > 0); grades: the same with learnt boundaries between grades. Weights are
    independent Gaussians; the precision of the noise has a Gamma prior and is integrated out. x holds the
    features, a bias, the position on the page, and a memory weight each for the query, the document and the
    pair of both. Each event is learnt once, by exact moment matching (assumed-density filtering): grades
    first, in an order that their names decide, then the pages of ``clicks`` in theirs. A document is examined
    if it is not below the last click. Utility: (1 − λ)·E[2^g − 1] + λ·P(click at position 1), λ = ``mix``;
    with ``diversity`` κ > 0 further clicks on a page count less and less
    (:mod:`topkit.rankers.clicks.diversity`). Validation data chooses λ from 0, 0.1, … 1 where ``mix`` is
    none. Zoeter, Taylor, Snelson, Guiver, Craswell & Szummer, LR4IR 2008.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("click-label").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "z-score"
    summary: ClassVar[str] = (
        "click-and-label: Bayesian model of clicks and grades, ranked by expected utility"
    )
    learns_from_clicks: ClassVar[bool] = True
    space: ClassVar[Space] = {"memory": (0.2, 0.5, 1.0)}

    mix: float | None = None
    """λ: 0 ranks by grades alone, 1 by clicks alone; none chooses it on validation data, or takes 0.5."""
    diversity: float = 0.0
    """κ."""
    spread: float = 1.0
    """Prior deviation of the weights of features, bias and positions."""
    memory: float = 0.5
    """Prior deviation of memory weights."""
    positions: int = 20
    """Places on a page with a weight of their own."""
    slots: int = 65536
    """Size of the table of memory weights."""

    def __post_init__(self) -> None:
        check(self.mix is None or 0 <= self.mix <= 1, "mix", self.mix, "between 0 and 1, or none")
        check(self.diversity >= 0, "diversity", self.diversity, "0 or more")
        check(self.spread > 0, "spread", self.spread, "above 0")
        check(self.memory > 0, "memory", self.memory, "above 0")
        check(self.positions >= 1, "positions", self.positions, "at least 1")
        check(self.slots >= 1, "slots", self.slots, "at least 1")

    def train(self, job: Job) -> tuple[ClickLabel, list[Trace]]:
        """The model; if there are clicks, a trace with the mean log-likelihood of each as it came."""
        labels_only(job, "click-label")
        layout = Layout(job.train.n_features, self.positions, self.slots)
        prior = Beliefs.prior(layout, self.spread, self.memory)
        weights = job.query_weights
        scale = Scale.of(job.train.y.astype(np.float64), weights[job.train.query_index])
        mix = 0.5 if self.mix is None else float(self.mix)
        model = ClickLabel(layout, prior, prior, scale, mix, float(self.diversity))
        model = model.after_grades(job.train, weights, job.seed)
        traces = []
        if job.clicks is not None:
            model, likelihood, count = model.after_pages(job.clicks, job.report)
            traces.append(Trace(1, values=[likelihood / max(count, 1)], reason="settled"))
        if self.mix is None and job.valid is not None:
            valid = worst_ties(job.valid)
            tried = [replace(model, mix=round(0.1 * i, 1)) for i in range(11)]
            model = max(tried, key=lambda one: job.measure(valid, one.score(valid)))
        return model, traces


def continue_training(ranker: Learner, data: Dataset | None = None, clicks: Clicks | None = None) -> Learner:
    """The fitted ranker after more grades, more pages, or both; the given one stays as it is.

    Learning today and tomorrow gives what learning both at once gives, if pages come in the same order.

    >>> import topkit as tk
    >>> from topkit.data import Page
    >>> data = tk.Dataset.build([[0.5], [0.5]], [0, 0], ["q", "q"])
    >>> fitted = tk.ranker("click-label").fit(data)
    >>> seen = [Page("q", ("q:1", "q:2"), (False, True))] * 5
    >>> continue_training(fitted, clicks=Clicks(seen)).rank(data)["q"][0][0]
    'q:2'
    """
    model, preparation = ranker.model, ranker.preparation
    if not isinstance(model, ClickLabel) or preparation is None:
        raise InputError(f"the ranker {ranker.name!r} is not a fitted click-label ranker", "fit one first")
    if data is not None:
        model = model.after_grades(preparation(data), np.ones(data.n_queries), ranker.common.seed)
    if clicks is not None:
        model, _, _ = model.after_pages(clicks.prepared(preparation))
    times = int(ranker.provenance.get("continued", 0)) + 1
    provenance = {**ranker.provenance, "continued": times}
    return replace(ranker).install(preparation, model, ranker.traces, provenance)
