"""What aggregation gives: the fused run, and what was learnt of each ranker on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topkit.data import Run


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an aggregator returns: a score for each pooled document, and what it learnt."""

    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    theta: NDArray[np.float64] | None = None
    trace: tuple[float, ...] = ()
    converged: bool = True
    places: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] | None = None
    """For each query: numbers of documents among all pools, and document × place the probabilities."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fusion:
    """A fused run with its explanation.

    - ``weights``: ranker → its share in the result, summing to 1 (methods that learn or take weights).
    - ``theta``: ranker → dispersion θ ≤ 0 of the Mallows model; 0 is a ranker that agrees by chance only.
    - ``trace``, ``converged``: the objective at each step, and whether it settled.
    - ``places``: query → document → probability of places 1, 2, … (Mallows with ``places=True``).
    - ``diagnostics``: named figures such as ``r_hat`` (1 when the chains agree) and ``exact_queries``.
    """

    run: Run
    method: str
    weights: dict[str, float] | None = None
    theta: dict[str, float] | None = None
    trace: tuple[float, ...] = ()
    converged: bool = True
    places: dict[str, dict[str, NDArray[np.float64]]] | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)

    def table(self) -> list[tuple[str, dict[str, float]]]:
        """Each ranker with its weight and θ, the most trusted first; empty where all are trusted alike."""
        columns = {"weight": self.weights, "theta": self.theta}
        known = {name: values for name, values in columns.items() if values is not None}
        if not known:
            return []
        rankers = next(iter(known.values()))
        rows = [(ranker, {name: values[ranker] for name, values in known.items()}) for ranker in rankers]
        return sorted(rows, key=lambda row: -row[1].get("weight", -row[1].get("theta", 0.0)))
