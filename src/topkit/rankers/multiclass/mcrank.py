"""McRank: boosted trees estimate the probability of each label; documents are ranked by expected gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from topkit.compute import Floats, Ints, Trace
from topkit.data import Dataset
from topkit.data.settings import Setting, Span, check_fields
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.classes import Classes, grades_of
from topkit.scorers import Job, Linear, Model, Parts, ScoreModel, Trees
from topkit.scorers.trees import threads_for

POSTERIORS = ("label", "above")
"""Estimated probabilities: p(label), or p(label > ℓ) for each ℓ."""


@dataclass(frozen=True)
class ClassTrees(ScoreModel):
    """Trees as LightGBM text: one text for p(label), or one text for each p(label > ℓ)."""

    kind: ClassVar[str] = "class-trees"
    requires: ClassVar[tuple[str, ...]] = ("lightgbm",)
    texts: tuple[str, ...]
    gains: Floats
    posterior: str

    @cached_property
    def boosters(self) -> list[Any]:
        """LightGBM's boosters, loaded once."""
        return [Trees(text).booster for text in self.texts]

    def raw(self, data: Dataset) -> Floats:
        """The sums of trees: documents × labels, or documents × (labels − 1) for p(label > ℓ)."""
        return _raw_sums(self.boosters, data, self.posterior)

    def score(self, data: Dataset) -> Floats:
        """The expected gain of each document."""
        return expected_gain(self.raw(data), self.gains, self.posterior)

    def probabilities(self, data: Dataset) -> Floats:
        """Class probabilities: documents × classes; from p(label > ℓ) by differences, clipped at 0."""
        raw = self.raw(data)
        if self.posterior == "label":
            return softmax(raw)
        above = np.minimum.accumulate(_logistic(raw), axis=1)
        edges = np.hstack([np.ones((len(raw), 1)), above, np.zeros((len(raw), 1))])
        shares: Floats = edges[:, :-1] - edges[:, 1:]
        return shares

    def parts(self) -> Parts:
        texts = {f"trees{i}": text for i, text in enumerate(self.texts)}
        values = {"texts": len(self.texts), "posterior": self.posterior}
        return Parts(values, {"gains": self.gains}, texts)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        count = parts.count("texts", 1, len(parts.texts))
        texts = tuple(parts.texts[f"trees{i}"] for i in range(count))
        posterior = parts.values["posterior"]
        if posterior not in POSTERIORS:
            raise ValueError(f"unknown posterior {posterior!r}")
        model = cls(texts, parts.floats("gains"), posterior)
        sums = sum(Trees(text).checked.classes for text in texts)
        expected = len(model.gains) if posterior == "label" else len(model.gains) - 1
        if sums != expected or (count != 1 if posterior == "label" else count != expected):
            raise ValueError(f"the trees have {sums} sums, the labels need {expected}")
        _ = model.boosters
        return model

    def check_features(self, features: int) -> None:
        for text in self.texts:
            Trees(text).check_features(features)


def softmax(raw: Floats) -> Floats:
    """exp(raw) of each row, normalised to sum 1."""
    parts = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares: Floats = parts / parts.sum(axis=1, keepdims=True)
    return shares


def _logistic(raw: Floats) -> Floats:
    """1/(1 + exp(−raw)), without overflow."""
    probabilities: Floats = 1.0 / (1.0 + np.exp(np.clip(-raw, -700.0, 700.0)))
    return probabilities


def expected_gain(raw: Floats, gains: Floats, posterior: str) -> Floats:
    """Σ gain·p(label), or the same sum as gain₀ + Σ_ℓ (gain_ℓ₊₁ − gain_ℓ)·p(label > ℓ).

    >>> expected_gain(np.log([[0.5, 0.3, 0.2]]), np.array([0.0, 1.0, 3.0]), "label").round(4).tolist()
    [0.9]
    >>> odds = np.log([[0.5 / 0.5, 0.2 / 0.8]])
    >>> expected_gain(odds, np.array([0.0, 1.0, 3.0]), "above").round(4).tolist()
    [0.9]
    """
    if posterior == "label":
        return np.asarray((softmax(raw) * gains).sum(axis=1))
    return np.asarray(gains[0] + (_logistic(raw) * np.diff(gains)).sum(axis=1))


@dataclass(frozen=True)
class McRank:
    """McRank: the expected gain under class probabilities of boosted trees.

    ``posterior="label"`` boosts p(label) by multinomial cross entropy; ``"above"`` boosts each p(label > ℓ)
    by binary cross entropy, which uses the order of the labels. With validation data, boosting stops
    ``patience`` rounds after the best value of the metric. Li, Burges & Wu, NIPS 2007.

    Use it if you need the probability of each grade as well as an order. Not for small data: it trains one
    tree ensemble per grade.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("mcrank", trees=5, min_leaf=1).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"
    summary: ClassVar[str] = "McRank: boosted trees for label probabilities, their expected gain"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)

    posterior: Annotated[
        str,
        Setting(
            "Probabilities to estimate: of each label, or of each label > ℓ.",
            choices=POSTERIORS,
            search=POSTERIORS,
        ),
    ] = "label"
    trees: Annotated[int, Setting("Rounds of boosting.", low=1)] = 300
    leaves: Annotated[int, Setting("Leaves per tree.", low=2, search=Span(4, 63, log=True, whole=True))] = 15
    rate: Annotated[float, Setting("Learning rate.", above=0, search=Span(0.01, 0.3, log=True))] = 0.05
    min_leaf: Annotated[
        int,
        Setting("Smallest number of documents in a leaf.", low=1, search=Span(5, 100, log=True, whole=True)),
    ] = 20
    l2: Annotated[float, Setting("Penalty on leaf values.", low=0)] = 1.0
    patience: Annotated[
        int, Setting("Rounds without a better metric on validation data before boosting stops.", low=1)
    ] = 50

    def __post_init__(self) -> None:
        check_fields(self)

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The trees, and the trace of the metric on the validation data, or on the training data without."""
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
            raw = raw + _raw_sums(
                boosters, judged, self.posterior, start_iteration=trace.steps, num_iteration=1
            )
            going = trace.go_on(measured.mean(expected_gain(raw, classes.gains, self.posterior)))
            job.report("measure", trace.steps, self.trees, trace.values[-1])
        kept = max(trace.best_step if job.valid else trace.steps, 1)
        texts = tuple(booster.model_to_string(num_iteration=kept) for booster in boosters)
        return ClassTrees(texts, classes.gains, self.posterior), [trace]

    def _boosters(self, job: Job, targets: Ints, classes: int, weights: Floats) -> list[Any]:
        import lightgbm

        shared = {
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": self.min_leaf,
            "lambda_l2": self.l2,
            "boost_from_average": False,  # the score must be the sum of the trees alone
            "seed": job.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": threads_for(len(targets)),
            "verbosity": -1,
        }
        if self.posterior == "label":
            problems = [(targets, {"objective": "multiclass", "num_class": classes})]
        else:
            problems = [((targets > cut).astype(int), {"objective": "binary"}) for cut in range(classes - 1)]
        rows = weights > 0
        X, row_weights = job.train.X[rows], weights[rows]
        # otherwise very small data has no splits
        binning = {"min_data_in_leaf": self.min_leaf, "min_data_in_bin": 1, "verbosity": -1}
        return [
            lightgbm.Booster(
                {**shared, **objective},
                lightgbm.Dataset(X, target[rows], weight=row_weights, params=binning),
            )
            for target, objective in problems
        ]


def _raw_sums(boosters: Sequence[Any], data: Dataset, posterior: str, **trees: int) -> Floats:
    """The sums of trees: documents × columns; ``trees`` limits them to some iterations."""
    threads = threads_for(len(data))
    parts = [booster.predict(data.X, raw_score=True, num_threads=threads, **trees) for booster in boosters]
    return np.asarray(parts[0] if posterior == "label" else np.column_stack(parts), np.float64)
