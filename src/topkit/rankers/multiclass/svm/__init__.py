"""The multi-class support vector machine of Crammer and Singer, linear, for a path of penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace
from topkit.scorers import Floats, Parts, Report, silent
from topkit.scorers.network import filled, row_products

Ints = NDArray[np.int64]

STRENGTHS = tuple(float(10.0**power) for power in np.arange(0.0, 3.5, 0.5))
"""C times the number of documents."""
TOLERANCE = 1e-3
"""The path ends each fit at this largest violation of the dual's conditions, as the paper does."""
SWEEPS = 1000
QUIET = 0.1
"""Documents that violate by less than this share of the tolerance are left out of the next sweeps."""
RETURN = 10
"""Every so many sweeps all documents are looked at again."""


@dataclass(frozen=True)
class LinearClasses:
    """f(x) = Mᵀ(x, 1) for each penalty of a path: a score for each class; a missing feature counts as 0."""

    kind: ClassVar[str] = "linear-classes"
    weights: Floats
    """penalties × (features and 1) × classes."""
    strengths: tuple[float, ...]
    """C times the number of training documents, rising."""

    @property
    def rounds(self) -> int:
        return len(self.weights)

    @property
    def columns(self) -> int:
        return int(self.weights.shape[2])

    def outputs(self, X: NDArray[np.float32], stages: Sequence[int]) -> Floats:
        """Scores under the first, second … penalty, for each number in ``stages``: stages × n × classes."""
        chosen = self.weights[np.asarray(stages) - 1]
        # all stages in one product, side by side
        matrix = np.ascontiguousarray(chosen.transpose(1, 0, 2).reshape(chosen.shape[1], -1))
        scores = row_products(filled(X), matrix[:-1]) + matrix[-1]
        return np.ascontiguousarray(scores.reshape(len(X), len(chosen), -1).transpose(1, 0, 2))

    def first(self, penalties: int) -> LinearClasses:
        """The first penalties of the path alone."""
        return LinearClasses(self.weights[:penalties], self.strengths[:penalties])

    def parts(self) -> Parts:
        return Parts(values={"strengths": list(self.strengths)}, arrays={"weights": self.weights})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        weights = np.ascontiguousarray(parts.arrays["weights"], np.float64)
        strengths = tuple(float(strength) for strength in parts.values["strengths"])
        if weights.ndim != 3 or len(weights) != len(strengths):
            raise ValueError("every penalty has a matrix of weights")
        return cls(weights, strengths)


def crammer_singer(
    X: Floats,
    own: Ints,
    classes: int,
    C: Floats,
    dual: Floats | None = None,
    *,
    tolerance: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
    seed: int = 0,
) -> tuple[Floats, Floats, Trace]:
    """Minimise ½‖M‖² + Σ_i C_i·max_m(1[m ≠ own_i] + m·x_i − own_i·x_i); weights, duals and trace.

    Coordinate descent on the dual, document by document in a new random order each sweep, from the duals of
    another fit if given. Documents at rest are left out of most sweeps. It ends when no document violates its
    conditions by more than ``tolerance``; the trace holds the largest violation of each sweep. Keerthi et
    al., KDD 2008.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> M, _, _ = crammer_singer(X, np.array([0, 1, 2]), 3, np.full(3, 10.0))
    >>> np.argmax(X @ M, axis=1)
    array([0, 1, 2])
    """
    from topkit.rankers.multiclass.svm import kernels

    X = np.ascontiguousarray(X, np.float64)
    a = np.zeros((len(X), classes)) if dual is None else dual.copy()
    M = np.ascontiguousarray(np.einsum("if,im->fm", X, a))
    sizes = np.einsum("if,if->i", X, X)
    rng = np.random.default_rng(seed)
    violations = np.empty(len(X))
    everyone = np.arange(len(X))
    active = everyone
    trace = Trace(max_sweeps)
    while True:
        worst = kernels.sweep(X, own, C, sizes, rng.permutation(active), a, M, violations)
        if not trace.go_on(worst):
            break
        if worst > tolerance:
            busy = active[violations[active] > QUIET * tolerance]
            active = everyone if trace.steps % RETURN == 0 else busy
        elif len(active) == len(everyone):
            trace.reason = "settled"
            break
        else:
            active = everyone
    return M, a, trace


def svm_path(
    X: NDArray[np.float32],
    own: Ints,
    classes: int,
    weights: Floats,
    strengths: Sequence[float] = STRENGTHS,
    seed: int = 0,
    report: Report = silent,
) -> tuple[LinearClasses, list[Trace]]:
    """One machine for each penalty, weakest C first, each from the (grown) duals of the one before.

    ``strengths`` are C times the weight of all documents, so that one grid serves data of any size.
    """
    wide = np.hstack([filled(X), np.ones((len(X), 1))])
    dual: Floats | None = None
    before = 1.0
    found, traces = [], []
    for strength in strengths:
        C = strength * weights / weights.sum()
        start = None if dual is None else dual * (strength / before)
        M, dual, trace = crammer_singer(wide, own, classes, C, start, seed=seed)
        found.append(M)
        traces.append(trace)
        before = strength
        report("Crammer–Singer, violation", len(found), len(strengths), trace.values[-1])
    return LinearClasses(np.stack(found), tuple(strengths)), traces
