"""Training in parts: on a Parquet file larger than memory, or distributed over the workers of a cluster."""

from __future__ import annotations

import hashlib
import re
from contextlib import ExitStack
from os import PathLike
from typing import Any

from topkit.compute.cluster import Cluster
from topkit.data import Dataset, InputError
from topkit.data.partitions import Plan, plan_partitions
from topkit.data.streaming import stream_dataset
from topkit.rankers import Learner, ranker
from topkit.rankers.by_name import Gradient
from topkit.rankers.files import provenance
from topkit.scale.memory import MIN_WORKSPACE, give_memory_back, room_within, rows_within
from topkit.scale.sums import Recipe, Remembered, keep_loaded, spread_total, streamed_total, warm_up
from topkit.scale.trees import spread_trees
from topkit.scorers import Job, LinearScorer, Model, Report, TreeScorer, silent
from topkit.scorers.linear import vector_metric

ROWS = 1 << 16
"""Documents per partition on a cluster: enough work for a task, and enough tasks to distribute."""


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
    """Fit a gradient ranker to a Parquet file that may be larger than memory; the optimum is that of ``fit``.

    With ``cluster``, partitions stay in the memory of its workers, which must all see the file; linear
    rankers get (features + 1) numbers per worker and evaluation, trees are grown by ``lightgbm.dask``.
    Without a cluster, the file is streamed for every evaluation of a linear ranker, and the process stays
    within ``memory`` bytes. Validation data is held in memory by this process.
    """
    learner = ranker(name, **settings)
    method = _method(learner, spread=cluster is not None)
    if memory is not None:
        give_memory_back()
    plan = plan_partitions(path, rows or ROWS)
    head = next(stream_dataset(path, 1000)).select([0])
    preparation = learner.preparation_for(head)
    common = learner.common
    recipe = Recipe(preparation, method.loss.name, method.loss.settings, method.draws_order, common.seed)
    job = Job(
        head,
        None if valid is None else preparation(valid),
        learner.measure(),
        common.seed,
        report=report,
        metric=common.metric,
        convention=common.convention,
    )
    model: Model
    if isinstance(method.scorer, TreeScorer) and cluster is not None:
        if method.draws_order and plan.truth != "top-k":
            raise InputError(
                f"trees of the ranker {name!r} learn in parts from top-k truth only, got {plan.truth}",
                "write it first: topkit data convert FILE --truth top-10 --out NEW",
                file=path,
            )
        model, traces = spread_trees(cluster, plan, recipe, method.scorer, job)
    elif isinstance(method.scorer, LinearScorer):
        with ExitStack() as stack:
            if cluster is not None:
                total = spread_total(cluster, keep_loaded(cluster, plan, recipe))
            else:
                warm_up(recipe, head)
                batch = rows or rows_within(memory, plan)
                total = stack.enter_context(streamed_total(recipe, plan, batch, report, room_within(memory)))
            model, traces = method.scorer.descend(
                Remembered(total), preparation.width, plan.queries, vector_metric(job), report
            )
    else:
        raise TypeError(f"{type(method.scorer).__name__} cannot be trained in parts")
    return learner.install(preparation, model, traces, provenance(model, _describe(plan), valid))


def _method(learner: Learner, *, spread: bool) -> Gradient:
    """The method of the ranker if it can be trained in parts; otherwise InputError with the reason."""
    method = learner.method
    if not isinstance(method, Gradient):
        raise InputError(
            f"the ranker {learner.name!r} needs all documents at once, so it cannot be trained in parts",
            "use a gradient ranker such as topk-listmle or focusednet",
        )
    if method.loss.pairs_given:
        raise InputError("training in parts does not support preferences", "learn from labels")
    scorer = method.scorer
    if isinstance(scorer, LinearScorer) and scorer.optimiser == "lbfgs":
        return method
    if isinstance(scorer, TreeScorer) and spread:
        return method
    unsupported = "trees" if isinstance(scorer, TreeScorer) else "networks and Adam"
    raise InputError(
        f"{unsupported} cannot be trained in parts this way",
        "use scorer=linear with optimiser=lbfgs" + (" or trees" if spread else ", or trees with --dask"),
    )


def _describe(plan: Plan) -> dict[str, Any]:
    """The size and the truth of the training data, and a fingerprint of the file."""
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
    """The bytes of a size such as ``500MB`` or ``2GiB``; units are powers of 1000, with an ``i`` of 1024.

    >>> parse_memory("500MB"), parse_memory("2GiB")
    (500000000, 2147483648)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)[bB]?\s*", text)
    if not match:
        raise InputError(f"invalid size {text!r}", "write it as 500MB or 2GiB")
    unit = 1024 if match[3] else 1000
    size = int(float(match[1]) * unit ** " kmgt".index(match[2].lower() or " "))
    if size < MIN_WORKSPACE:
        raise InputError(f"the memory limit {text!r} is too small", "allow at least 400MB")
    return size
