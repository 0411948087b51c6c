"""The tree scorer: LightGBM boosts any loss of ours, by gradient and curvature, and stops by any measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from topkit.compute import Trace, thread_count
from topkit.data import Dataset, InputError
from topkit.scorers.model import Curved, Floats, Parts, Problem
from topkit.scorers.settings import Space, Span, check

SMALL = 20_000
"""Documents up to which trees are grown by one thread."""


@dataclass(frozen=True)
class Trees:
    """A sum of regression trees, as LightGBM's text."""

    kind: ClassVar[str] = "trees"
    text: str

    @cached_property
    def booster(self) -> Any:
        import lightgbm

        try:
            return lightgbm.Booster(model_str=self.text)
        except lightgbm.basic.LightGBMError as error:
            raise ValueError(f"LightGBM cannot read the trees: {error}") from None

    def score(self, data: Dataset) -> Floats:
        scores = self.booster.predict(data.X, raw_score=True, num_threads=threads_for(len(data)))
        return np.asarray(scores, np.float64)

    def parts(self) -> Parts:
        return Parts(texts={"trees": self.text})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        model = cls(parts.texts["trees"])
        _ = model.booster
        return model


@dataclass(frozen=True)
class TreeScorer:
    """Boosted trees: each tree is a Newton step on the loss, by gradient and curvature of every document.

    With validation data, boosting stops ``patience`` trees after the best measure and keeps the best; without
    it, all ``trees`` are kept. Missing features are handled by the trees.
    """

    normalisation: ClassVar[str] = "none"
    space: ClassVar[Space] = {
        "leaves": Span(4, 63, log=True, whole=True),
        "rate": Span(0.01, 0.3, log=True),
        "min_leaf": Span(5, 100, log=True, whole=True),
        "l2": Span(1e-3, 100.0, log=True),
    }

    trees: int = 500
    leaves: int = 15
    rate: float = 0.05
    min_leaf: int = 20
    """Documents a leaf holds at least."""
    l2: float = 1.0
    """Penalty on leaf values, in units of the mean curvature of a document."""
    bagging: float = 1.0
    """Share of documents drawn for each tree."""
    feature_share: float = 1.0
    """Share of features drawn for each tree."""
    patience: int = 50

    def __post_init__(self) -> None:
        check(self.trees >= 1, "trees", self.trees, "at least 1")
        check(self.leaves >= 2, "leaves", self.leaves, "at least 2")
        check(self.rate > 0, "rate", self.rate, "above 0")
        check(self.min_leaf >= 1, "min_leaf", self.min_leaf, "at least 1")
        check(self.l2 >= 0, "l2", self.l2, "0 or more")
        for name, share in (("bagging", self.bagging), ("feature_share", self.feature_share)):
            check(0 < share <= 1, name, share, "above 0 and at most 1")

    def fit(self, problem: Problem[Curved]) -> tuple[Trees, list[Trace]]:
        """The boosted trees, and the trace of the measure (or of the mean loss without validation data)."""
        import lightgbm

        train, valid, measure = problem.train, problem.valid, problem.measure
        threads = threads_for(len(train))
        settings = {**settings_for(self, problem.seed), "objective": "none", "num_threads": threads}
        data = lightgbm.Dataset(train.X, label=np.zeros(len(train)), free_raw_data=False)
        booster = lightgbm.Booster(settings, data)
        scores = np.zeros(len(train))
        valid_scores = np.zeros(len(valid) if valid is not None else 0)
        trace = Trace(self.trees, patience=self.patience if measure else None, larger_is_better=True)

        def judged(loss: float) -> float:
            return measure(valid_scores) if measure else -loss / problem.total_weight

        loss, gradient, curvature = problem.objective.with_curvature(scores)
        going = trace.go_on(judged(loss))
        while going:
            unit = float(curvature.mean()) or 1.0  # so that the penalty means the same for every loss
            try:
                finished = booster.update(fobj=lambda _s, _d, g=gradient / unit, h=curvature / unit: (g, h))
            except lightgbm.basic.LightGBMError as error:
                if "num_features" not in str(error):
                    raise
                raise InputError(
                    f"no feature of the {len(train)} training documents can be split for trees",
                    "give more documents, features that differ, or another scorer",
                ) from None
            if finished:
                trace.reason = "settled"
                break
            scores = _raw(booster, train, scores)
            if valid is not None:
                valid_scores = _raw(booster, valid, valid_scores)
            loss, gradient, curvature = problem.objective.with_curvature(scores)
            value = judged(loss)
            going = trace.go_on(value)
            problem.report(
                "measure" if measure else "loss", trace.steps, self.trees, value if measure else -value
            )
        kept = trace.best_step if measure else booster.current_iteration()
        return Trees(booster.model_to_string(num_iteration=max(kept, 1))), [trace]


def settings_for(scorer: TreeScorer, seed: int) -> dict[str, Any]:
    """A scorer's settings by LightGBM's names, without what depends on where the trees are grown."""
    return {
        "num_leaves": scorer.leaves,
        "learning_rate": scorer.rate,
        "min_data_in_leaf": scorer.min_leaf,
        "min_sum_hessian_in_leaf": 0.0,
        "lambda_l2": scorer.l2,
        "bagging_fraction": scorer.bagging,
        "bagging_freq": 1 if scorer.bagging < 1 else 0,
        "feature_fraction": scorer.feature_share,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }


def threads_for(rows: int) -> int:
    """Threads for LightGBM: on few rows, waiting for each other costs more than it brings."""
    return thread_count() if rows > SMALL else 1


def _raw(booster: Any, data: Dataset, before: Floats) -> Floats:
    """Scores after one more tree: the scores before plus what the latest tree adds."""
    latest = booster.current_iteration() - 1
    added = booster.predict(
        data.X, start_iteration=latest, num_iteration=1, raw_score=True, num_threads=threads_for(len(data))
    )
    after: Floats = before + np.asarray(added, np.float64)
    return after
