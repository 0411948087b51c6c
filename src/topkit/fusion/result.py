"""The result of fusion: the fused run, and what was learned about each ranker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.data import Run

Progress = Callable[[int, int], None]
"""Called with (steps done, maximum number of steps)."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an aggregator returns: a score for each pooled document, and what it learned."""

    scores: NDArray[np.float64]
    per_ranker: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Numbers per ranker by name, such as ``weight``, ``theta`` and ``agreement``."""
    trace: tuple[float, ...] = ()
    converged: bool = True
    places: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] | None = None
    """For each query: numbers of documents among all pools, and probabilities, document × place."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)


Aggregator = TypeVar("Aggregator", bound=Callable[..., Outcome])

_ACROSS_QUERIES: set[Callable[..., Outcome]] = set()


def across_queries(aggregator: Aggregator) -> Aggregator:
    """Declare that an aggregator learns from all queries together, so its queries cannot be fused apart."""
    _ACROSS_QUERIES.add(aggregator)
    return aggregator


def is_across_queries(aggregator: Callable[..., Outcome]) -> bool:
    """Whether an aggregator was declared with :func:`across_queries`."""
    return aggregator in _ACROSS_QUERIES


@dataclass(frozen=True, eq=False)
class Fusion:
    """A fused run with its explanation.

    - ``per_ranker``: name of a number → ranker → value. ``weight`` is the share of the ranker in the result
      (they sum to 1); ``theta`` is the dispersion θ ≤ 0 of the Mallows model, 0 for a ranker that agrees only
      by chance; ``agreement`` is its correlation with the common factor of all rankers; ``vote`` is 1 for a
      ranker unlike all others, and near copies share one.
    - ``trace``, ``converged``: the objective at each step, and whether it converged.
    - ``places``: query → document → probability of places 1, 2, … (Mallows with ``places=True``).
    - ``diagnostics``: named numbers such as ``r_hat`` (1 when the chains agree) and ``exact_queries``.
    """

    run: Run
    method: str
    per_ranker: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    converged: bool = True
    places: dict[str, dict[str, NDArray[np.float64]]] | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)

    @property
    def weights(self) -> Mapping[str, float] | None:
        """Ranker → weight; None if all rankers count the same."""
        return self.per_ranker.get("weight")

    @property
    def theta(self) -> Mapping[str, float] | None:
        """Ranker → θ of the Mallows model; None for other methods."""
        return self.per_ranker.get("theta")

    def table(self) -> list[tuple[str, dict[str, float]]]:
        """Each ranker with its numbers, largest weight first; empty if all rankers count the same."""
        if self.weights is None:
            return []
        weights = self.weights
        return [
            (ranker, {name: values[ranker] for name, values in self.per_ranker.items()})
            for ranker in sorted(weights, key=lambda ranker: -weights[ranker])
        ]
