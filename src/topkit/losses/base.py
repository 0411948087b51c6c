"""What a loss is: a function of a block of queries, with its settings.

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

:mod:`topkit.losses.objective` cuts the queries into chunks, calls the function for each chunk on threads,
joins the results and applies the query weights.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.data.settings import Setting, check_settings, settings_of
from topkit.losses.objective import Block as Block
from topkit.losses.objective import LossFunction, Objective, Prepare, bind, writable
from topkit.losses.preferences import Preferences

Column = Floats | None
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
        return bind(self, self._checked(labels, bounds), bounds, query_weights, columns)

    def __call__(
        self, scores: ArrayLike, labels: ArrayLike | Preferences, ptr: ArrayLike
    ) -> tuple[float, Floats]:
        """The sum over queries, and its gradient with respect to the scores."""
        return self.on(labels, ptr)(scores)

    def _columns(self, optional: Mapping[str, ArrayLike | None], documents: int) -> dict[str, Floats]:
        """The numbers of the documents that were given, checked."""
        columns = {name: writable(values) for name, values in optional.items() if values is not None}
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
        values = writable(labels)
        if values.shape != (ptr[-1],):
            raise ValueError(f"expected {ptr[-1]} labels, got an array of shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("labels must be finite numbers")
        return values


def define(function: LossFunction, prepare: Prepare | None = None) -> Callable[..., Loss]:
    """An entry of :data:`topkit.losses.LOSSES`: settings → :class:`Loss`.

    The settings are those declared by ``prepare`` and by ``function``; the name and the documentation are
    those of ``function``.
    """
    name = function.__name__.replace("_", "-")
    known = {**(settings_of(prepare) if prepare else {}), **settings_of(function)}

    def make(**settings: Any) -> Loss:
        values = {key: setting.default for key, setting in known.items()}
        values |= check_settings(known, settings, f"loss {name!r}")
        return Loss(name, values, function, prepare)

    hints: dict[str, Any] = {}
    for part in (prepare, function):
        if part is not None:
            declared = get_type_hints(part, include_extras=True)
            hints |= {key: declared[key] for key in settings_of(part)}
    kind = inspect.Parameter.KEYWORD_ONLY
    make.accepts = Loss(name, {}, function, prepare).accepts  # type: ignore[attr-defined]
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(key, kind, default=known[key].default, annotation=hints[key]) for key in known]
    )
    make.__annotations__ = hints
    make.__name__ = make.__qualname__ = function.__name__
    make.__module__, make.__doc__ = function.__module__, function.__doc__
    return make


def weighted(values: Floats, document_weights: Column) -> Floats:
    """The values times the weights of their documents, if there are any."""
    return values if document_weights is None else values * document_weights
