"""Learner: the ranker around any method; it prepares features, trains, ranks and saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Report, Trace, silent
from topkit.data import Dataset, InputError, Run
from topkit.data.settings import Setting, check_fields
from topkit.losses import Preferences
from topkit.metrics import CONVENTIONS, evaluate_arrays, metric
from topkit.metrics import convention as convention_named
from topkit.rankers.contract import Method
from topkit.rankers.files import write_model
from topkit.rankers.names import MODELS
from topkit.rankers.preparation import NORMALISATION_NAMES, Preparation, describe, provenance
from topkit.scorers import Evaluate, Floats, Job, Model, ScoreModel, Scorer

if TYPE_CHECKING:
    from topkit.rankers.clicks.events import Clicks


@dataclass(frozen=True)
class Common:
    """Settings that every ranker takes."""

    normalise: Annotated[
        str,
        Setting(
            "Query-wise normalisation of the features; auto uses the default of the method.",
            choices=("auto", *NORMALISATION_NAMES),
        ),
    ] = "auto"
    features: Annotated[
        tuple[str, ...] | None, Setting("Names or LETOR numbers of the features to use; none uses all.")
    ] = None
    metric: Annotated[str, Setting("Metric on validation data that selects settings and stops training.")] = (
        "ndcg@10"
    )
    convention: Annotated[str, Setting("Convention of the metric.", choices=tuple(CONVENTIONS))] = "yahoo"
    seed: Annotated[int, Setting("Seed of the random number generator.", low=0)] = 0

    def __post_init__(self) -> None:
        check_fields(self)
        metric(self.metric)


@dataclass
class Learner:
    """A ranker made from a method by ``tk.ranker(name, …)``. See :class:`Ranker` for what it can do."""

    name: str
    method: Method
    common: Common
    settings: dict[str, Any]
    """The settings it was made with, so that a saved ranker can be made again."""
    preparation: Preparation | None = field(default=None, repr=False)
    model: Model | None = field(default=None, repr=False)
    traces: list[Trace] = field(default_factory=list, repr=False)
    """The trace of each fit of the latest training; empty after loading."""
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
    ) -> Self:
        """Learn from ``train``; select settings and stop by the metric on ``valid``; see :class:`Ranker`."""
        if preferences is not None:
            preferences.check(train.ptr)
        preparation = self.preparation_for(train)
        job = Job(
            preparation(train),
            None if valid is None else preparation(valid),
            self.measure(),
            self.common.seed,
            None if weights is None else _checked_weights(weights, train.n_queries),
            preferences,
            report,
            self.common.metric,
            self.common.convention,
            None if clicks is None else clicks.prepared(preparation),
        )
        model, traces = self.train(job)
        pairs = None if preferences is None else len(preferences)
        origin = provenance(model, describe(train), valid, pairs, clicks is not None)
        return self.install(preparation, model, traces, origin)

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """Train the method on prepared data; InputError if it cannot learn from what the job holds."""
        remedies = {
            "preferences": "use a pairwise ranker with pairs='given', such as ranksvm",
            "clicks": "use click-label",
        }
        sources = {"preferences": job.preferences, "clicks": job.clicks}
        for source, value in sources.items():
            if value is not None and source not in self.method.learns_from:
                known = " and ".join(self.method.learns_from)
                raise InputError(
                    f"the ranker {self.name!r} learns from {known}, not from {source}", remedies[source]
                )
        return self.method.train(job)

    def preparation_for(self, train: Dataset) -> Preparation:
        """How this ranker prepares features when it is fitted to ``train``."""
        chosen = self.common.normalise
        return Preparation.of(
            train, self.common.features, self.method.normalisation if chosen == "auto" else chosen
        )

    def install(
        self,
        preparation: Preparation,
        model: Model,
        traces: list[Trace],
        provenance: Mapping[str, Any],
    ) -> Self:
        """Make this ranker a fitted one, replacing an earlier fit. Returns itself."""
        self.preparation, self.model = preparation, model
        self.traces, self.provenance = traces, dict(provenance)
        return self

    def score(self, data: Dataset) -> Floats:
        """One score per document, larger is better; InputError if the ranker only orders documents."""
        model, preparation = self.fitted()
        if not isinstance(model, ScoreModel):
            raise InputError(
                f"the ranker {self.name!r} orders documents without scoring them",
                "use rank(data) or ordering_scores(data)",
            )
        return model.score(preparation(data))

    def ordering_scores(self, data: Dataset) -> Floats:
        """One number per document whose descending order within a query is the ranker's order.

        These are the scores or, if the ranker only orders documents, n, n−1, …, 1 within each query.
        """
        model, preparation = self.fitted()
        return model.ordering_scores(preparation(data))

    def rank(self, data: Dataset) -> Run:
        """The documents of each query, best first, with ordering scores; ties keep their input order."""
        return Run.from_scores(data, self.ordering_scores(data), self.name)

    def measure_on(self, data: Dataset) -> float:
        """The chosen metric of this ranker's order on a data set, negated if smaller is better."""
        return self.measure()(data, self.ordering_scores(data))

    def measure(self) -> Evaluate:
        """The chosen metric as a function of data and scores, negated if smaller is better."""
        chosen = metric(self.common.metric)
        convention = convention_named(self.common.convention)
        sign = 1.0 if chosen.measure.greater_is_better else -1.0

        def mean(data: Dataset, scores: Floats) -> float:
            values = evaluate_arrays(data.y, scores, data.ptr, chosen, convention, truth=data.truth)
            return sign * float(values[str(chosen)].mean())

        return mean

    def save(self, path: str | PathLike[str]) -> None:
        """Write one file with everything needed to rank again; see :mod:`topkit.rankers.files`."""
        model, preparation = self.fitted()
        parts = model.parts()
        if model.kind not in MODELS:
            raise InputError(
                f"a model of kind {model.kind!r} cannot be saved, because it could not be loaded again",
                "add its class to topkit.rankers.MODELS",
            )
        # a scorer object is code, which a model file does not hold; the model ranks without it
        objects = {name: value for name, value in self.settings.items() if isinstance(value, Scorer)}
        head = {
            "ranker": self.name,
            "settings": {name: value for name, value in self.settings.items() if name not in objects},
            "model": model.kind,
            "features": preparation.to_dict(),
            "provenance": {
                **self.provenance,
                **{name: type(value).__qualname__ for name, value in objects.items()},
            },
        }
        write_model(path, head, parts)

    def fitted(self) -> tuple[Model, Preparation]:
        """The model and the preparation of its features; InputError before the first fit."""
        if self.model is None or self.preparation is None:
            raise InputError(f"the ranker {self.name!r} is not fitted", "call fit first")
        return self.model, self.preparation


def _checked_weights(weights: ArrayLike, queries: int) -> Floats:
    """Query weights as an array; InputError if they are not valid."""
    checked = np.asarray(weights, np.float64)
    if checked.shape != (queries,):
        raise InputError(f"expected one weight for each of {queries} queries, got shape {checked.shape}")
    if not (np.isfinite(checked).all() and (checked >= 0).all() and checked.sum() > 0):
        raise InputError("query weights must be finite, not negative, and not all 0")
    return checked
