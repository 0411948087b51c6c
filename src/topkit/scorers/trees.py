"""The tree scorer: LightGBM boosts any loss by its gradient and curvature, and stops by any metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from topkit.compute import Floats, Trace, thread_count
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting, Span, check_fields
from topkit.scorers.adam import report_epoch
from topkit.scorers.model import HasCurvature, Job, Parts, ScoreModel
from topkit.scorers.tree_text import TreeText, checked_trees

SMALL = 20_000
"""Up to this many documents, one thread grows the trees: more would mostly wait for each other."""
LEAST_CURVATURE = 1e-7
"""The least sum of curvature in a leaf, in units of the mean per document. LightGBM estimates the number of
documents on each side of a split from the curvature. If that is very uneven, a side without documents, whose
curvature is a rounding error, may appear to have some, and LightGBM fails."""


@dataclass(frozen=True)
class Trees(ScoreModel):
    """A sum of regression trees, in LightGBM's text format."""

    kind: ClassVar[str] = "trees"
    requires: ClassVar[tuple[str, ...]] = ("lightgbm",)
    text: str

    @cached_property
    def checked(self) -> TreeText:
        """The trees after a check of every number; ValueError if the text is inconsistent."""
        return checked_trees(self.text)

    @cached_property
    def booster(self) -> Any:
        import lightgbm

        try:
            return lightgbm.Booster(model_str=self.checked.text)
        except lightgbm.basic.LightGBMError as error:
            raise ValueError(f"LightGBM cannot read the trees: {error}") from None

    def score(self, data: Dataset) -> Floats:
        scores = self.booster.predict(data.X, raw_score=True, num_threads=threads_for(len(data)))
        return np.asarray(scores, np.float64)

    def contributions(self, data: Dataset) -> Floats:
        """The SHAP value of each feature, computed exactly by LightGBM's TreeSHAP."""
        shares = self.booster.predict(data.X, pred_contrib=True, num_threads=threads_for(len(data)))
        return np.ascontiguousarray(np.asarray(shares, np.float64)[:, :-1])  # the last column is the mean

    def weights_of_features(self, features: int) -> tuple[str, Floats]:
        return "gain of its splits", np.asarray(self.booster.feature_importance("gain"), np.float64)

    def parts(self) -> Parts:
        return Parts(texts={"trees": self.text})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        model = cls(parts.texts["trees"])
        if model.checked.classes != 1:
            raise ValueError(f"expected trees with one score, got {model.checked.classes}")
        _ = model.booster
        return model

    def check_features(self, features: int) -> None:
        if self.checked.features != features:
            raise ValueError(f"the trees are for {self.checked.features} features, the model has {features}")


@dataclass(frozen=True)
class TreeScorer:
    """Boosted trees: each tree is a Newton step on the loss, from gradient and curvature of each document.

    With validation data, boosting stops ``patience`` trees after the best metric and keeps the best; without
    it, all ``trees`` are kept. The trees handle missing features.
    """

    normalisation: ClassVar[str] = "none"

    trees: Annotated[int, Setting("Maximum number of trees.", low=1)] = 500
    leaves: Annotated[
        int, Setting("Maximum leaves per tree.", low=2, search=Span(4, 63, log=True, whole=True))
    ] = 15
    rate: Annotated[
        float, Setting("Learning rate: the factor on each tree.", above=0, search=Span(0.01, 0.3, log=True))
    ] = 0.05
    min_leaf: Annotated[
        int, Setting("Minimum documents per leaf.", low=1, search=Span(5, 100, log=True, whole=True))
    ] = 20
    l2: Annotated[
        float,
        Setting(
            "Penalty on leaf values, in units of the mean curvature per document.",
            low=0,
            search=Span(1e-3, 100.0, log=True),
        ),
    ] = 1.0
    bagging: Annotated[float, Setting("Share of documents sampled for each tree.", above=0, high=1)] = 1.0
    feature_share: Annotated[float, Setting("Share of features sampled for each tree.", above=0, high=1)] = (
        1.0
    )
    patience: Annotated[int, Setting("Trees without improvement before boosting stops.", low=1)] = 50

    def __post_init__(self) -> None:
        check_fields(self)

    def fit(self, job: Job, objective: HasCurvature) -> tuple[Trees, list[Trace]]:
        """The boosted trees, and the trace of the metric (of minus the mean loss without validation data)."""
        import lightgbm

        train, valid = job.train, job.valid
        settings = {
            **settings_for(self, job.seed),
            "objective": "none",
            "metric": "none",
            "num_threads": threads_for(len(train)),
        }
        binning = binning_for(self.min_leaf)
        data = lightgbm.Dataset(train.X, label=np.zeros(len(train)), params=binning, free_raw_data=False)
        booster = lightgbm.Booster(settings, data)
        if valid is not None:
            booster.add_valid(
                lightgbm.Dataset(valid.X, label=np.zeros(len(valid)), reference=data, params=data.params),
                "validation",
            )
        trace = Trace(self.trees, patience=None if valid is None else self.patience, larger_is_better=True)

        def evaluate(loss: float) -> float:
            if valid is None:
                return -loss / job.total_weight
            return job.judge(_scores(booster.eval_valid) if trace.values else np.zeros(len(valid)))

        loss, gradient, curvature = objective.with_curvature(np.zeros(len(train)))
        going = trace.go_on(evaluate(loss))
        while going:
            if not _grow_tree(booster, gradient, curvature):
                trace.reason = "settled"
                break
            loss, gradient, curvature = objective.with_curvature(_scores(booster.eval_train))
            going = trace.go_on(evaluate(loss))
            report_epoch(job, trace)
        kept = booster.current_iteration() if valid is None else trace.best_step
        return Trees(booster.model_to_string(num_iteration=max(kept, 1))), [trace]


def _grow_tree(booster: Any, gradient: Floats, curvature: Floats) -> bool:
    """Add one tree; False if no split lowers the loss."""
    import lightgbm

    unit = float(curvature.mean()) or 1.0  # gives the penalty the same meaning for every loss
    try:
        return not booster.update(fobj=lambda _scores, _data: (gradient / unit, curvature / unit))
    except lightgbm.basic.LightGBMError as error:
        if "num_features" not in str(error):
            raise
        raise InputError(
            f"trees cannot split any feature of the {len(gradient)} training documents",
            "provide more documents, features that vary, or another scorer",
        ) from None


def settings_for(scorer: TreeScorer, seed: int) -> dict[str, Any]:
    """The settings under LightGBM's names, without those that depend on where the trees are grown."""
    return {
        "num_leaves": scorer.leaves,
        "learning_rate": scorer.rate,
        "min_data_in_leaf": scorer.min_leaf,
        "min_sum_hessian_in_leaf": LEAST_CURVATURE,
        "lambda_l2": scorer.l2,
        "bagging_fraction": scorer.bagging,
        "bagging_freq": 1 if scorer.bagging < 1 else 0,
        "feature_fraction": scorer.feature_share,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }


def binning_for(min_leaf: int) -> dict[str, Any]:
    """How LightGBM bins features.

    It drops features that cannot be split into two leaves of ``min_leaf`` documents. Its default of 20 would
    drop all features of very small data.
    """
    return {"min_data_in_leaf": min_leaf, "min_data_in_bin": min(min_leaf, 3), "verbosity": -1}


def threads_for(rows: int) -> int:
    """Threads for LightGBM: one for few rows."""
    return thread_count() if rows > SMALL else 1


def _scores(evaluate: Callable[..., object]) -> Floats:
    """The scores that a booster keeps of its training or validation data, which saves predicting them.

    ``evaluate`` is its method ``eval_train`` or ``eval_valid``, which passes them to a metric.
    """
    kept: list[Floats] = []

    def metric(scores: Floats, _data: object) -> tuple[str, float, bool]:
        kept.append(scores.copy())  # LightGBM writes the next scores to the same array
        return "scores", 0.0, True

    evaluate(feval=metric)
    return kept[0]
