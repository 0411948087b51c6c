"""The contracts of the room: what a ranker is for its user, and what a method gives to become one.

A **ranker** is fitted to a data set and orders the documents of others. A **method** is a frozen dataclass
whose fields are its settings and whose ``train`` turns a :class:`Job` into a **model**.
:class:`~topkit.rankers.learner.Learner` joins them: it prepares features, keeps provenance, saves and loads,
the same for every method. A new method is one file, one line in ``RANKERS`` and, if its model is of a new
kind, one line in ``MODELS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Trace
from topkit.data import Dataset, Run
from topkit.losses import Preferences
from topkit.scorers import Floats, Model, Parts, Report, silent

if TYPE_CHECKING:
    from topkit.rankers.clicks.events import Clicks

Measure = Callable[[Dataset, Floats], float]
"""(data, scores) → the mean of the chosen measure, turned so that larger is better."""


@runtime_checkable
class Ranker(Protocol):
    """What every ranker can do. Those whose documents have scores are :class:`ScoringRanker` too."""

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
        """Learn from ``train``; choose settings and stop by the measure on ``valid``. Returns itself.

        ``weights`` gives each training query its weight. ``preferences`` are pairs of training documents,
        which pairwise methods learn from instead of the labels. ``clicks`` are result pages, which the
        click-and-label ranker learns from beside the labels.
        """
        ...

    def rank(self, data: Dataset) -> Run:
        """The documents of each query, best first."""
        ...

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted ranker to one file; :func:`topkit.load_ranker` reads it."""
        ...


@runtime_checkable
class ScoringRanker(Ranker, Protocol):
    """A ranker whose order comes from a score of each document by itself."""

    def score(self, data: Dataset) -> NDArray[np.float64]:
        """One score a document, larger is better."""
        ...


class OrderModel(Protocol):
    """A trained model with an order but no score, such as a comparator that sorts."""

    kind: ClassVar[str]

    def order(self, data: Dataset) -> NDArray[np.int64]:
        """Row numbers query by query, best first: a permutation of each query's rows."""
        ...

    def parts(self) -> Parts: ...
    @classmethod
    def of_parts(cls, parts: Parts) -> Self: ...


@dataclass(frozen=True)
class Job:
    """What a method trains on: prepared features, the truth, and how to choose and report."""

    train: Dataset
    valid: Dataset | None
    measure: Measure
    seed: int = 0
    weights: Floats | None = None
    """One weight a training query, or None for equal ones."""
    preferences: Preferences | None = None
    report: Report = silent
    metric: str = "ndcg@10"
    """The name of the measure, for methods that optimise it directly, and its convention."""
    convention: str = "yahoo"
    clicks: Clicks | None = None
    """Result pages with prepared features; only methods with ``learns_from_clicks`` get any."""

    def judge(self, scores: Floats) -> float:
        """The measure of validation scores, larger is better."""
        if self.valid is None:
            raise ValueError("there is no validation data to judge by")
        return self.measure(self.valid, scores)

    @property
    def query_weights(self) -> Floats:
        """The weight of each training query, 1 unless given."""
        return np.ones(self.train.n_queries) if self.weights is None else self.weights


class Method(Protocol):
    """How to train: settings as fields of a frozen dataclass, checked in ``__post_init__``."""

    @property
    def normalisation(self) -> str:
        """The query-wise normalisation it wants unless the user says otherwise: a name or ``none``."""
        ...

    def train(self, job: Job) -> tuple[Model | OrderModel, list[Trace]]:
        """The trained model, and the trace of each fit that led to it."""
        ...
