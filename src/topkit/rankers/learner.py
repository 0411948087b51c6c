"""Learner: the ranker around any method; it prepares features, trains, ranks and saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats, Report, Trace, beside, silent
from topkit.data import Dataset, InputError, Run
from topkit.losses import Preferences
from topkit.losses.base import COLUMNS
from topkit.metrics import convention as convention_named
from topkit.metrics import evaluate_arrays, metric
from topkit.rankers.contract import Method, Ranker
from topkit.rankers.files import describe, provenance, write_model
from topkit.rankers.names import MODELS
from topkit.rankers.preparation import Preparation, check_is_dataset
from topkit.scorers import Evaluate, Job, Model, ScoreModel, Scorer

if TYPE_CHECKING:
    from topkit.rankers.by_name import Common
    from topkit.rankers.clicks.events import Clicks
    from topkit.rankers.importance import Importances
    from topkit.rankers.unbiased import UnbiasedClicks


REMEDIES = {
    "preferences": "use a pairwise ranker with pairs='given', such as ranksvm",
    "clicks": "use click-label, or UnbiasedClicks(log) with a ranker that has a loss",
    "click logs": "use a ranker that has a loss, such as listnet, or fit to click_labels(data, log)",
    **dict.fromkeys(COLUMNS, "use a ranker that minimises a loss, such as gradient"),
}
"""What to do if a ranker cannot learn from one of these."""
PART_BYTES = 1 << 26
"""Features that are prepared and scored at a time; a fingerprint of more is computed beside the training."""


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
        clicks: Clicks | UnbiasedClicks | None = None,
        document_weights: ArrayLike | None = None,
        teacher: Ranker | ArrayLike | None = None,
        report: Report = silent,
    ) -> Self:
        """Learn from ``train``; select settings and stop by the metric on ``valid``. Returns itself.

        ``weights`` has one weight per training query. ``preferences`` are pairs of training documents, which
        pairwise methods learn from instead of the labels. ``clicks`` are result pages, which the
        click-and-label ranker learns from in addition to the labels, or a click log
        (:class:`topkit.UnbiasedClicks`), which every ranker with a loss learns from instead of the labels.

        Rankers that minimise a loss also take ``document_weights``, one weight per training document, and
        the loss rank-distillation a ``teacher``: a fitted ranker, or its scores of the training documents.
        """
        preparation, job = self.job(train, valid, report, labels_count=preferences is None)
        if preferences is not None:
            preferences.check(train.ptr)
        job = replace(
            job,
            weights=None if weights is None else _checked_weights(weights, train.n_queries),
            preferences=preferences,
            clicks=None if clicks is None else clicks.prepared(preparation),
            columns=_columns(train, document_weights, teacher),
        )
        with beside(lambda: describe(train), worth_it=train.X.nbytes > PART_BYTES) as described:
            model, traces = self.train(job)
            pairs = None if preferences is None else len(preferences)
            origin = provenance(model, described(), valid, pairs, clicks is not None)
        return self.install(preparation, model, traces, origin)

    def job(
        self, train: Dataset, valid: Dataset | None, report: Report = silent, *, labels_count: bool = True
    ) -> tuple[Preparation, Job]:
        """How the features are prepared, and what the method trains on if it learns from labels alone."""
        _check_training_data(train, valid, labels_count=labels_count)
        train, valid = self.named(train), None if valid is None else self.named(valid)
        preparation = self.preparation_for(train)
        return preparation, Job(
            preparation(train),
            None if valid is None else preparation(valid),
            self.measure(),
            self.common.seed,
            report=report,
            metric=self.common.metric,
            convention=self.common.convention,
            features_chosen=self.common.normalise != "auto",
        )

    def named(self, data: Dataset) -> Dataset:
        """The data with document ids if the convention sorts ties by them: names are generated once."""
        if data.doc_ids is not None or convention_named(self.common.convention).ties != "document":
            return data
        return replace(data, doc_ids=data.names_of_documents())

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """Train the method on prepared data; InputError if it cannot learn from what the job holds."""
        sources: dict[str, Any] = {"preferences": job.preferences, **job.columns}
        if job.clicks is not None:
            sources[job.clicks.source] = job.clicks
        for source, value in sources.items():
            if value is not None and source not in self.method.learns_from:
                known = " and ".join(name for name in self.method.learns_from if name not in COLUMNS)
                what = source.replace("_", " ")
                raise InputError(
                    f"the ranker {self.name!r} cannot learn from {what}, only from {known}", REMEDIES[source]
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
        return by_parts(data, lambda part: model.score(preparation(part)))

    def ordering_scores(self, data: Dataset) -> Floats:
        """One number per document whose descending order within a query is the ranker's order.

        These are the scores or, if the ranker only orders documents, n, n−1, …, 1 within each query.
        """
        model, preparation = self.fitted()
        return by_parts(data, lambda part: model.ordering_scores(preparation(part)))

    def rank(self, data: Dataset) -> Run:
        """The documents of each query, best first, with ordering scores; ties keep their input order."""
        return Run.from_scores(data, self.ordering_scores(data), self.name)

    def contributions(self, data: Dataset) -> Floats | None:
        """(documents, features of the data): what each feature adds to each score, up to one constant.

        Exact for linear models (w·x), boosted trees (TreeSHAP) and boosted steps; None for other models.
        Features that the ranker does not use have 0.
        """
        model, preparation = self.fitted()
        return preparation.spread(model.contributions(preparation(data)))

    def feature_importances(self, data: Dataset | None = None, *, seed: int = 0) -> Importances:
        """Feature → its importance; see :func:`topkit.rankers.importance.feature_importances`."""
        from topkit.rankers.importance import feature_importances

        return feature_importances(self, data, seed)

    def measure_on(self, data: Dataset) -> float:
        """The chosen metric of this ranker's order on a data set, negated if smaller is better."""
        return self.measure()(data, self.ordering_scores(data))

    @property
    def sign(self) -> float:
        """1, or −1 if smaller values of the chosen metric are better."""
        return 1.0 if metric(self.common.metric).measure.greater_is_better else -1.0

    def measure(self) -> Evaluate:
        """The chosen metric as a function of data and scores, negated if smaller is better.

        Equal scores are ordered by the rule of the convention; data without document ids has generated ones.
        """
        chosen = metric(self.common.metric)
        convention = convention_named(self.common.convention)
        sign = self.sign

        def mean(data: Dataset, scores: Floats) -> float:
            ids = self.named(data).doc_ids
            values = evaluate_arrays(
                data.y, scores, data.ptr, chosen, convention, truth=data.truth, doc_ids=ids
            )
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


def by_parts(data: Dataset, score: Callable[[Dataset], Floats]) -> Floats:
    """The scores of a data set; large data is prepared and scored part by part, to save memory.

    Features are normalised within queries and models score each query separately, so the parts do not matter.
    """
    check_is_dataset(data, "data")
    if data.X.nbytes <= PART_BYTES:
        return score(data)
    rows = PART_BYTES // (data.X.nbytes // len(data))
    cuts = np.unique(np.searchsorted(data.ptr, [*range(0, len(data), rows), len(data)]))
    parts = [score(data.select(np.arange(first, last))) for first, last in pairwise(cuts.tolist())]
    return np.concatenate(parts)


def _check_training_data(train: Dataset, valid: Dataset | None, *, labels_count: bool) -> None:
    """InputError for data that no ranker can learn from."""
    check_is_dataset(train, "training data")
    if valid is not None:
        check_is_dataset(valid, "validation data")
    if train.n_features == 0:
        raise InputError("the training data has no features", "add at least one feature")
    negative = int((train.y < 0).sum()) if labels_count else 0
    if negative:
        raise InputError(
            f"{negative} of {len(train)} training documents have a negative label, which means 'not judged'",
            "remove these rows, or give them the label 0 if they count as irrelevant",
        )


def _columns(
    train: Dataset, document_weights: ArrayLike | None, teacher: Ranker | ArrayLike | None
) -> dict[str, Floats]:
    """The numbers per training document that were given; a teacher that is a ranker scores the documents."""
    scores = teacher.ordering_scores(train) if isinstance(teacher, Ranker) else teacher
    optional = {"document_weights": document_weights, "teacher": scores}
    return {name: np.asarray(values, np.float64) for name, values in optional.items() if values is not None}


def _checked_weights(weights: ArrayLike, queries: int) -> Floats:
    """Query weights as an array; InputError if they are not valid."""
    checked = np.asarray(weights, np.float64)
    if checked.shape != (queries,):
        raise InputError(f"expected one weight for each of {queries} queries, got shape {checked.shape}")
    if not (np.isfinite(checked).all() and (checked >= 0).all() and checked.sum() > 0):
        raise InputError("query weights must be finite, not negative, and not all 0")
    return checked
