"""What a trained scorer is: a value that turns features into scores and comes apart into open formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Report, silent
from topkit.data import Dataset

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """A model taken apart for saving: plain values for JSON, arrays for .npy, and texts.

    Everything a model needs to score again must be here; nothing else is written.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


class Model(Protocol):
    """A trained model that scores documents. Its class is found by ``kind`` when a file is loaded."""

    kind: ClassVar[str]

    def score(self, data: Dataset) -> Floats:
        """One score a document (larger is better), from features prepared as in training."""
        ...

    def parts(self) -> Parts:
        """The model taken apart for saving."""
        ...

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        """The model put together again; raises KeyError, TypeError or ValueError on parts that do not fit."""
        ...


class Curved(Protocol):
    """What boosted trees minimise: value, slope and curvature at given scores."""

    def with_curvature(self, scores: Floats) -> tuple[float, Floats, Floats]: ...


class Objective(Curved, Protocol):
    """A loss bound to its labels, whole or of some queries. :class:`topkit.losses.Objective` is one."""

    def __call__(self, scores: Floats) -> tuple[float, Floats]: ...
    def select(self, queries: NDArray[np.int64]) -> Objective: ...


Minimised = TypeVar("Minimised", bound=Curved, covariant=True)


@dataclass(frozen=True)
class Problem(Generic[Minimised]):
    """What a scorer learns from: features, an objective on their scores, and a measure to choose by.

    ``measure`` turns scores of ``valid`` into a number, larger is better; both are None without validation
    data.
    """

    train: Dataset
    objective: Minimised
    total_weight: float
    """Sum of the query weights: values are reported, and penalties weighed, per query."""
    valid: Dataset | None = None
    measure: Callable[[Floats], float] | None = None
    seed: int = 0
    report: Report = silent
