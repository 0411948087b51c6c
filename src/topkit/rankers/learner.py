"""Learner: the ranker around any method; it prepares features, trains, ranks and saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Trace
from topkit.data import Dataset, InputError, Run
from topkit.losses import Preferences
from topkit.metrics import convention as convention_named
from topkit.metrics import evaluate_arrays, metric
from topkit.rankers.clicks.events import Clicks
from topkit.rankers.contract import Job, Measure, Method, OrderModel
from topkit.rankers.features import NORMALISATION_NAMES, Preparation
from topkit.rankers.files import write_model
from topkit.rankers.provenance import describe, versions
from topkit.scorers import Floats, Model, Report, silent


@dataclass(frozen=True)
class Common:
    """Settings that every ranker takes."""

    normalise: str = "auto"
    """Query-wise normalisation of features; ``auto`` leaves it to the method."""
    features: tuple[str, ...] | None = None
    """Names (or LETOR numbers) of the features to use; None takes all."""
    metric: str = "ndcg@10"
    """The measure that settings are chosen and training is stopped by, on validation data."""
    convention: str = "yahoo"
    """The convention of that measure."""
    seed: int = 0

    def __post_init__(self) -> None:
        metric(self.metric)
        convention_named(self.convention)
        if self.normalise not in ("auto", *NORMALISATION_NAMES):
            raise InputError(
                f"unknown normalisation {self.normalise!r}",
                f"choose one of auto, {', '.join(NORMALISATION_NAMES)}",
            )
        if self.features is not None:
            given: Any = self.features
            chosen: Sequence[Any] = [given] if isinstance(given, (str, int)) else given
            object.__setattr__(self, "features", tuple(str(name) for name in chosen))


@dataclass
class Learner:
    """A ranker made of a method; ``tk.ranker(name, …)`` makes it. See :class:`Ranker` for what it can do."""

    name: str
    method: Method
    common: Common
    settings: dict[str, Any]
    """The settings that were given, so that a saved ranker can be made again."""
    preparation: Preparation | None = field(default=None, repr=False)
    model: Model | OrderModel | None = field(default=None, repr=False)
    traces: list[Trace] = field(default_factory=list, repr=False)
    """How each fit of the latest training went; empty after loading."""
    provenance: dict[str, Any] = field(default_factory=dict, repr=False)

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        weights: ArrayLike | None = None,
        preferences: Preferences | None = None,
        clicks: Clicks | None = None,
        report: Report = silent,
    ) -> Learner:
        """Learn from ``train``, choosing by the measure on ``valid``; see :class:`Ranker` for the rest."""
        heavy = None if weights is None else _checked_weights(weights, train.n_queries)
        if preferences is not None:
            preferences.check(train.ptr)
        learns_from = getattr(self.method, "learns_from", ("labels", "preferences"))
        if preferences is not None and "preferences" not in learns_from:
            raise InputError(
                f"the ranker {self.name!r} learns from labels, not from preferences",
                "use a pairwise ranker with pairs='given', such as ranksvm",
            )
        if clicks is not None and "clicks" not in learns_from:
            raise InputError(f"the ranker {self.name!r} cannot learn from clicks", "use click-label")
        wanted = self.common.normalise
        preparation = Preparation.of(
            train, self.common.features, self.method.normalisation if wanted == "auto" else wanted
        )
        job = Job(
            preparation(train),
            None if valid is None else preparation(valid),
            self.measure(),
            self.common.seed,
            heavy,
            preferences,
            report,
            self.common.metric,
            self.common.convention,
            None if clicks is None else clicks.prepared(preparation),
        )
        model, traces = self.method.train(job)
        self.preparation, self.model, self.traces = preparation, model, traces
        self.provenance = {
            "train": describe(train),
            "valid": None if valid is None else describe(valid),
            "preferences": None if preferences is None else len(preferences),
            "clicks": clicks is not None,
            "versions": versions(
                *(("lightgbm",) if model.kind in ("trees", "class-trees", "mixture") else ())
            ),
        }
        return self

    def score(self, data: Dataset) -> NDArray[np.float64]:
        """One score a document, larger is better; an error for rankers that have an order only."""
        model, prepared = self._ready(data)
        if not hasattr(model, "score"):
            raise InputError(
                f"the ranker {self.name!r} orders documents without giving them scores", "use rank(data)"
            )
        scores: Floats = model.score(prepared)
        return scores

    def rank(self, data: Dataset) -> Run:
        """The documents of each query, best first; equal scores keep their input order.

        The scores of a ranker that has only an order are n, n−1, … down to 1.
        """
        model, prepared = self._ready(data)
        scores = model.score(prepared) if hasattr(model, "score") else _place_scores(model, prepared)
        return Run.from_scores(data, scores, self.name)

    def save(self, path: str | PathLike[str]) -> None:
        """Write one file with everything needed to rank again; see :mod:`topkit.rankers.files`."""
        if self.model is None or self.preparation is None:
            raise InputError(f"the ranker {self.name!r} is not fitted yet", "call fit first")
        head = {
            "ranker": self.name,
            "settings": self.settings,
            "model": self.model.kind,
            "features": {
                "normalisation": self.preparation.normalisation,
                "names": self.preparation.names,
                "named": self.preparation.named,
                "columns": self.preparation.columns,
            },
            "provenance": self.provenance,
        }
        write_model(path, head, self.model.parts())

    def measure_on(self, data: Dataset) -> float:
        """The chosen measure of this ranker's order on a data set, turned so that larger is better."""
        model, prepared = self._ready(data)
        scores = model.score(prepared) if hasattr(model, "score") else _place_scores(model, prepared)
        return self.measure()(data, scores)

    def measure(self) -> Measure:
        """The chosen measure as a function of data and scores, turned so that larger is better."""
        chosen = metric(self.common.metric)
        rules = convention_named(self.common.convention)
        sign = 1.0 if chosen.measure.greater_is_better else -1.0

        def mean(data: Dataset, scores: Floats) -> float:
            values = evaluate_arrays(data.y, scores, data.ptr, chosen, rules, truth=data.truth)
            return sign * float(values[str(chosen)].mean())

        return mean

    def _ready(self, data: Dataset) -> tuple[Any, Dataset]:
        if self.model is None or self.preparation is None:
            raise InputError(f"the ranker {self.name!r} is not fitted yet", "call fit first")
        return self.model, self.preparation(data)


def _place_scores(model: OrderModel, data: Dataset) -> Floats:
    """n, n−1, … 1 down the order of each query."""
    places = np.empty(len(data))
    places[model.order(data)] = np.repeat(data.ptr[1:], data.lengths) - np.arange(len(data))
    return places


def _checked_weights(weights: ArrayLike, queries: int) -> Floats:
    heavy = np.asarray(weights, np.float64)
    if heavy.shape != (queries,):
        raise InputError(f"{queries} queries need as many weights, not {heavy.shape}")
    if not (np.isfinite(heavy).all() and (heavy >= 0).all() and heavy.sum() > 0):
        raise InputError("query weights must be finite, not negative, and not all 0")
    return heavy
