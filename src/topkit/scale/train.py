"""Training in parts: on a Parquet file larger than memory, or distributed over the workers of a cluster."""

from __future__ import annotations

import hashlib
import re
import warnings
from os import PathLike
from typing import Any

from topkit.compute import NotConverged, Trace
from topkit.compute.cluster import Cluster
from topkit.data import Dataset, InputError, Truth
from topkit.data.partitions import Plan, plan_partitions
from topkit.data.streaming import stream_dataset
from topkit.losses import loss
from topkit.rankers import Learner, ranker
from topkit.rankers.by_name import Gradient
from topkit.rankers.files import provenance
from topkit.rankers.pieces import Whole
from topkit.rankers.preparation import Preparation
from topkit.rankers.tune_and_mix import TuneAndMix
from topkit.scale.memory import MIN_WORKSPACE, give_memory_back, room_within, rows_within
from topkit.scale.recipe import Recipe
from topkit.scale.refusals import method_in_pieces
from topkit.scale.spread import SpreadPieces
from topkit.scale.streamed import streamed_pieces
from topkit.scale.tasks import mixture_on
from topkit.scale.trees import spread_trees
from topkit.scorers import Job, Model, Report, TreeScorer, silent

ROWS = 1 << 16
"""Documents per partition on a cluster: enough work for a task, and enough tasks to distribute."""
HEAD_ROWS = 1000
HEAD_QUERIES = 8
"""Queries that are trained on first out of core, so that the memory of libraries and kernels is known."""


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
    """Fit a ranker to a Parquet file that may be larger than memory; the model is that of ``fit``.

    With ``cluster``, partitions stay in the memory of its workers, which must all see the file; they get a
    few numbers per request and return totals; trees are grown by ``lightgbm.dask``, and the sources of a
    mixture are one task each, with all documents in the memory of a worker. Without a cluster,
    the file is streamed for every request, and the process stays within ``memory`` bytes. Validation data is
    held in memory by this process. Rankers whose training is not a sum over queries raise InputError.
    """
    learner = ranker(name, **settings)
    if isinstance(learner.method, TuneAndMix) and cluster is not None:
        return mixture_on(cluster, name, path, valid, report=report, **settings)
    method = method_in_pieces(learner, spread=cluster is not None)
    if memory is not None:
        give_memory_back()
    plan = plan_partitions(path, rows or ROWS)
    head = _head(path)
    preparation = learner.preparation_for(head)
    common = learner.common
    job = Job(
        preparation(head),
        None if valid is None else preparation(valid),
        learner.measure(),
        common.seed,
        report=report,
        metric=common.metric,
        convention=common.convention,
    )
    model: Model
    if method is None:
        if cluster is None:
            raise TypeError("trees need a cluster")
        model, traces = _trees(cluster, plan, preparation, learner, job)
    else:
        recipe = Recipe(learner, method, preparation, plan.truth)
        if cluster is not None:
            model, traces = method.train_on(SpreadPieces.of(cluster, plan, recipe), job)
        else:
            _warm_up(recipe, head)
            batch = rows or rows_within(memory, plan)
            with streamed_pieces(recipe, plan, batch, report, room_within(memory)) as pieces:
                model, traces = method.train_on(pieces, job)
    return learner.install(preparation, model, traces, provenance(model, _describe(plan), valid))


def _head(path: str | PathLike[str]) -> Dataset:
    """The first queries of the file."""
    data = next(stream_dataset(path, HEAD_ROWS))
    return data.select(list(range(min(data.n_queries, HEAD_QUERIES))))


def _warm_up(recipe: Recipe, head: Dataset) -> None:
    """Load and compile everything that training needs, so that its memory can be measured."""
    for piece in recipe.pieces(head):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            recipe.method.train_on(Whole(recipe.bind(piece), piece.X), recipe.job(piece))


def _trees(
    cluster: Cluster, plan: Plan, preparation: Preparation, learner: Learner, job: Job
) -> tuple[Model, list[Trace]]:
    """Trees of a gradient ranker on the workers of a cluster."""
    method = learner.method
    if not isinstance(method, Gradient) or not isinstance(method.scorer, TreeScorer):
        raise TypeError(f"{learner.name} has no trees")
    if not method.draws_order:
        return spread_trees(cluster, plan, preparation, method.loss, method.scorer, job)
    known = Truth.parse(plan.truth).k
    if known is None:
        raise InputError(
            f"trees of the ranker {learner.name!r} learn in parts from top-k truth only, got {plan.truth}",
            "write it first: topkit data convert FILE --truth top-10 --out NEW",
            file=plan.path,
        )
    bound, k = method.loss, method.loss.settings.get("k")
    if k is not None:  # as in memory: truth of fewer places keeps its own k
        k = min(k, known)
        bound = loss(bound.name, **{**bound.settings, "k": k})
    return spread_trees(cluster, plan, preparation, bound, method.scorer, job, k)


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
