"""McRank: boosted trees for the probability of each label, ranked by the gain that is expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from topkit.compute import Trace
from topkit.data import Dataset
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.contract import Job
from topkit.rankers.labels import labels_only
from topkit.rankers.multiclass.classes import Classes, grades_of
from topkit.scorers import Floats, Linear, Model, Parts, ScoreModel, Space, Span, Trees, check
from topkit.scorers.trees import threads_for

POSTERIORS = ("label", "above")


@dataclass(frozen=True)
class ClassTrees(ScoreModel):
    """Trees for each label, as LightGBM's text: one text for p(label), or one for each p(label > ℓ)."""

    kind: ClassVar[str] = "class-trees"
    texts: tuple[str, ...]
    gains: Floats
    posterior: str

    @cached_property
    def boosters(self) -> list[Any]:
        return [Trees(text).booster for text in self.texts]

    def raw(self, data: Dataset) -> Floats:
        """The sums of trees: documents × labels, or documents × (labels − 1) for p(label > ℓ)."""
        threads = threads_for(len(data))
        parts = [b.predict(data.X, raw_score=True, num_threads=threads) for b in self.boosters]
        return np.asarray(parts[0] if self.posterior == "label" else np.column_stack(parts), np.float64)

    def score(self, data: Dataset) -> Floats:
        return expected_gain(self.raw(data), self.gains, self.posterior)

    def probabilities(self, data: Dataset) -> Floats:
        """Class probabilities: documents × classes. From p(label > ℓ) they are differences, at least 0."""
        raw = self.raw(data)
        if self.posterior == "label":
            return softmax(raw)
        above = np.minimum.accumulate(1.0 / (1.0 + np.exp(np.clip(-raw, -700.0, 700.0))), axis=1)
        edges = np.hstack([np.ones((len(raw), 1)), above, np.zeros((len(raw), 1))])
        shares: Floats = edges[:, :-1] - edges[:, 1:]
        return shares

    def parts(self) -> Parts:
        texts = {f"trees{i}": text for i, text in enumerate(self.texts)}
        values = {"texts": len(self.texts), "posterior": self.posterior}
        return Parts(values, {"gains": self.gains}, texts)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        texts = tuple(parts.texts[f"trees{i}"] for i in range(int(parts.values["texts"])))
        if parts.values["posterior"] not in POSTERIORS:
            raise ValueError(f"unknown posterior {parts.values['posterior']!r}")
        model = cls(texts, np.asarray(parts.arrays["gains"], np.float64), parts.values["posterior"])
        _ = model.boosters
        return model


def softmax(raw: Floats) -> Floats:
    """exp(raw) as shares of each row."""
    parts = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares: Floats = parts / parts.sum(axis=1, keepdims=True)
    return shares


def expected_gain(raw: Floats, gains: Floats, posterior: str) -> Floats:
    """Σ gain·p(label), or gain₀ + Σ_ℓ (gain_ℓ₊₁ − gain_ℓ)·p(label > ℓ): the same sum, turned round.

    >>> expected_gain(np.log([[0.5, 0.3, 0.2]]), np.array([0.0, 1.0, 3.0]), "label").round(4).tolist()
    [0.9]
    >>> odds = np.log([[0.5 / 0.5, 0.2 / 0.8]])
    >>> expected_gain(odds, np.array([0.0, 1.0, 3.0]), "above").round(4).tolist()
    [0.9]
    """
    if posterior == "label":
        return np.asarray((softmax(raw) * gains).sum(axis=1))
    above = 1.0 / (1.0 + np.exp(np.clip(-raw, -700.0, 700.0)))
    return np.asarray(gains[0] + (above * np.diff(gains)).sum(axis=1))


@dataclass(frozen=True)
class McRank:
    """McRank: the expected gain under class probabilities of boosted trees.

    ``posterior="label"`` boosts p(label) by multinomial cross entropy; ``"above"`` boosts each p(label > ℓ)
    by binary cross entropy, which knows that labels are ordered. With validation data, boosting stops
    ``patience`` rounds after the best measure. Li, Burges & Wu, NIPS 2007.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("mcrank", trees=5, min_leaf=1).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"
    summary: ClassVar[str] = "McRank: boosted trees for label probabilities, their expected gain"
    space: ClassVar[Space] = {
        "posterior": POSTERIORS,
        "leaves": Span(4, 63, log=True, whole=True),
        "rate": Span(0.01, 0.3, log=True),
        "min_leaf": Span(5, 100, log=True, whole=True),
    }

    posterior: str = "label"
    trees: int = 300
    leaves: int = 15
    rate: float = 0.05
    min_leaf: int = 20
    """Documents a leaf holds at least."""
    l2: float = 1.0
    patience: int = 50

    def __post_init__(self) -> None:
        check(self.posterior in POSTERIORS, "posterior", self.posterior, " or ".join(POSTERIORS))
        check(self.trees >= 1, "trees", self.trees, "at least 1")
        check(self.leaves >= 2, "leaves", self.leaves, "at least 2")
        check(self.rate > 0, "rate", self.rate, "above 0")
        check(self.min_leaf >= 1, "min_leaf", self.min_leaf, "at least 1")
        check(self.l2 >= 0, "l2", self.l2, "0 or more")

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The trees, and the trace of the measure on validation (or else training) data."""
        labels_only(job, "mcrank")
        grades = grades_of(job.train)
        weights = np.repeat(job.query_weights, job.train.lengths)
        classes = Classes.of(grades[weights > 0], job.convention)
        if len(classes) < 2:
            return Linear(np.zeros(job.train.n_features)), []
        boosters = self._boosters(job, classes.index(grades), len(classes), weights)
        judged = worst_ties(job.train if job.valid is None else job.valid)
        measured = Measured.of(judged, job.metric, job.convention)
        trace = Trace(self.trees, patience=self.patience if job.valid else None, larger_is_better=True)
        columns = len(classes) if self.posterior == "label" else len(classes) - 1
        raw = np.zeros((len(judged), columns))
        going = trace.go_on(measured.mean(expected_gain(raw, classes.gains, self.posterior)))
        while going:
            finished = [booster.update() for booster in boosters]
            if all(finished):
                trace.reason = "settled"
                break
            raw = raw + _latest(boosters, judged, trace.steps, self.posterior)
            going = trace.go_on(measured.mean(expected_gain(raw, classes.gains, self.posterior)))
            job.report("measure", trace.steps, self.trees, trace.values[-1])
        kept = max(trace.best_step if job.valid else trace.steps, 1)
        texts = tuple(booster.model_to_string(num_iteration=kept) for booster in boosters)
        return ClassTrees(texts, classes.gains, self.posterior), [trace]

    def _boosters(self, job: Job, own: Any, classes: int, weights: Floats) -> list[Any]:
        import lightgbm

        shared = {
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": self.min_leaf,
            "lambda_l2": self.l2,
            "boost_from_average": False,  # so that the trees alone are the sum
            "seed": job.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": threads_for(len(own)),
            "verbosity": -1,
        }
        if self.posterior == "label":
            problems = [(own, {"objective": "multiclass", "num_class": classes})]
        else:
            problems = [((own > cut).astype(int), {"objective": "binary"}) for cut in range(classes - 1)]
        rows = weights > 0
        X, heavy = job.train.X[rows], weights[rows]
        binning = {"min_data_in_bin": 1, "verbosity": -1}  # else very small data has nothing to split by
        return [
            lightgbm.Booster(
                {**shared, **objective}, lightgbm.Dataset(X, target[rows], weight=heavy, params=binning)
            )
            for target, objective in problems
        ]


def _latest(boosters: Sequence[Any], data: Dataset, round_number: int, posterior: str) -> Floats:
    """What the latest trees add to the sums."""
    threads = threads_for(len(data))
    parts = [
        booster.predict(
            data.X, start_iteration=round_number, num_iteration=1, raw_score=True, num_threads=threads
        )
        for booster in boosters
    ]
    return np.asarray(parts[0] if posterior == "label" else np.column_stack(parts), np.float64)
