"""What a loss is: a function of (scores, labels, ptr), and the same function bound to its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import thread_count, thread_map
from topkit.data import InputError
from topkit.losses.preferences import Preferences

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Evaluate = Callable[[Floats, int, int, Floats, Floats, Floats], None]
"""(scores, first query, last query, values out, gradient out, curvature out): fill the outputs of queries.

The outputs have the full length; the curvature may have length 0, which says that nobody asked for it.
"""

Bind = Callable[[Any, Ints], Evaluate]
"""(labels or preferences, ptr) → the function that evaluates blocks of queries."""

BLOCK = 1 << 15
"""Documents worth a thread of their own."""


@dataclass(frozen=True)
class Loss:
    """A loss on scores, summed over queries: ``value, gradient = loss(scores, labels, ptr)``.

    Query q is rows ``ptr[q]:ptr[q+1]``; labels say what the truth is (see :class:`topkit.data.Truth`), or are
    :class:`Preferences` for pairwise losses on given pairs. The gradient is float64, one number a document.
    The result has the same bits for any number of threads.

    >>> import topkit as tk
    >>> value, gradient = tk.loss("logistic")([0.0, 0.0], [1, 0], [0, 2])
    >>> round(value, 4), gradient.tolist()
    (0.6931, [-0.5, 0.5])
    """

    name: str
    settings: Mapping[str, Any]
    bind: Bind = field(repr=False)
    pairs_given: bool = False
    """True where the truth is :class:`Preferences`, not labels."""
    _latest: list[Objective] = field(default_factory=list, repr=False, compare=False)
    """The loss on the labels of the latest call: a loop over scores prepares the same labels once."""

    def on(
        self, labels: ArrayLike | Preferences, ptr: ArrayLike, weights: ArrayLike | None = None
    ) -> Objective:
        """The loss bound to a truth (prepared once), with an optional weight for each query."""
        bounds = np.ascontiguousarray(ptr, np.int64)
        if bounds.ndim != 1 or len(bounds) < 1 or bounds[0] != 0 or (np.diff(bounds) < 0).any():
            raise ValueError("ptr must rise from 0 to the number of documents")
        if isinstance(labels, Preferences) != self.pairs_given:
            wanted = "preference pairs" if self.pairs_given else "labels"
            raise InputError(
                f"the loss {self.name!r} with these settings needs {wanted}",
                "use pairs='given' with preferences, and labels with every other loss",
            )
        truth: Floats | Preferences
        if isinstance(labels, Preferences):
            labels.check(bounds)
            truth = labels
        else:
            truth = np.ascontiguousarray(labels, np.float64)
            if truth.shape != (bounds[-1],):
                raise ValueError(f"{bounds[-1]} documents need as many labels, not {truth.shape}")
            if not np.isfinite(truth.sum()):
                raise ValueError("labels must be finite numbers")
        scale = None if weights is None else np.ascontiguousarray(weights, np.float64)
        if scale is not None and (scale.shape != (len(bounds) - 1,) or not (scale >= 0).all()):
            raise InputError(f"{len(bounds) - 1} queries need as many weights, none of them negative")
        return Objective(self, truth, bounds, scale, self.bind(truth, bounds))

    def __call__(
        self, scores: ArrayLike, labels: ArrayLike | Preferences, ptr: ArrayLike
    ) -> tuple[float, Floats]:
        """The sum over queries, and its gradient in the scores."""
        if isinstance(labels, Preferences):
            return self.on(labels, ptr)(scores)
        latest = self._latest[0] if self._latest else None
        if latest is None or not (
            np.array_equal(latest.ptr, ptr) and np.array_equal(np.asarray(latest.truth), labels)
        ):
            latest = self.on(np.array(labels, np.float64), np.array(ptr, np.int64))
            self._latest[:] = [latest]
        return latest(scores)


@dataclass(frozen=True)
class Objective:
    """A loss bound to labels: a function of the scores alone, for optimisers and boosters."""

    loss: Loss
    truth: Floats | Preferences
    ptr: Ints
    weights: Floats | None
    evaluate: Evaluate = field(repr=False)

    def __len__(self) -> int:
        return int(self.ptr[-1])

    @property
    def n_queries(self) -> int:
        return len(self.ptr) - 1

    def __call__(self, scores: ArrayLike) -> tuple[float, Floats]:
        """The weighted sum over queries, and its gradient."""
        values, gradient, _ = self._run(scores, False)
        return float(values.sum()), gradient

    def with_curvature(self, scores: ArrayLike) -> tuple[float, Floats, Floats]:
        """Value, gradient and curvature: the diagonal of the Hessian, or a positive stand-in for it.

        The stand-in serves losses that are not convex or have no second derivative; it has the right scale
        for a Newton step of a booster.
        """
        values, gradient, curvature = self._run(scores, True)
        return float(values.sum()), gradient, curvature

    def per_query(self, scores: ArrayLike) -> Floats:
        """The (weighted) loss of each query."""
        return self._run(scores, False)[0]

    def select(self, queries: NDArray[np.int64]) -> Objective:
        """The same loss on some of the queries, in this order: a mini-batch."""
        lengths = np.diff(self.ptr)[queries]
        ptr = np.zeros(len(queries) + 1, np.int64)
        np.cumsum(lengths, out=ptr[1:])
        truth: Floats | Preferences
        if isinstance(self.truth, Preferences):
            truth = self.truth.select(queries)
        else:
            truth = self.truth[np.arange(ptr[-1]) + np.repeat(self.ptr[queries] - ptr[:-1], lengths)]
        weights = None if self.weights is None else self.weights[queries]
        return Objective(self.loss, truth, ptr, weights, self.loss.bind(truth, ptr))

    def _run(self, scores: ArrayLike, curved: bool) -> tuple[Floats, Floats, Floats]:
        s = np.ascontiguousarray(scores, np.float64)
        n = len(self)
        if s.shape != (n,):
            raise ValueError(f"{n} documents need as many scores, not {s.shape}")
        if not np.isfinite(s.sum()) and not np.isfinite(s).all():
            raise ValueError("scores must be finite numbers")
        values, gradient, curvature = np.zeros(self.n_queries), np.empty(n), np.empty(n if curved else 0)
        blocks = self._blocks()
        if len(blocks) == 1:
            self.evaluate(s, 0, self.n_queries, values, gradient, curvature)
        else:
            thread_map(lambda b: self.evaluate(s, b[0], b[1], values, gradient, curvature), blocks)
        if self.weights is not None:
            values *= self.weights
            each = np.repeat(self.weights, np.diff(self.ptr))
            gradient *= each
            if curved:
                curvature *= each
        return values, gradient, curvature

    def _blocks(self) -> list[tuple[int, int]]:
        """Runs of queries, one a thread, where there is enough work for more than one."""
        count = min(thread_count(), max(1, len(self) // BLOCK))
        cuts = np.searchsorted(self.ptr, np.linspace(0, len(self), count + 1)[1:-1])
        bounds = [0, *cuts.tolist(), self.n_queries]
        return list(pairwise(bounds))
