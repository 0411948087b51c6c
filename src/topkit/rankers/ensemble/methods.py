"""The rankers of this room: a calibrated AdaBoost.MH, a calibrated multi-class SVM, and tune and mix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from topkit.compute import Trace, one_blas_thread, thread_map
from topkit.rankers.contract import Job
from topkit.rankers.ensemble.calibration import CALIBRATIONS, check_calibrations
from topkit.rankers.ensemble.members import measure_members
from topkit.rankers.ensemble.mixture import Mixture
from topkit.rankers.ensemble.weights import VARIANTS
from topkit.rankers.ensemble.workshop import Trained, Workshop, train_boosted, train_ranker, train_svm
from topkit.rankers.labels import labels_only
from topkit.rankers.multiclass.adaboost import FORMS, Plan
from topkit.rankers.multiclass.classes import Classes
from topkit.rankers.multiclass.svm import STRENGTHS
from topkit.scorers import Linear, Model, Space, Span, check

STAGES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
"""Rounds after which a boosted classifier joins the mixture."""
USUAL_STRENGTH = 100.0
"""C times the weight of the documents, for a machine without data to choose by."""


def fine_stages(rounds: int) -> tuple[int, ...]:
    """Rounds to choose from: every one at first, then each a tenth more than the one before."""
    found = [1]
    while found[-1] < rounds:
        found.append(min(max(found[-1] + 1, round(found[-1] * 1.1)), rounds))
    return tuple(found)


@dataclass(frozen=True)
class AdaBoostMH:
    """AdaBoost.MH over relevance classes, calibrated: the score is the gain that is expected.

    Each round adds α·h, h a Hamming tree of ``size`` leaves or a product of ``size`` thresholds with ±1 for
    each class; 2 leaves or 1 term make a stump. Documents start with weight 2^label. ``search`` says whether
    every choice of a feature is exhaustive (``full``) or drawn by Exp3.G (``bandit``). ``share`` of the
    training queries is held back for the calibration; validation data chooses the rounds, without training
    again. Busa-Fekete et al., Machine Learning 2013.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.3], [0.1, 0.2], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("adaboost-mh", rounds=5).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"  # its source prepares them
    summary: ClassVar[str] = "AdaBoost.MH over relevance classes, calibrated"
    space: ClassVar[Space] = {
        "form": FORMS,
        "size": Span(2, 64, log=True, whole=True),
        "calibration": CALIBRATIONS,
    }

    form: str = "tree"
    size: int = 8
    rounds: int = 200
    search: str = "full"
    calibration: str = "log-sigmoid"
    share: float = 0.2

    def __post_init__(self) -> None:
        check(self.form in FORMS, "form", self.form, " or ".join(FORMS))
        check(
            self.size >= (2 if self.form == "tree" else 1), "size", self.size, "2 leaves or 1 term at least"
        )
        check(self.rounds >= 1, "rounds", self.rounds, "at least 1")
        check_common(self.search, self.share)
        check_calibrations([self.calibration])

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The calibrated classifier after its best round, and the trace of the exponential loss."""
        labels_only(job, "adaboost-mh")
        plan = Plan(self.form, self.size, self.rounds, self.search == "bandit")
        stages = (self.rounds,) if job.valid is None else fine_stages(self.rounds)
        shop = Workshop.of(job, self.share)
        return best_member(shop, partial(train_boosted, plan=plan, stages=stages), self.calibration)


@dataclass(frozen=True)
class McSVM:
    """The linear multi-class SVM of Crammer and Singer over relevance classes, calibrated.

    ½‖M‖² + C Σ 2^label·hinge. With ``C=None`` and validation data a path of C is fitted with warm starts and
    the best measure kept; without, C is 100 over the weight of the documents. ``share`` of the training
    queries is held back for the calibration.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("mcsvm", C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"  # its source prepares them
    summary: ClassVar[str] = "Crammer–Singer SVM over relevance classes, calibrated"
    space: ClassVar[Space] = {"C": Span(1e-6, 10.0, log=True), "calibration": CALIBRATIONS}

    C: float | None = None
    calibration: str = "log-sigmoid"
    share: float = 0.2

    def __post_init__(self) -> None:
        check(self.C is None or self.C > 0, "C", self.C, "above 0, or none to choose it")
        check_common("full", self.share)
        check_calibrations([self.calibration])

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The calibrated machine with the best penalty, and the trace of each fit's largest violation."""
        labels_only(job, "mcsvm")
        shop = Workshop.of(job, self.share)
        strengths: Sequence[float] = STRENGTHS if job.valid is not None else (USUAL_STRENGTH,)
        if self.C is not None:
            own = shop.classes.index(shop.grades_in(shop.trainers))
            strengths = (self.C * float(shop.weights_in(shop.trainers) @ np.exp2(own)),)
        return best_member(shop, partial(train_svm, strengths=strengths), self.calibration)


def best_member(
    shop: Workshop, fit: Callable[[Workshop, Classes], Trained], calibration: str
) -> tuple[Model, list[Trace]]:
    """One classifier with one calibration, at the stage that measures best, and nothing else."""
    if len(shop.classes) < 2:
        return Linear(np.zeros(shop.job.train.n_features)), []
    trained = fit(shop, shop.classes)
    mixture = measure_members(shop, [trained], [calibration]).weighed("one-best")
    return mixture.only_used(), trained.traces


@dataclass(frozen=True)
class TuneAndMix:
    """Many classifiers, each calibrated in 18 ways, mixed with weights exp(c·measure).

    Members: AdaBoost.MH with ``trees`` (numbers of leaves) and ``products`` (numbers of terms) after 5, 10,
    20, … ``rounds``; the Crammer–Singer machine for a path of C (``svm``); and other ``rankers`` by name,
    whose score is calibrated by regression. ``grouping`` adds every classifier again for the labels merged to
    two classes at each cut. ``share`` of the training queries is held back for calibration. The measure of
    each member on the validation data (else on the calibration queries) is its ω in exp(c·ω); c in 0..200 is
    chosen there too. ``mix``: ``exp`` takes all, ``exp-cpc`` the class probabilities, ``exp-rbc`` the
    regressions, ``one-best`` the best member alone. Busa-Fekete et al., Machine Learning 2013.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.3], [0.1, 0.2], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("tune-and-mix", rounds=5, rankers=()).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"  # every source prepares them as it likes
    summary: ClassVar[str] = "calibrated classifiers and rankers, exponentially weighted"
    space: ClassVar[Space] = {}

    trees: tuple[int, ...] = (8, 64)
    products: tuple[int, ...] = (3, 10)
    rounds: int = 100
    search: str = "full"
    svm: bool = True
    rankers: tuple[str, ...] = ("ranksvm", "listnet", "lambdamart", "mcrank")
    calibrations: tuple[str, ...] = CALIBRATIONS
    grouping: bool = False
    mix: str = "exp"
    share: float = 0.2

    def __post_init__(self) -> None:
        for name in ("trees", "products", "rankers", "calibrations"):
            object.__setattr__(self, name, as_tuple(getattr(self, name)))
        check(all(size >= 2 for size in self.trees), "trees", self.trees, "numbers of leaves, at least 2")
        check(all(size >= 1 for size in self.products), "products", self.products, "numbers of terms")
        check(self.rounds >= 1, "rounds", self.rounds, "at least 1")
        check(self.mix in VARIANTS, "mix", self.mix, f"one of {', '.join(VARIANTS)}")
        check_common(self.search, self.share)
        check_calibrations(self.calibrations)
        something = bool(self.trees or self.products or self.svm or self.rankers) and bool(self.calibrations)
        check(something, "trees, products, svm, rankers and calibrations", "", "at least one member")

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The mixture, and the traces of all that was trained for it."""
        labels_only(job, "tune-and-mix")
        shop = Workshop.of(job, self.share)
        if len(shop.classes) < 2:
            return Linear(np.zeros(job.train.n_features)), []
        trained = self.trained(shop)
        mixture: Mixture = measure_members(shop, trained, self.calibrations).weighed(self.mix)
        return mixture, [trace for one in trained for trace in one.traces]

    def trained(self, shop: Workshop) -> list[Trained]:
        """Every source, in parallel."""
        plans = [("product", size) for size in sorted(self.products, reverse=True)]
        plans += [("tree", size) for size in sorted(self.trees, reverse=True)]
        stages = (*(stage for stage in STAGES if stage < self.rounds), self.rounds)
        work: list[Callable[[], Trained]] = []
        for classes in [shop.classes, *(shop.grouped() if self.grouping and len(shop.classes) > 2 else [])]:
            if self.svm:
                work.append(partial(train_svm, shop, classes, STRENGTHS))
            for form, size in plans:
                plan = Plan(form, size, self.rounds, self.search == "bandit")
                work.append(partial(train_boosted, shop, classes, plan, stages))
        work += [partial(train_ranker, shop, name) for name in self.rankers]
        return thread_map(lambda task: task(), work)


def check_common(search: str, share: float) -> None:
    """Raise unless the settings that all three share are fine."""
    check(search in ("full", "bandit"), "search", search, "full or bandit")
    check(0 < share < 1, "share", share, "between 0 and 1")


def as_tuple(given: Any) -> tuple[Any, ...]:
    """A list of settings as typed: one value stands for a list of one, an empty word for none."""
    if isinstance(given, (str, int)):
        return () if given == "" else (given,)
    return tuple(given)
