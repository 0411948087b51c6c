"""Training in parts: a Parquet file larger than memory, or one spread over the workers of a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from typing import Any

from topkit.compute import Trace
from topkit.compute.cluster import Cluster
from topkit.data import Dataset, InputError
from topkit.data.partitions import Plan, plan_partitions
from topkit.data.streaming import stream_dataset
from topkit.rankers import Learner, ranker
from topkit.rankers.features import Preparation
from topkit.rankers.gradient import Gradient
from topkit.rankers.provenance import describe, versions
from topkit.scale.memory import MIN_WORKSPACE, give_memory_back, rows_within
from topkit.scale.sums import Recipe, Remembered, keep_loaded, spread_total, streamed_total, warm_up
from topkit.scale.trees import spread_trees
from topkit.scorers import Floats, LinearScorer, Model, Report, TreeScorer, silent
from topkit.scorers.network import filled, linear_scores

ROWS = 1 << 16
"""Documents of a partition where a cluster trains: enough work for a task, small enough to share out."""


def train_in_parts(
    name: str,
    path: str | PathLike[str],
    valid: Dataset | None = None,
    *,
    memory: int | None = None,
    cluster: Cluster | None = None,
    rows: int | None = None,
    report: Report = silent,
    **settings: Any,
) -> Learner:
    """Fit a gradient ranker to a Parquet file that need not fit into memory; the optimum is that of ``fit``.

    With ``cluster``, partitions stay in the memory of its workers, which must all see the file; linear
    rankers move (features + 1) numbers a partition and step, trees are grown by ``lightgbm.dask``. Without,
    the file is streamed once for every evaluation of a linear ranker, within ``memory`` bytes of process.
    Validation data is held whole, here.
    """
    made = ranker(name, **settings)
    method = _method(made, spread=cluster is not None)
    if memory is not None:
        give_memory_back()
    plan = plan_partitions(path, rows or ROWS)
    wanted = made.common.normalise
    head = next(stream_dataset(path, 1000)).select([0])
    preparation = Preparation.of(
        head, made.common.features, method.normalisation if wanted == "auto" else wanted
    )
    prepared_valid = None if valid is None else preparation(valid)
    recipe = Recipe(preparation, method.loss.name, method.loss.settings)
    measure = made.measure()

    def judge(scores: Floats) -> float:
        return 0.0 if valid is None else measure(valid, scores)

    model: Model
    traces: list[Trace]
    scorer = method.scorer
    if isinstance(scorer, TreeScorer) and cluster is not None:
        model, traces = spread_trees(
            cluster, plan, recipe, scorer, prepared_valid, judge, made.common.seed, report
        )
    elif isinstance(scorer, LinearScorer):
        features = len(preparation.columns or preparation.names)
        by_vector = None if prepared_valid is None else _by_vector(prepared_valid, judge)
        with ExitStack() as stack:
            if cluster is not None:
                total = spread_total(cluster, keep_loaded(cluster, plan, recipe))
            else:
                warm_up(recipe, head)
                batch = rows or rows_within(memory, plan)
                total = stack.enter_context(streamed_total(recipe, plan, batch, report))
            model, traces = scorer.descend(Remembered(total), features, plan.queries, by_vector, report)
    else:
        raise TypeError(f"no way to train {type(scorer).__name__} in parts")
    made.preparation, made.model, made.traces = preparation, model, traces
    made.provenance = {
        "train": _describe(plan),
        "valid": None if valid is None else describe(valid),
        "preferences": None,
        "versions": versions(*(("lightgbm",) if model.kind == "trees" else ())),
    }
    return made


def _by_vector(valid: Dataset, judge: Callable[[Floats], float]) -> Callable[[Floats], float]:
    """The measure of a parameter vector on prepared validation data."""
    X = filled(valid.X)
    return lambda vector: judge(linear_scores(X, vector))


def _method(made: Learner, *, spread: bool) -> Gradient:
    """The ranker's method if it can be trained in parts; else InputError with the reason."""
    method = made.method
    if not isinstance(method, Gradient):
        raise InputError(
            f"the ranker {made.name!r} needs all documents at once, so it cannot be trained in parts",
            "use a gradient ranker such as topk-listmle or focusednet",
        )
    if method.loss.pairs_given:
        raise InputError("preferences cannot be given in parts", "learn from labels")
    scorer = method.scorer
    if isinstance(scorer, LinearScorer) and scorer.optimiser == "lbfgs":
        return method
    if isinstance(scorer, TreeScorer) and spread:
        return method
    what = "trees" if isinstance(scorer, TreeScorer) else "networks and Adam"
    raise InputError(
        f"{what} cannot be trained in parts this way",
        "use scorer=linear with optimiser=lbfgs" + (", or trees with --dask" if not spread else " or trees"),
    )


def _describe(plan: Plan) -> dict[str, Any]:
    """What the model was trained on; the file is told by a fingerprint of its bytes."""
    import hashlib

    with open(plan.path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {
        "sha256_of_file": digest,
        "queries": plan.queries,
        "documents": plan.documents,
        "features": plan.features,
        "truth": plan.truth,
    }


def parse_memory(text: str) -> int:
    """Bytes of a size such as ``500MB`` or ``2G``; units are powers of 1000, with an i of 1024.

    >>> parse_memory("500MB"), parse_memory("2GiB")
    (500000000, 2147483648)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)[bB]?\s*", text)
    if not found:
        raise InputError(f"{text!r} is not a size", "write it as 500MB or 2GiB")
    unit = 1024 if found[3] else 1000
    size = int(float(found[1]) * unit ** " kmgt".index(found[2].lower() or " "))
    if size < MIN_WORKSPACE:
        raise InputError(f"{text!r} of memory is too little to work in", "give at least 400MB")
    return size
