"""What aggregation gives: the fused run, and what was learnt of each ranker on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topkit.data import Run

Progress = Callable[[int, int], None]
"""Called with (steps done, steps at most)."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an aggregator returns: a score for each pooled document, and what it learnt."""

    scores: NDArray[np.float64]
    per_ranker: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Figures of each ranker by name, such as ``weight``, ``theta`` and ``agreement``."""
    trace: tuple[float, ...] = ()
    converged: bool = True
    places: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] | None = None
    """For each query: numbers of documents among all pools, and document × place the probabilities."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fusion:
    """A fused run with its explanation.

    - ``per_ranker``: figure → ranker → value. ``weight`` is the ranker's share in the result, and all sum to
      1; ``theta`` the dispersion θ ≤ 0 of the Mallows model, 0 for a ranker that agrees by chance only;
      ``agreement`` its correlation with what all rankers share.
    - ``trace``, ``converged``: the objective at each step, and whether it settled.
    - ``places``: query → document → probability of places 1, 2, … (Mallows with ``places=True``).
    - ``diagnostics``: named figures such as ``r_hat`` (1 when the chains agree) and ``exact_queries``.
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
        """Ranker → weight; None where all count alike."""
        return self.per_ranker.get("weight")

    @property
    def theta(self) -> Mapping[str, float] | None:
        """Ranker → θ of the Mallows model; None for other methods."""
        return self.per_ranker.get("theta")

    def table(self) -> list[tuple[str, dict[str, float]]]:
        """Each ranker with its figures, the weightiest first; empty where all count alike."""
        if self.weights is None:
            return []
        order = sorted(self.weights, key=lambda ranker: -(self.weights or {})[ranker])
        return [(ranker, {name: own[ranker] for name, own in self.per_ranker.items()}) for ranker in order]
