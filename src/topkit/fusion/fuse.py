"""The registry of aggregators and its doors: ``fuse`` for all that is learnt, ``aggregate`` for the run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Run
from topkit.fusion.agreement import agreement
from topkit.fusion.ballots import Ballots
from topkit.fusion.combine import combmnz, combsum
from topkit.fusion.luce import bradley_terry, plackett_luce
from topkit.fusion.mallows import mallows
from topkit.fusion.pairs import condorcet, kemeny
from topkit.fusion.positional import borda, rrf, weighted_borda
from topkit.fusion.result import Fusion, Outcome, Progress
from topkit.fusion.ulara import ulara

AGGREGATORS: dict[str, Callable[..., Outcome]] = {
    "agreement": agreement,
    "borda": borda,
    "bradley-terry": bradley_terry,
    "combmnz": combmnz,
    "combsum": combsum,
    "condorcet": condorcet,
    "kemeny": kemeny,
    "mallows": mallows,
    "plackett-luce": plackett_luce,
    "rrf": rrf,
    "ulara": ulara,
    "weighted-borda": weighted_borda,
}
"""Name → function of :class:`Ballots` and the method's settings."""

LEARN_ACROSS_QUERIES = frozenset((agreement, mallows, ulara, weighted_borda))
"""Aggregators that weigh rankers by their behaviour on all queries together."""

DEFAULT = "agreement"


def learns_across_queries(method: str) -> bool:
    """Whether the result of a query depends on the other queries."""
    return _aggregator(method) in LEARN_ACROSS_QUERIES


def settings_of(method: str) -> dict[str, object]:
    """The settings of a method with their defaults (without seed and progress, which belong to the call)."""
    parameters = inspect.signature(_aggregator(method)).parameters.values()
    hidden = ("seed", "progress")
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in hidden}


def fuse(
    runs: Sequence[Run],
    method: str = DEFAULT,
    *,
    keep: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: object,
) -> Fusion:
    """Combine the runs of several rankers without labels, and say what was learnt of each.

    method: a name in :data:`AGGREGATORS`; ``settings`` are that method's. keep: documents kept for each query
    (all by default). Lists may differ in length, documents and queries; the fused run has every query that
    any run has. Equal scores are ordered by document id, so the order of the runs does not matter.

    >>> a = Run.of({"q": [("x", 3.0), ("y", 2.0), ("z", 1.0)]}, "a")
    >>> b = Run.of({"q": [("y", 9.0), ("x", 8.0)]}, "b")
    >>> fuse([a, b], "borda").run["q"]
    [('x', 5.0), ('y', 5.0), ('z', 1.0)]
    """
    aggregator = _aggregator(method)
    known = settings_of(method)
    if odd := [name for name in settings if name not in known]:
        raise InputError(f"{method} has no setting {odd[0]!r}", f"its settings: {', '.join(known) or 'none'}")
    if keep is not None and keep < 1:
        raise InputError(f"keep must be at least 1, not {keep}")
    accepted = inspect.signature(aggregator).parameters
    common = {"seed": seed, "progress": progress}
    call = {name: value for name, value in common.items() if name in accepted} | settings
    ballots = Ballots.of(runs)
    outcome = aggregator(ballots, **call)
    run = ballots.to_run(outcome.scores, method, keep)
    figures = dict(outcome.per_ranker)
    if "weight" in figures:
        figures["weight"] = figures["weight"] / figures["weight"].sum()
    return Fusion(
        run,
        method,
        {name: dict(zip(ballots.rankers, own.tolist(), strict=True)) for name, own in figures.items()},
        outcome.trace,
        outcome.converged,
        _places(run, ballots, outcome),
        outcome.diagnostics,
    )


def aggregate(
    runs: Sequence[Run], method: str = DEFAULT, *, keep: int | None = None, seed: int = 0, **settings: object
) -> Run:
    """The run that combines several; see :func:`fuse`, which also returns weights, traces and diagnostics.

    The default, ``agreement``, needs no labels or settings and withstands rankers that are no better than
    chance.

    >>> a = Run.of({"q": [("x", 3.0), ("y", 2.0)]}, "a")
    >>> b = Run.of({"q": [("x", 9.0), ("z", 8.0)]}, "b")
    >>> [doc for doc, score in aggregate([a, b], "rrf")["q"]]
    ['x', 'y', 'z']
    """
    return fuse(runs, method, keep=keep, seed=seed, progress=None, **settings).run


def _aggregator(method: str) -> Callable[..., Outcome]:
    if method not in AGGREGATORS:
        raise InputError(f"unknown aggregation method {method!r}", f"choose from {', '.join(AGGREGATORS)}")
    return AGGREGATORS[method]


def _places(run: Run, ballots: Ballots, outcome: Outcome) -> dict[str, dict[str, NDArray[np.float64]]] | None:
    """Place probabilities by query and document, in the order of the run."""
    if outcome.places is None:
        return None
    table: dict[str, dict[str, NDArray[np.float64]]] = {}
    for qid, (documents, probabilities) in zip(ballots.qids, outcome.places, strict=True):
        found = dict(zip(ballots.source.take(ballots.rows[documents]), probabilities, strict=True))
        table[qid] = {doc: found[doc] for doc, _ in run[qid] if doc in found}
    return table
