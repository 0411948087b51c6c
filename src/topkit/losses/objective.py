"""A loss bound to labels: it runs the loss function over chunks of queries on threads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats, Ints, query_chunks, thread_map
from topkit.data.settings import settings_of
from topkit.losses.preferences import Preferences, concatenated_ranges

if TYPE_CHECKING:
    from topkit.losses.base import Loss

Block = tuple[Floats, Floats, Floats]
"""Values per query, gradient and curvature per document."""

LossFunction = Callable[..., Block]
"""``function(scores, labels, ptr, **settings)``; see :mod:`topkit.losses.base`."""

Prepare = Callable[..., Any]
"""``prepare(labels, ptr, **settings)``: what the loss function gets in place of the labels."""

BoundBlock = Callable[[Floats, bool], Block]
"""(scores, whether to compute the curvature) → values, gradient and curvature of one block of queries."""


def bind(
    loss: Loss, truth: Floats | Preferences, ptr: Ints, weights: Floats | None, columns: Mapping[str, Floats]
) -> Objective:
    """Cut the queries into chunks and prepare the labels of each."""
    chunks = query_chunks(ptr)

    def chunk(queries: tuple[int, int]) -> tuple[slice, BoundBlock]:
        first, last = queries
        rows = slice(int(ptr[first]), int(ptr[last]))
        bounds = ptr[first : last + 1] - ptr[first]
        labels: Floats | Preferences
        if isinstance(truth, Preferences):
            labels = truth if len(chunks) == 1 else truth.select(np.arange(first, last))
        else:
            labels = truth[rows]
        of_rows = {name: values[rows] for name, values in columns.items()}
        return rows, bind_block(loss.function, loss.prepare, loss.settings, labels, bounds, of_rows)

    return Objective(loss, truth, ptr, weights, tuple(thread_map(chunk, chunks)), columns)


def bind_block(
    function: LossFunction,
    prepare: Prepare | None,
    settings: Mapping[str, Any],
    labels: Any,
    ptr: Ints,
    columns: Mapping[str, Floats] = MappingProxyType({}),
) -> BoundBlock:
    """A loss function bound to the labels and settings of one block."""
    truth = labels if prepare is None else prepare(labels, ptr, **_accepted(prepare, settings), **columns)
    arguments = _accepted(function, settings)
    if "curved" in inspect.signature(function).parameters:
        return lambda scores, curved: function(scores, truth, ptr, curved=curved, **arguments)
    return lambda scores, curved: function(scores, truth, ptr, **arguments)


def _accepted(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in settings_of(function)}


@dataclass(frozen=True)
class Objective:
    """A loss bound to labels: a function of the scores alone, for optimisers and boosters."""

    loss: Loss
    truth: Floats | Preferences
    ptr: Ints
    weights: Floats | None
    chunks: tuple[tuple[slice, BoundBlock], ...] = field(repr=False)
    """Rows of each chunk of queries, and the loss bound to their labels."""
    columns: Mapping[str, Floats] = field(default_factory=dict, repr=False)
    """The document weights and the teacher's scores, if there are any."""

    def __len__(self) -> int:
        """Number of documents."""
        return int(self.ptr[-1])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.ptr) - 1

    def __call__(self, scores: ArrayLike) -> tuple[float, Floats]:
        """The weighted sum over queries, and its gradient."""
        values, gradient, _ = self._run(scores, False)
        return float(values.sum()), gradient

    def with_curvature(self, scores: ArrayLike) -> tuple[float, Floats, Floats]:
        """Value, gradient and curvature: the diagonal of the Hessian, or a positive substitute for it.

        Losses that are not convex or have no second derivative use the substitute; it has the right scale for
        a Newton step of a booster.
        """
        values, gradient, curvature = self._run(scores, True)
        return float(values.sum()), gradient, curvature

    def per_query(self, scores: ArrayLike) -> Floats:
        """The (weighted) loss of each query."""
        return self._run(scores, False)[0]

    def select(self, queries: Ints) -> Objective:
        """The same loss on some of the queries, in this order: a mini-batch."""
        truth: Floats | Preferences
        rows, ptr = concatenated_ranges(self.ptr, queries)
        truth = self.truth.select(queries) if isinstance(self.truth, Preferences) else self.truth[rows]
        columns = {name: values[rows] for name, values in self.columns.items()}
        weights = None if self.weights is None else self.weights[queries]
        return bind(self.loss, truth, ptr, weights, columns)

    def _run(self, scores: ArrayLike, curved: bool) -> Block:
        s = writable(scores)
        if s.shape != (len(self),):
            raise ValueError(f"expected {len(self)} scores, got an array of shape {s.shape}")
        if not np.isfinite(s.sum()) and not np.isfinite(s).all():
            raise ValueError("scores must be finite numbers")
        blocks = thread_map(lambda chunk: chunk[1](s[chunk[0]], curved), self.chunks)
        if not blocks:
            values, gradient, curvature = np.zeros(0), np.zeros(0), np.zeros(0)
        elif len(blocks) == 1:
            values, gradient, curvature = blocks[0]
        else:
            values, gradient, curvature = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        if self.weights is not None:
            per_document = np.repeat(self.weights, np.diff(self.ptr))
            values, gradient = values * self.weights, gradient * per_document
            curvature = curvature * per_document if curved else curvature
        return values, gradient, curvature


def writable(values: ArrayLike) -> Floats:
    """As contiguous, writable float64: Numba compiles a kernel again for arrays of another kind."""
    return np.require(values, np.float64, ["C", "A", "W"])
