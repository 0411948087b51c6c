"""The contracts of the room: what a ranker does for its user, and what a method provides to become one.

A **ranker** is fitted to a data set and orders the documents of others. A **method** is a frozen dataclass
whose fields are its settings and whose ``train`` turns a :class:`~topkit.scorers.Job` into a **model**.
:class:`~topkit.rankers.learner.Learner` turns any method into a ranker: it prepares features, records
provenance, saves and loads. A new method is one file, one line in ``RANKERS`` and, if its model is of a new
kind, one line in ``MODELS``.
"""

from __future__ import annotations

from os import PathLike
from typing import ClassVar, Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike

from topkit.compute import Floats, Trace
from topkit.data import Dataset, Run
from topkit.scorers import Job, Model

__all__ = ["Job", "Method", "Ranker"]


@runtime_checkable
class Ranker(Protocol):
    """What every ranker can do."""

    def fit(self, train: Dataset, valid: Dataset | None = None, *, weights: ArrayLike | None = None) -> Self:
        """Learn from ``train``; select settings and stop by the metric on ``valid``. Returns itself.

        ``weights`` has one weight per training query.
        """
        ...

    def score(self, data: Dataset) -> Floats:
        """One score per document, larger is better; InputError if the ranker only orders documents."""
        ...

    def ordering_scores(self, data: Dataset) -> Floats:
        """One number per document whose descending order within a query is the ranker's order."""
        ...

    def rank(self, data: Dataset) -> Run:
        """The documents of each query, best first."""
        ...

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted ranker to one file; :func:`topkit.load_ranker` reads it."""
        ...


class Method(Protocol):
    """How to train: settings as fields of a frozen dataclass, checked in ``__post_init__``."""

    learns_from: ClassVar[tuple[str, ...]]
    """What it can learn from: any of ``labels``, ``preferences``, ``clicks``, ``click logs``, and the
    columns of numbers per document that losses may take (:data:`topkit.losses.base.COLUMNS`)."""

    @property
    def normalisation(self) -> str:
        """The default query-wise normalisation of the features: a name or ``none``."""
        ...

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The trained model, and the trace of each fit that led to it."""
        ...
