"""The linear multi-class support vector machine of Crammer and Singer, for a path of penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topkit.compute import Floats, Floats32, Ints, Trace
from topkit.rankers.multiclass.svm.model import LinearClasses
from topkit.scorers import Report, silent
from topkit.scorers.model import filled

STRENGTHS = tuple(float(10.0**power) for power in np.arange(0.0, 3.5, 0.5))
"""The path of penalties: C times the total weight of the documents, so that it fits data of any size."""
QUIET = 0.1
"""Documents that violate their conditions by less than this share of the tolerance skip the next sweeps."""
RETURN = 10
"""Sweeps after which all documents are visited again."""


@dataclass(frozen=True)
class Limits:
    """When a fit ends."""

    tolerance: float = 1e-3
    """Largest violation of the dual's conditions, as published."""
    max_sweeps: int = 1000
    """Passes over the documents; a fit to the tolerance above needs far fewer."""


DEFAULT_LIMITS = Limits()


def crammer_singer(
    X: Floats,
    targets: Ints,
    classes: int,
    C: Floats,
    dual: Floats | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    seed: int = 0,
) -> tuple[Floats, Floats, Trace]:
    """Minimise ½‖M‖² + Σ_i C_i·max_m(1[m ≠ y_i] + m·x_i − m_{y_i}·x_i); weights, duals and trace.

    Coordinate descent on the dual, document by document in a new random order per sweep, from ``dual`` if
    given. Documents whose duals do not move skip most sweeps. It ends when no document violates its
    conditions by more than the tolerance; the trace holds the largest violation of each sweep. Keerthi et
    al., KDD 2008.

    X: documents × features. targets: the class y of each document. C: one penalty per document.

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
    trace = Trace(limits.max_sweeps)
    while True:
        worst = kernels.sweep(X, targets, C, sizes, rng.permutation(active), a, M, violations)
        if not trace.go_on(worst):
            break
        if worst > limits.tolerance:
            moving = active[violations[active] > QUIET * limits.tolerance]
            active = everyone if trace.steps % RETURN == 0 else moving
        elif len(active) == len(everyone):
            trace.reason = "settled"
            break
        else:
            active = everyone
    return M, a, trace


def svm_path(
    X: Floats32,
    targets: Ints,
    classes: int,
    weights: Floats,
    strengths: Sequence[float] = STRENGTHS,
    seed: int = 0,
    report: Report = silent,
) -> tuple[LinearClasses, list[Trace]]:
    """One machine per penalty, smallest C first, each started from the scaled duals of the one before.

    ``strengths`` are C times the total weight of the documents.
    """
    extended = np.hstack([filled(X), np.ones((len(X), 1))])
    dual: Floats | None = None
    previous = 1.0
    matrices, traces = [], []
    for strength in strengths:
        C = strength * weights / weights.sum()
        start = None if dual is None else dual * (strength / previous)
        M, dual, trace = crammer_singer(extended, targets, classes, C, start, seed=seed)
        matrices.append(M)
        traces.append(trace)
        previous = strength
        report("Crammer–Singer, violation", len(matrices), len(strengths), trace.values[-1])
    return LinearClasses(np.stack(matrices), tuple(strengths)), traces
