"""Training the parts of a mixture: classifiers and rankers, on all queries but those that calibrate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace
from topkit.data import Dataset, InputError, normalise
from topkit.metrics.compiled import worst_ties
from topkit.rankers.contract import Job
from topkit.rankers.ensemble.mixture import Source
from topkit.rankers.multiclass.adaboost import Plan, boost, start_weights
from topkit.rankers.multiclass.classes import Classes, grades_of, split_queries
from topkit.rankers.multiclass.svm import svm_path
from topkit.scorers import Floats

Ints = NDArray[np.int64]

BOOSTING_FEATURES = "min-max"
SVM_FEATURES = "z-score"
"""Features within their query, as each classifier likes them."""


@dataclass(frozen=True)
class Trained:
    """A source, the classes it tells apart (or that its scores are calibrated to), and how training went."""

    source: Source
    classes: Classes
    traces: list[Trace]


@dataclass(frozen=True)
class Workshop:
    """A job cut up for mixing: queries to train by, queries to calibrate by, data to measure by, classes."""

    job: Job
    grades: Floats
    """The grade of each training document."""
    classes: Classes
    trainers: Ints
    """Queries of the training data that classifiers are trained on."""
    holders: Ints
    """Queries of the training data that calibrations are fitted to."""
    _views: dict[tuple[str, str], Dataset] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, job: Job, share: float) -> Workshop:
        """Hold back this share of the training queries (of weight above 0) for calibration."""
        grades = grades_of(job.train)
        weighty = np.repeat(job.query_weights, job.train.lengths) > 0
        classes = Classes.of(grades[weighty], job.convention)
        trainers, holders = split_queries(job.train, job.query_weights, share, job.seed)
        return cls(job, grades, classes, trainers, holders)

    def view(self, part: str, normalisation: str = "none") -> Dataset:
        """The part to ``train``, ``calibrate`` or ``measure`` by, with features prepared this way.

        Without validation data the calibration queries serve for measuring too. Equal scores count as
        ordered badly there, so that a member which says nothing is worth nothing.
        """
        key = (part, normalisation)
        if key not in self._views:
            if normalisation != "none":
                data = normalise(self.view(part), normalisation)
            elif part == "measure" and self.job.valid is not None:
                data = worst_ties(self.job.valid)
            else:
                data = self.job.train.select(self.trainers if part == "train" else self.holders)
                data = worst_ties(data) if part == "measure" else data
            self._views[key] = data
        return self._views[key]

    def grades_in(self, queries: Ints) -> Floats:
        """The grades of the documents of these training queries."""
        ptr = self.job.train.ptr
        return np.concatenate([self.grades[ptr[q] : ptr[q + 1]] for q in queries])

    def weights_in(self, queries: Ints) -> Floats:
        """The weight of each document of these training queries: that of its query."""
        return np.repeat(self.job.query_weights[queries], self.job.train.lengths[queries])

    def grouped(self) -> list[Classes]:
        """The classes, merged to two at each cut: easier problems that err in other ways."""
        counts = np.bincount(self.classes.index(self.grades), minlength=len(self.classes)).tolist()
        return [self.classes.merged(cut, counts) for cut in range(len(self.classes) - 1)]


def train_boosted(shop: Workshop, classes: Classes, plan: Plan, stages: Sequence[int]) -> Trained:
    """AdaBoost.MH by a plan, to be used after each of these rounds (or after all it had)."""
    own = classes.index(shop.grades_in(shop.trainers))
    signed = start_weights(own, len(classes), shop.weights_in(shop.trainers))
    data = shop.view("train", BOOSTING_FEATURES)
    model, trace = boost(data, signed, plan, shop.job.seed, shop.job.report)
    reached = tuple(sorted({min(stage, model.rounds) for stage in stages}))
    labels = tuple(f"T={stage}" for stage in reached)
    title = f"{plan}{_merging(shop, classes)}"
    return Trained(Source(title, BOOSTING_FEATURES, model, reached, classes.gains, labels), classes, [trace])


def train_svm(shop: Workshop, classes: Classes, strengths: Sequence[float]) -> Trained:
    """The Crammer–Singer machine for a path of penalties; documents of class ℓ weigh 2^ℓ, as in boosting."""
    own = classes.index(shop.grades_in(shop.trainers))
    weights = shop.weights_in(shop.trainers) * np.exp2(own)
    X = shop.view("train", SVM_FEATURES).X
    model, traces = svm_path(X, own, len(classes), weights, strengths, shop.job.seed, shop.job.report)
    labels = tuple(f"C={strength / weights.sum():.1e}" for strength in model.strengths)
    title = f"svm{_merging(shop, classes)}"
    stages = tuple(range(1, model.rounds + 1))
    return Trained(Source(title, SVM_FEATURES, model, stages, classes.gains, labels), classes, traces)


def train_ranker(shop: Workshop, name: str) -> Trained:
    """Another ranker with its usual settings, as a source of one score."""
    from topkit.rankers.registry import ranker  # the registry knows this room, so not before

    job = shop.job
    made = ranker(name, metric=job.metric, convention=job.convention, seed=job.seed)
    weights = job.query_weights[shop.trainers]
    made.fit(shop.view("train"), job.valid, weights=weights, report=job.report)
    if made.preparation is None or not hasattr(made.model, "score"):
        raise InputError(f"the ranker {name!r} has an order but no scores to mix", "choose another member")
    source = Source(name, made.preparation.normalisation, made.model, (1,), np.empty(0), ("",))
    return Trained(source, shop.classes, made.traces)


def _merging(shop: Workshop, classes: Classes) -> str:
    return "" if len(classes) == len(shop.classes) else f", grade > {classes.cuts[0]:g}"
