"""The ranker adaboost-mh: AdaBoost.MH over relevance classes, calibrated to expected gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from topkit.compute import Trace, one_blas_thread
from topkit.data import InputError
from topkit.data.normalise import RAW
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.classes import Classes
from topkit.rankers.mixture.calibration import CALIBRATIONS
from topkit.rankers.mixture.members import Trained, best_member
from topkit.rankers.mixture.mixture import Source
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.multiclass.adaboost import FORMS, Plan, boost, start_weights
from topkit.rankers.multiclass.bandit import DRAWS
from topkit.scorers import Job, Model

Search = Annotated[
    str,
    Setting(
        "Search of features: full tries all, bandit tries those that Exp3.G draws.",
        choices=("full", "bandit"),
    ),
]
Draws = Annotated[
    int,
    Setting("Features that the bandit draws for each split or term; 1 as in the paper.", low=1),
]
Calibration = Annotated[
    str,
    Setting("How class scores become expected gains.", choices=CALIBRATIONS, search=CALIBRATIONS),
]
Share = Annotated[
    float, Setting("Share of the training queries held back for calibration.", low=0.01, high=0.99)
]


@dataclass(frozen=True)
class AdaBoostMH:
    """AdaBoost.MH over relevance classes, calibrated: the score is the expected gain.

    Each round adds α·h, where h is a Hamming tree with ``size`` leaves or a product of ``size`` thresholds
    with ±1 for each class; 2 leaves or 1 term make a stump. Documents start with weight 2^label. Validation
    data chooses the number of rounds, without retraining. Busa-Fekete et al., Machine Learning 2013.

    Use it for a few grades and features with thresholds, or as a member of a mixture. Not for full orders:
    labels are classes here.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.3], [0.1, 0.2], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("adaboost-mh", rounds=5).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "none"
    summary: ClassVar[str] = "AdaBoost.MH over relevance classes, calibrated"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)

    form: Annotated[str, Setting("Form of the base classifiers.", choices=FORMS, search=FORMS)] = "tree"
    size: Annotated[
        int,
        Setting(
            "Leaves of a tree (at least 2), or terms of a product.",
            low=1,
            search=Span(2, 64, log=True, whole=True),
        ),
    ] = 8
    rounds: Annotated[int, Setting("Rounds of boosting.", low=1)] = 200
    search: Search = "full"
    draws: Draws = DRAWS
    calibration: Calibration = "log-sigmoid"
    share: Share = 0.2

    def __post_init__(self) -> None:
        check_fields(self)
        if self.form == "tree" and self.size < 2:
            raise InputError(f"size must be at least 2 leaves for form='tree', got {self.size}")

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The calibrated classifier after its best round, and the trace of the exponential loss."""
        plan = Plan(self.form, self.size, self.rounds, self.search == "bandit", self.draws)
        stages = (self.rounds,) if job.valid is None else fine_stages(self.rounds)
        split = CalibrationSplit.of(job, self.share)
        return best_member(split, partial(train_boosted, plan=plan, stages=stages), self.calibration)


def fine_stages(rounds: int) -> tuple[int, ...]:
    """Numbers of rounds to choose from: every number at first, then steps of a tenth."""
    stages = [1]
    while stages[-1] < rounds:
        stages.append(min(max(stages[-1] + 1, round(stages[-1] * 1.1)), rounds))
    return tuple(stages)


def train_boosted(split: CalibrationSplit, classes: Classes, plan: Plan, stages: Sequence[int]) -> Trained:
    """AdaBoost.MH by a plan, as a source at each of these rounds (or at its last round)."""
    targets = classes.index(split.grades_in(split.training_queries))
    signed = start_weights(targets, len(classes), split.weights_in(split.training_queries))
    data = split.view("train")
    model, trace = boost(data, signed, plan, split.job.seed, split.job.report)
    reached = tuple(sorted({min(stage, model.rounds) for stage in stages}))
    labels = tuple(f"T={stage}" for stage in reached)
    title = f"{plan}{split.grouping(classes)}"
    return Trained(Source(title, RAW, model, reached, classes.gains, labels), classes, [trace])
