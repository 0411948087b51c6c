"""The registry of fusion methods, ``fuse`` (run and explanation) and ``aggregate`` (the run alone)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Run
from topkit.data import settings as declared
from topkit.fusion.agreement import agreement
from topkit.fusion.ballots import Ballots
from topkit.fusion.combine import combmnz, combsum
from topkit.fusion.luce import bradley_terry, plackett_luce
from topkit.fusion.mallows import mallows
from topkit.fusion.pairs import condorcet, kemeny
from topkit.fusion.positional import borda, rrf, weighted_borda
from topkit.fusion.result import Fusion, Outcome, Progress, is_across_queries
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
"""Name → function of :class:`Ballots` and the settings of the method."""

DEFAULT = "agreement"
"""The method that needs no setting and tolerates uninformative rankers and copies of a ranker."""


def settings_of(method: str) -> dict[str, object]:
    """The settings of a method with their defaults; seed and progress are not settings."""
    return {name: setting.default for name, setting in declared.settings_of(_aggregator(method)).items()}


def learns_across_queries(method: str) -> bool:
    """Whether a method learns from all queries together, so that its queries cannot be fused apart.

    >>> learns_across_queries("agreement"), learns_across_queries("borda")
    (True, False)
    """
    return is_across_queries(_aggregator(method))


def fuse(
    runs: Sequence[Run],
    method: str = DEFAULT,
    *,
    keep: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: object,
) -> Fusion:
    """Fuse the runs of several rankers without labels, and report what was learned about each.

    method: a name in :data:`AGGREGATORS`; ``settings`` are those of the method. keep: number of documents to
    keep per query (all by default). Lists may differ in length, documents and queries; the fused run has
    every query of any run. Ties are sorted by document id, so the order of the runs does not matter.

    >>> a = Run.of({"q": [("x", 3.0), ("y", 2.0), ("z", 1.0)]}, "a")
    >>> b = Run.of({"q": [("y", 9.0), ("x", 8.0)]}, "b")
    >>> fuse([a, b], "borda").run["q"]
    [('x', 5.0), ('y', 5.0), ('z', 1.0)]
    """
    aggregator = _aggregator(method)
    checked = declared.check_settings(declared.settings_of(aggregator), settings, f"fusion method {method!r}")
    if keep is not None and keep < 1:
        raise InputError(f"keep must be at least 1, got {keep}")
    accepted = inspect.signature(aggregator).parameters
    common = {"seed": seed, "progress": progress}
    call = {name: value for name, value in common.items() if name in accepted} | checked
    ballots = Ballots.of(runs)
    outcome = aggregator(ballots, **call)
    run = ballots.to_run(outcome.scores, method, keep)
    per_ranker = dict(outcome.per_ranker)
    if "weight" in per_ranker:
        per_ranker["weight"] = per_ranker["weight"] / per_ranker["weight"].sum()
    return Fusion(
        run,
        method,
        {name: dict(zip(ballots.rankers, each.tolist(), strict=True)) for name, each in per_ranker.items()},
        outcome.trace,
        outcome.converged,
        _places(run, ballots, outcome),
        outcome.diagnostics,
    )


def aggregate(
    runs: Sequence[Run], method: str = DEFAULT, *, keep: int | None = None, seed: int = 0, **settings: object
) -> Run:
    """The fused run of several runs; :func:`fuse` also returns weights, traces and diagnostics.

    The default, ``agreement``, needs no labels and no settings, and tolerates rankers that are not better
    than chance and copies of one ranker.

    >>> a = Run.of({"q": [("x", 3.0), ("y", 2.0)]}, "a")
    >>> b = Run.of({"q": [("x", 9.0), ("z", 8.0)]}, "b")
    >>> [doc for doc, score in aggregate([a, b], "rrf")["q"]]
    ['x', 'y', 'z']
    """
    return fuse(runs, method, keep=keep, seed=seed, progress=None, **settings).run


def _aggregator(method: str) -> Callable[..., Outcome]:
    return declared.lookup(AGGREGATORS, method, "fusion method")


def _places(run: Run, ballots: Ballots, outcome: Outcome) -> dict[str, dict[str, NDArray[np.float64]]] | None:
    """Place probabilities by query and document, in the order of the run."""
    if outcome.places is None:
        return None
    table: dict[str, dict[str, NDArray[np.float64]]] = {}
    for qid, (documents, probabilities) in zip(ballots.qids, outcome.places, strict=True):
        places = dict(zip(ballots.source.take(ballots.rows[documents]), probabilities, strict=True))
        table[qid] = {doc: places[doc] for doc, _ in run[qid] if doc in places}
    return table
