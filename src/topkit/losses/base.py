"""What a loss is: a function of a block of queries, and the framework that runs it over all queries.

A loss is one function::

    def listnet(scores, labels, ptr):
        ...
        return values, gradient, curvature  # one value per query, one slope and one curvature per document

and one line in :data:`topkit.losses.LOSSES`: ``"listnet": define(listnet)``. The arrays are those of one
block: query q is rows ``ptr[q]:ptr[q+1]``, and ``ptr`` starts at 0. Settings are keyword parameters declared
with :class:`topkit.data.settings.Setting`. Two things are optional:

- ``define(function, prepare)``: ``prepare(labels, ptr, **settings)`` does the work that depends on the labels
  alone, such as sorting. It runs once, when the loss is bound to labels, and the function gets its result in
  place of the labels.
- A parameter ``curved: bool``: False means that the curvature is not needed, and the function may return an
  empty array for it to save time.

A preparation with a parameter named in :data:`COLUMNS` gets these numbers of the documents, if there are any.

This file cuts the queries into chunks, calls the function for each chunk on threads, joins the results and
applies the query weights.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Floats, Ints, query_chunks, thread_map
from topkit.data import InputError
from topkit.data.settings import Setting, settings_of
from topkit.losses.preferences import Preferences, concatenated_ranges

Block = tuple[Floats, Floats, Floats]
"""Values per query, gradient and curvature per document."""

LossFunction = Callable[..., Block]
"""``function(scores, labels, ptr, **settings)``; see the top of this file."""

Prepare = Callable[..., Any]
"""``prepare(labels, ptr, **settings)``: what the loss function gets in place of the labels."""

Column = NDArray[np.float64] | None
"""One number per document, or None."""

COLUMNS = ("document_weights", "teacher")
"""What a preparation may take in addition to the labels: a weight per document, the scores of a teacher."""

K = Annotated[int, Setting("Number of documents at the top whose order counts.", low=1)]

WHOLE = 1 << 62
"""A k that no list reaches: the whole list counts."""


@dataclass(frozen=True)
class Loss:
    """A loss on scores, summed over queries: ``value, gradient = loss(scores, labels, ptr)``.

    Query q is rows ``ptr[q]:ptr[q+1]``. The labels are those of any :class:`topkit.data.Truth`, or
    :class:`Preferences` for pairwise losses with ``pairs="given"``. The gradient is float64, one number per
    document. The result is the same, bit by bit, for any number of threads.

    Every call prepares its labels (it sorts them, for example). For many calls on the same labels use
    :meth:`on`, which prepares them once.

    >>> import topkit as tk
    >>> value, gradient = tk.loss("logistic")([0.0, 0.0], [1, 0], [0, 2])
    >>> round(value, 4), gradient.tolist()
    (0.6931, [-0.5, 0.5])
    """

    name: str
    settings: Mapping[str, Any]
    """Every setting with its value."""
    function: LossFunction = field(repr=False)
    prepare: Prepare | None = field(default=None, repr=False)

    @property
    def pairs_given(self) -> bool:
        """Whether the loss learns from :class:`Preferences` instead of labels."""
        return self.settings.get("pairs") == "given"

    @property
    def accepts(self) -> tuple[str, ...]:
        """Which of :data:`COLUMNS` the loss accepts."""
        known = inspect.signature(self.prepare).parameters if self.prepare else {}
        return tuple(name for name in COLUMNS if name in known)

    def on(
        self,
        labels: ArrayLike | Preferences,
        ptr: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        document_weights: ArrayLike | None = None,
        teacher: ArrayLike | None = None,
    ) -> Objective:
        """The loss bound to labels, which are prepared once, with an optional weight per query.

        ``document_weights`` has one weight per document, which multiplies the terms of the loss in which the
        document is the relevant or the better one. ``teacher`` has the score of a teacher per document, for
        ``rank-distillation``. InputError if the loss does not accept them.
        """
        bounds = np.array(ptr, np.int64)
        if bounds.ndim != 1 or len(bounds) < 1 or bounds[0] != 0 or (np.diff(bounds) < 0).any():
            raise ValueError("ptr must increase from 0 to the number of documents")
        queries = len(bounds) - 1
        query_weights = None if weights is None else np.ascontiguousarray(weights, np.float64)
        if query_weights is not None and query_weights.shape != (queries,):
            raise InputError(f"expected {queries} query weights, got {query_weights.size}")
        if query_weights is not None and not (query_weights >= 0).all():
            raise InputError("query weights must not be negative")
        columns = self._columns({"document_weights": document_weights, "teacher": teacher}, int(bounds[-1]))
        return _bind(self, self._checked(labels, bounds), bounds, query_weights, columns)

    def __call__(
        self, scores: ArrayLike, labels: ArrayLike | Preferences, ptr: ArrayLike
    ) -> tuple[float, Floats]:
        """The sum over queries, and its gradient with respect to the scores."""
        return self.on(labels, ptr)(scores)

    def _columns(self, given: Mapping[str, ArrayLike | None], documents: int) -> dict[str, Floats]:
        """The numbers of the documents that were given, checked."""
        columns = {name: _writable(values) for name, values in given.items() if values is not None}
        for name, values in columns.items():
            words = name.replace("_", " ")
            if name not in self.accepts or self.pairs_given:
                raise InputError(
                    f"the loss {self.name!r} with these settings takes no {words}",
                    "'topkit losses' shows what each loss accepts",
                )
            if values.shape != (documents,) or not np.isfinite(values).all():
                raise InputError(f"{words}: expected {documents} finite numbers, got shape {values.shape}")
            if name == "document_weights" and (values < 0).any():
                raise InputError("document weights must not be negative")
        return columns

    def _checked(self, labels: ArrayLike | Preferences, ptr: Ints) -> Floats | Preferences:
        if isinstance(labels, Preferences) != self.pairs_given:
            expected, got = ("preferences", "labels") if self.pairs_given else ("labels", "preferences")
            raise InputError(
                f"the loss {self.name!r} with these settings expects {expected}, got {got}",
                "use pairs='given' with preferences, and labels with every other loss",
            )
        if isinstance(labels, Preferences):
            labels.check(ptr)
            return labels
        values = _writable(labels)
        if values.shape != (ptr[-1],):
            raise ValueError(f"expected {ptr[-1]} labels, got an array of shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("labels must be finite numbers")
        return values


def _bind(
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


BoundBlock = Callable[[Floats, bool], Block]
"""(scores, whether to compute the curvature) → values, gradient and curvature of one block of queries."""


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

    def select(self, queries: NDArray[np.int64]) -> Objective:
        """The same loss on some of the queries, in this order: a mini-batch."""
        truth: Floats | Preferences
        rows, ptr = concatenated_ranges(self.ptr, queries)
        truth = self.truth.select(queries) if isinstance(self.truth, Preferences) else self.truth[rows]
        columns = {name: values[rows] for name, values in self.columns.items()}
        weights = None if self.weights is None else self.weights[queries]
        return _bind(self.loss, truth, ptr, weights, columns)

    def _run(self, scores: ArrayLike, curved: bool) -> Block:
        s = _writable(scores)
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


def weighted(values: Floats, document_weights: Column) -> Floats:
    """The values times the weights of their documents, if there are any."""
    return values if document_weights is None else values * document_weights


def _writable(values: ArrayLike) -> Floats:
    """As contiguous, writable float64: Numba compiles a kernel again for arrays of another kind."""
    return np.require(values, np.float64, ["C", "A", "W"])
