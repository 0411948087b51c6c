"""What scorers and rankers share: trained models, the job a model is trained on, and objectives."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Report, silent
from topkit.data import Dataset, InputError

Evaluate = Callable[[Dataset, Floats], float]
"""(data, scores) → the mean of the chosen metric, negated if smaller is better."""


@dataclass(frozen=True)
class Parts:
    """The contents of a model file: plain values for JSON, arrays for .npy, and texts.

    They must hold everything that the model needs to score; nothing else is written.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def floats(self, name: str, dimensions: int = 1) -> Floats:
        """An array of finite real numbers; ValueError if it is anything else."""
        array = self.arrays[name]
        if array.dtype.kind not in "fiu" or array.ndim != dimensions:
            raise ValueError(
                f"expected numbers in {dimensions} dimensions in {name!r}, got {array.dtype} {array.shape}"
            )
        numbers = np.ascontiguousarray(array, np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"the numbers in {name!r} must be finite")
        return numbers

    def thresholds(self, name: str) -> Floats:
        """A row of real numbers, which may be infinite but not NaN; ValueError if it is anything else."""
        array = self.arrays[name]
        if array.dtype.kind not in "fiu" or array.ndim != 1 or np.isnan(array).any():
            raise ValueError(f"expected a row of numbers in {name!r}, got {array.dtype} {array.shape}")
        return np.ascontiguousarray(array, np.float64)

    def integers(self, name: str, low: int = 0, high: int = 2**31 - 1) -> NDArray[np.int64]:
        """A row of whole numbers from ``low`` to ``high``; ValueError if it is anything else."""
        array = self.arrays[name]
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ValueError(f"expected a row of integers in {name!r}, got {array.dtype} {array.shape}")
        if array.size and not (low <= int(array.min()) and int(array.max()) <= high):
            raise ValueError(f"the integers in {name!r} must be from {low} to {high}")
        return np.ascontiguousarray(array, np.int64)

    def number(self, name: str) -> float:
        """A finite real number among the values; ValueError if it is anything else."""
        value = self.values[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"expected a finite number for {name!r}, got {str(value)[:40]}")
        return float(value)

    def count(self, name: str, low: int = 0, high: int = 2**31 - 1) -> int:
        """A whole number among the values, from ``low`` to ``high``; ValueError if it is anything else."""
        value = self.values[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"expected an integer from {low} to {high} for {name!r}, got {str(value)[:40]}")
        return value


class Model(ABC):
    """A trained model. Inherit from :class:`ScoreModel` or :class:`OrderModel`."""

    kind: ClassVar[str]
    """The name of the class in model files; see ``MODELS``."""

    requires: ClassVar[tuple[str, ...]] = ()
    """Packages other than NumPy that the model needs to score; their versions go into model files."""

    @property
    def remark(self) -> str:
        """A few words for the summary line of ``topkit train``; empty by default."""
        return ""

    @property
    def details(self) -> str:
        """A table or text that ``topkit train`` prints below the summary; may be empty."""
        return ""

    @abstractmethod
    def ordering_scores(self, data: Dataset) -> Floats:
        """One number per document whose descending order within a query is the model's order."""

    def contributions(self, data: Dataset) -> Floats | None:
        """(documents, features): what each feature adds to each score; None if there is no exact formula.

        The sum over features is the score, up to one constant for all documents.
        """
        return None

    def weights_of_features(self, features: int) -> tuple[str, Floats] | None:
        """The name and the values of the model's own feature weights; None if it has none."""
        return None

    def parts(self) -> Parts:
        """The contents of the model file."""
        raise InputError(
            f"a model of kind {self.kind!r} cannot be saved", "save it with the tools of its own library"
        )

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        """Rebuild the model; raises KeyError, TypeError or ValueError if the parts are inconsistent."""
        raise ValueError(f"a model of kind {cls.kind!r} cannot be loaded")

    def check_features(self, features: int) -> None:  # noqa: B027 (foreign models need not check)
        """Raise ValueError if the model cannot score data with this many prepared features."""


class ScoreModel(Model):
    """A model that scores each document."""

    @abstractmethod
    def score(self, data: Dataset) -> Floats:
        """One score per document (larger is better), from features prepared as in training."""

    def ordering_scores(self, data: Dataset) -> Floats:
        return self.score(data)


class OrderModel(Model):
    """A model that orders documents without scoring them, such as a comparator that sorts."""

    @abstractmethod
    def order(self, data: Dataset) -> NDArray[np.int64]:
        """Row numbers query by query, best first: a permutation of each query's rows."""

    def ordering_scores(self, data: Dataset) -> Floats:
        """n, n−1, …, 1 from the first to the last document of each query."""
        places = np.empty(len(data))
        places[self.order(data)] = np.repeat(data.ptr[1:], data.lengths) - np.arange(len(data))
        return places


@dataclass(frozen=True)
class Job:
    """What a method trains on: prepared features, labels, and how to select and report."""

    train: Dataset
    valid: Dataset | None
    measure: Evaluate
    """The metric that selects settings and stops training."""
    seed: int = 0
    weights: Floats | None = None
    """One weight per training query; None weighs all equally."""
    preferences: Any = None
    """:class:`topkit.losses.Preferences` or None."""
    report: Report = silent
    metric: str = "ndcg@10"
    """The name of ``measure``, for methods that optimise it directly."""
    convention: str = "yahoo"
    """The convention of ``measure``."""
    clicks: Any = None
    """:class:`topkit.rankers.Clicks` with prepared features, :class:`topkit.UnbiasedClicks`, or None."""
    features_chosen: bool = False
    """Whether the user chose the normalisation of the features; if not, each part of a mixture normalises
    them by its own default."""
    columns: Mapping[str, Floats] = field(default_factory=dict)
    """Numbers per training document in addition to its label: ``document_weights``, ``teacher``."""

    def judge(self, scores: Floats) -> float:
        """The metric of the scores of the validation data, larger is better."""
        if self.valid is None:
            raise ValueError("the job has no validation data")
        return self.measure(self.valid, scores)

    @property
    def query_weights(self) -> Floats:
        """The weight of each training query, 1 by default."""
        return np.ones(self.train.n_queries) if self.weights is None else self.weights

    @property
    def total_weight(self) -> float:
        """The sum of the query weights: mean losses and penalties are per query."""
        return float(self.query_weights.sum())


class HasGradient(Protocol):
    """What gradient descent minimises; :class:`topkit.losses.Objective` is one."""

    def __call__(self, scores: Floats) -> tuple[float, Floats]:
        """Value and gradient at these scores."""
        ...

    def select(self, queries: NDArray[np.int64]) -> HasGradient:
        """The same loss on some of the queries."""
        ...


class HasCurvature(Protocol):
    """What boosted trees minimise; :class:`topkit.losses.Objective` is one."""

    def with_curvature(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and diagonal of the Hessian at these scores."""
        ...


def filled(X: NDArray[np.float32]) -> Floats:
    """Features as float64, with 0 for missing values."""
    wide = X.astype(np.float64)
    return np.nan_to_num(wide, copy=False, nan=0.0) if np.isnan(wide).any() else wide


def row_products(X: Floats, matrix: Floats) -> Floats:
    """X·matrix, row by row: the score of a document does not depend on the documents around it.

    BLAS may round differently with the number of rows and threads; this does not.
    """
    products: Floats = np.einsum("ij,jk->ik", X, matrix)
    return products
