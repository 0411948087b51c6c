"""The ranker mcsvm: the multi-class SVM of Crammer and Singer over relevance classes, calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Trace, one_blas_thread
from topkit.data.normalise import RAW
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.classes import Classes
from topkit.rankers.mixture.members import Trained, best_member
from topkit.rankers.mixture.mixture import Source
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.multiclass.adaboost_mh import Calibration, Share
from topkit.rankers.multiclass.svm.solver import STRENGTHS, svm_path
from topkit.scorers import Job, Model

FEATURES = "z-score"
"""Default normalisation of features: the penalty then treats all weights equally."""
SPAN = Span(1e-6, 10.0, log=True)
"""What a search over C may try."""
DEFAULT_STRENGTH = 100.0
"""C times the total weight of the documents, if there is no validation data to choose it."""


@dataclass(frozen=True)
class McSVM:
    """The linear multi-class SVM of Crammer and Singer over relevance classes, calibrated.

    It minimises ½‖M‖² + C Σ 2^label·hinge. With ``C=None`` and validation data a path of C is fitted with
    warm starts and the one with the best metric is kept; without validation data C is 100 over the total
    weight of the documents.

    Use it for a few grades with a linear effect; it was the strongest single member of the mixture on
    MQ2008. Not for full orders: labels are classes here.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("mcsvm", C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = FEATURES
    summary: ClassVar[str] = "Crammer–Singer SVM over relevance classes, calibrated"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)

    C: Annotated[
        float | None,
        Setting("Weight of the hinge losses; none selects it on validation data.", above=0, search=SPAN),
    ] = None
    calibration: Calibration = "log-sigmoid"
    share: Share = 0.2

    def __post_init__(self) -> None:
        check_fields(self)

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The calibrated machine with the best penalty, and the trace of each fit's largest violation."""
        split = CalibrationSplit.of(job, self.share)
        strengths: Sequence[float] = STRENGTHS if job.valid is not None else (DEFAULT_STRENGTH,)
        if self.C is not None:
            targets = split.classes.index(split.grades_in(split.training_queries))
            strengths = (self.C * float(split.weights_in(split.training_queries) @ np.exp2(targets)),)
        return best_member(split, partial(train_svm, strengths=strengths), self.calibration)


def train_svm(
    split: CalibrationSplit, classes: Classes, strengths: Sequence[float], normalisation: str = RAW
) -> Trained:
    """The machine for a path of penalties; documents of class ℓ weigh 2^ℓ, as in boosting."""
    targets = classes.index(split.grades_in(split.training_queries))
    weights = split.weights_in(split.training_queries) * np.exp2(targets)
    X = split.view("train", normalisation).X
    model, traces = svm_path(X, targets, len(classes), weights, strengths, split.job.seed, split.job.report)
    labels = tuple(f"C={strength / weights.sum():.1e}" for strength in model.strengths)
    title = f"svm{split.grouping(classes)}"
    stages = tuple(range(1, model.rounds + 1))
    return Trained(Source(title, normalisation, model, stages, classes.gains, labels), classes, traces)
