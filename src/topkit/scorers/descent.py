"""L-BFGS on a total loss, in coordinates in which the loss bends about equally in all directions.

The Hessian of a loss on linear scores is Xᵀ·C·X, where C is the Hessian in the scores. Its diagonal, which
every loss has for boosted trees, gives an approximation H. With H = L·Lᵀ, L-BFGS in the coordinates u = Lᵀ·w
takes about 5 steps where it takes 10 to 400 in w. The optimum is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints, Report, Trace, one_blas_thread, silent
from topkit.scorers.lbfgs import Point, minimise
from topkit.scorers.model import HasCurvature, HasGradient

Matrix = Floats | NDArray[np.float32]

Total = Callable[[Floats], tuple[float, Floats]]
"""Parameters (w, b) → the loss over all queries and its gradient; the data may be in other processes."""

Hessian = Callable[[Floats], Floats]
"""Parameters (w, b) → an approximation of the Hessian of the total loss."""

SAMPLE = 1 << 14
"""Documents that are enough for the approximate Hessian."""
PIECE_SAMPLE = 1 << 12
"""Documents of each of many pieces that are enough."""
WIDEST = 1024
"""Features up to which the approximate Hessian is used: it takes time with their square."""
MANY_STEPS = 8
"""After a fit that took more steps, the Hessian is computed again for the next penalty."""
RIDGE = 1e-6
"""What is added to the diagonal of the Hessian, relative to its mean: H must be positive definite."""
INVARIANT = 1e-9
"""A sum of slopes below this, relative to the sum of their sizes, is a rounding error."""


@runtime_checkable
class Curved(HasGradient, HasCurvature, Protocol):
    """A loss with a curvature per document and its queries; :class:`topkit.losses.Objective` is one."""

    @property
    def ptr(self) -> Ints: ...

    def select(self, queries: Ints) -> Curved: ...


@dataclass
class Remembered:
    """A total that keeps its latest result: an optimiser asks for some points twice."""

    total: Total
    calls: int = 0
    latest: tuple[Floats, tuple[float, Floats]] | None = None

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        if self.latest is None or not np.array_equal(self.latest[0], vector):
            self.calls += 1
            self.latest = (vector.copy(), self.total(vector))
        value, gradient = self.latest[1]
        return value, gradient.copy()


@dataclass
class Descent:
    """Minimise loss/scale + ½·Σ penalty·v² over parameters v, for one penalty after another."""

    total: Remembered
    scale: float
    max_steps: int
    tolerance: float
    hessian: Hessian | None = None
    report: Report = silent
    _bending: Floats | None = field(default=None, repr=False)
    """The Hessian of loss/scale, until it is outdated."""

    def minimise(self, penalty: Floats, start: Floats) -> tuple[Floats, Trace]:
        """Parameters and the trace of the objective.

        It stops when the largest component of the gradient is below the tolerance, or when floating-point
        arithmetic cannot lower the objective any more.
        """
        trace = Trace(self.max_steps)
        value, slope = self._value_and_slope(start, penalty)
        trace.go_on(value)
        if np.abs(slope).max() < self.tolerance:
            trace.reason = "settled"
            return start, trace
        basis = self._basis(penalty, start, slope)

        def moved(u: Floats) -> Floats:
            return start + (u if basis is None else basis @ u)

        def value_and_slope(u: Floats) -> tuple[float, Floats]:
            value, slope = self._value_and_slope(moved(u), penalty)
            return value, slope if basis is None else slope @ basis

        def settled(point: Point) -> bool:
            trace.go_on(point.value)
            self.report("objective", trace.steps, self.max_steps, trace.values[-1])
            _, slope = self._value_and_slope(moved(point.x), penalty)
            return bool(np.abs(slope).max() < self.tolerance)

        end, reason = minimise(value_and_slope, np.zeros(len(start)), self.max_steps, settled)
        # the gradient is exact, so a line without a lower value means that rounding is the limit
        trace.reason = "step limit" if reason == "step limit" else "settled"
        if trace.steps > MANY_STEPS:
            self._bending = None
        return moved(end.x), trace

    def _value_and_slope(self, vector: Floats, penalty: Floats) -> tuple[float, Floats]:
        loss, gradient = self.total(vector)
        pull = penalty * vector
        return loss / self.scale + 0.5 * float(vector @ pull), gradient / self.scale + pull

    def _basis(self, penalty: Floats, start: Floats, slope: Floats) -> Floats | None:
        """The coordinates of the search as columns; None for those of the parameters themselves."""
        if self.hessian is None or len(start) > WIDEST:
            return None
        if self._bending is None:
            self._bending = self.hessian(start) / self.scale
        H = self._bending + np.diag(penalty)
        H += np.diag(np.full(len(H), RIDGE * np.trace(H) / len(H)))
        try:
            basis: Floats = np.linalg.inv(np.linalg.cholesky(H)).T
        except np.linalg.LinAlgError:  # 0
            return None
        if not np.isfinite(basis).all():
            return None
        # the first step of L-BFGS has length 1, whatever the gradient; in this unit it is Newton's step
        return basis * np.linalg.norm(slope @ basis)


@one_blas_thread()
def approximate_hessian(objective: Curved, X: Matrix, vector: Floats, sample: int = SAMPLE) -> Floats:
    """Σ c·x̄·x̄ᵀ with x̄ = (x, 1) and the curvature c of each document, from a sample.

    A loss that depends on differences of scores only does not bend if all scores of a query change alike.
    So its x̄ are relative to their mean over the query, weighted by c, and the constant bends as the average
    weight does.
    """
    ptr = objective.ptr
    every = max(-(-int(ptr[-1]) // sample), 1)
    queries = np.arange(0, len(ptr) - 1, every)
    if len(queries) < len(ptr) - 1:
        lengths = np.diff(ptr)[queries]
        starts = np.cumsum(lengths) - lengths
        X = X[np.arange(lengths.sum()) + np.repeat(ptr[queries] - starts, lengths)]
        objective, ptr = objective.select(queries), np.append(starts, lengths.sum())
    wide: Floats = np.column_stack([X, np.ones(len(X))])
    _, slope, curvature = objective.with_curvature(wide @ vector)
    weighted: Floats = wide * np.maximum(curvature, 0.0)[:, None]
    H: Floats = wide.T @ weighted
    if abs(slope.sum()) <= INVARIANT * np.abs(slope).sum():
        sums: Floats = np.add.reduceat(weighted, ptr[:-1], axis=0)
        sums = sums[sums[:, -1] > 0]
        H -= (sums / sums[:, -1:]).T @ sums
        H[-1], H[:, -1] = 0.0, 0.0
        H[-1, -1] = np.trace(H) / max(len(H) - 1, 1)
    return H * every
