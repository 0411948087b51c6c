"""Tune and mix: many classifiers and rankers, each calibrated in many ways, added up with weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Trace, one_blas_thread, thread_map
from topkit.data import InputError
from topkit.data.normalise import with_form
from topkit.data.settings import Setting, check_fields, lookup
from topkit.rankers.mixture.calibration import CALIBRATIONS
from topkit.rankers.mixture.members import Trained, measure_members, no_classes
from topkit.rankers.mixture.mixture import Mixture, Source
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.staged import RankerScores
from topkit.rankers.mixture.weights import VARIANTS
from topkit.rankers.multiclass.adaboost import Plan
from topkit.rankers.multiclass.adaboost_mh import Draws, Search, Share, train_boosted
from topkit.rankers.multiclass.bandit import DRAWS
from topkit.rankers.multiclass.mcsvm import FEATURES, train_svm
from topkit.rankers.multiclass.svm.solver import STRENGTHS
from topkit.rankers.names import RANKERS
from topkit.scorers import Job, Model, ScoreModel

STAGES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
"""Rounds after which a boosted classifier becomes a member: few, evenly spaced by factor."""
STAGE_CHOICES = ("all", "best")


@dataclass(frozen=True)
class TuneAndMix:
    """Many classifiers, each calibrated in 18 ways, mixed with weights exp(c·measure).

    Members: AdaBoost.MH with ``trees`` (numbers of leaves) and ``products`` (numbers of terms) after 5, 10,
    20, … ``rounds``; the Crammer–Singer machine for a path of C (``svm``); and other ``rankers`` by name,
    whose score is calibrated by regression. The metric of each member on the validation data (on the
    calibration queries without validation data) is the measure in exp(c·measure); c from 0 to 200 is also
    chosen there, and with ``stages="best"`` the number of rounds, the same for all boosted members.
    By default boosting sees raw features, the machine z-scores, and each ranker what it uses alone; a chosen
    ``normalise`` applies to all members. Busa-Fekete et al., Machine Learning 2013.

    Use it if quality counts more than training time and there are some hundred validation queries. Not with
    few queries: plain linear rankers were better on OHSUMED.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.3], [0.1, 0.2], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("tune-and-mix", rounds=5, rankers=()).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"  # by default each source normalises its own features
    summary: ClassVar[str] = "calibrated classifiers and rankers, exponentially weighted"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)

    trees: Annotated[tuple[int, ...], Setting("Leaves of the trees of AdaBoost.MH.", low=2)] = (
        8,
        64,
    )
    products: Annotated[tuple[int, ...], Setting("Terms of the products of AdaBoost.MH.", low=1)] = (
        3,
        10,
    )
    rounds: Annotated[int, Setting("Rounds of boosting.", low=1)] = 100
    search: Search = "full"
    draws: Draws = DRAWS
    stages: Annotated[
        str,
        Setting(
            "Boosted classifiers to mix: those of all stages (5, 10, 20, … rounds), or as in the paper those "
            "of the one number of rounds that is best on validation data.",
            choices=STAGE_CHOICES,
        ),
    ] = "all"
    svm: Annotated[bool, Setting("Whether to include the Crammer–Singer machine.")] = True
    rankers: Annotated[tuple[str, ...], Setting("Other rankers to include, with their default settings.")] = (
        "ranksvm",
        "listnet",
        "lambdamart",
        "mcrank",
    )
    calibrations: Annotated[
        tuple[str, ...], Setting("Calibrations of every classifier.", choices=CALIBRATIONS)
    ] = CALIBRATIONS
    grouping: Annotated[
        bool, Setting("Whether to add every classifier for the labels merged to two classes at each cut.")
    ] = False
    mix: Annotated[
        str,
        Setting(
            "Members to mix: exp takes all, exp-cpc the class probabilities, exp-rbc the regressions, "
            "one-best the best member only.",
            choices=tuple(VARIANTS),
        ),
    ] = "exp"
    share: Share = 0.2

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.calibrations or not (self.trees or self.products or self.svm or self.rankers):
            raise InputError(
                "the mixture has no members",
                "set at least one calibration and one of trees, products, svm and rankers",
            )

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The mixture, and the traces of all trained sources."""
        return self.mixed(CalibrationSplit.of(job, self.share), self.trained)

    def mixed(
        self, split: CalibrationSplit, train: Callable[[CalibrationSplit], list[Trained]]
    ) -> tuple[Model, list[Trace]]:
        """The mixture of the sources that ``train`` returns, and their traces."""
        if len(split.classes) < 2:
            return no_classes(split), []
        trained = train(split)
        measurement = measure_members(split, trained, self.calibrations)
        mixture: Mixture = measurement.weighed(self.mix, one_stage=self.stages == "best")
        return mixture, [trace for item in trained for trace in item.traces]

    def trained(self, split: CalibrationSplit) -> list[Trained]:
        """Every source, trained in parallel."""
        return thread_map(lambda task: task(), self.tasks(split))

    def tasks(self, split: CalibrationSplit) -> list[Callable[[], Trained]]:
        """The training of each source, in a fixed order; they are independent of each other."""
        plans = [("product", size) for size in sorted(self.products, reverse=True)]
        plans += [("tree", size) for size in sorted(self.trees, reverse=True)]
        stages = (*(stage for stage in STAGES if stage < self.rounds), self.rounds)
        grouped = split.grouped() if self.grouping and len(split.classes) > 2 else []
        tasks: list[Callable[[], Trained]] = []
        for classes in [split.classes, *grouped]:
            if self.svm:
                tasks.append(partial(train_svm, split, classes, STRENGTHS, split.normalisation(FEATURES)))
            for form, size in plans:
                plan = Plan(form, size, self.rounds, self.search == "bandit", self.draws)
                tasks.append(partial(train_boosted, split, classes, plan, stages))
        tasks += [partial(train_ranker, split, name) for name in self.rankers]
        return tasks


def train_ranker(split: CalibrationSplit, name: str) -> Trained:
    """Another ranker with its default settings, as a source with one score."""
    job, method = split.job, lookup(RANKERS, name, "ranker")()
    normalisation = split.normalisation(method.normalisation)
    part = replace(
        job,
        train=split.view("train", normalisation),
        valid=None if job.valid is None else with_form(job.valid, normalisation),
        weights=job.query_weights[split.training_queries],
    )
    model, traces = method.train(part)
    if not isinstance(model, ScoreModel):
        raise InputError(f"the ranker {name!r} has no scores to mix, only an order", "choose another member")
    source = Source(name, normalisation, RankerScores(model), (1,), np.empty(0), ("",))
    return Trained(source, split.classes, traces)
