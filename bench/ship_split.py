"""One evaluation on Dask split into arithmetic, Dask and waiting, and a simulation of larger clusters.

Times are processor seconds, which do not depend on how many cores the machine has to spare: four workers on
two cores wait for a core, which is told apart.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

import topkit as tk
from bench.ship_data import write_large
from topkit.compute.cluster import Cluster, connected
from topkit.data.partitions import Plan, plan_partitions
from topkit.data.streaming import stream_dataset
from topkit.rankers.pieces import plus
from topkit.scale.gradient import LinearGradient, gradient_sums
from topkit.scale.recipe import Recipe
from topkit.scale.spread import Loaded, SpreadPieces, loaded_results
from topkit.scorers import LinearScorer

DOCUMENTS, FEATURES, ROWS, EVALUATIONS = 1_200_000, 46, 1 << 16, 20
WORKERS, SIMULATED = (1, 2, 4), (16, 64)


class Split(NamedTuple):
    """Seconds of one evaluation; each is the median over evaluations."""

    workers: int
    wall: float
    arithmetic: float
    """Processor time of the slowest worker in its task."""
    total_arithmetic: float
    """Processor time of all workers in their tasks."""
    waiting: float
    """How much longer the slowest task took than its processor time: it waited for a core."""
    central: float
    """Processor time of client and scheduler, which are one process here."""
    at_worker: float
    """Processor time of a worker outside its task."""


def timed(
    loaded: Loaded, combine: Callable[..., Any], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, float, float]:
    """The results of a worker, the processor time of its task, and its wall time."""
    wall, thread = time.perf_counter(), time.thread_time()
    results = loaded_results(loaded, combine, function, arguments)
    return results, time.thread_time() - thread, time.perf_counter() - wall


def worker_seconds(cluster: Cluster) -> float:
    """Processor seconds of all worker processes so far."""
    pids = cluster.client.run(os.getpid).values()
    return float(sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids))


def measured(plan: Plan, recipe: Recipe, workers: int) -> Split:
    """The split of an evaluation with so many workers."""
    with connected(workers=workers) as cluster:
        pieces = SpreadPieces.of(cluster, plan, recipe)
        vector = np.zeros(FEATURES + 1)
        for _ in range(3):  # loads the partitions and the kernels
            pieces.total(gradient_sums, vector)
        rows = []
        before = worker_seconds(cluster)
        for step in range(EVALUATIONS):
            vector = np.full(FEATURES + 1, 1e-3 * step)
            wall, central = time.perf_counter(), time.process_time()
            tasks = cluster.over(pieces.loaded, timed, plus, gradient_sums, (vector,))
            wall, central = time.perf_counter() - wall, time.process_time() - central
            spent, took = [task[1] for task in tasks], [task[2] for task in tasks]
            rows.append((wall, max(spent), sum(spent), max(took) - max(spent), central))
        outside = (worker_seconds(cluster) - before) / EVALUATIONS
    wall, slowest, total, waiting, central = np.median(rows, axis=0)
    return Split(workers, wall, slowest, total, waiting, central, max(outside - total, 0.0) / workers)


@cache
def splits() -> list[Split]:
    """The split of an evaluation for 1, 2 and 4 workers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.parquet")
        write_large(path, DOCUMENTS, FEATURES)
        plan = plan_partitions(path, ROWS)
        learner = tk.ranker("topk-listmle", k=10, normalise="none")
        preparation = learner.preparation_for(next(stream_dataset(path, 1000)))
        method = LinearGradient("topk-listmle", {"k": 10}, LinearScorer())
        recipe = Recipe(learner, method, preparation, plan.truth)
        return [measured(plan, recipe, workers) for workers in WORKERS]


def speed_up(workers: int, *, over_one_worker: bool) -> float:
    """How many times as fast so many workers are, each with a core of its own: waiting is left out."""
    found = {row.workers: row for row in splits()}

    def seconds(row: Split) -> float:
        return row.arithmetic + row.central + row.at_worker

    alone = seconds(found[1]) if over_one_worker else found[1].total_arithmetic
    return alone / seconds(found[workers])


def split() -> None:
    """Top-k ListMLE on 1,200,000 × 46 with 1, 2 and 4 local workers, and 16 and 64 simulated."""
    found = splits()
    print(
        f"{'workers':>8}{'wall':>9}{'arithmetic':>12}{'waiting':>9}{'client':>9}{'worker':>9}  milliseconds"
    )
    for row in found:
        figures = (row.wall, row.arithmetic, row.waiting, row.central, row.at_worker)
        widths = (9, 12, 9, 9, 9)
        cells = "".join(f"{1e3 * x:{width}.1f}" for x, width in zip(figures, widths, strict=True))
        print(f"{row.workers:8}{cells}")
    each, fixed = np.polyfit([row.workers for row in found], [row.central for row in found], 1)
    total, outside = min(row.total_arithmetic for row in found), np.median([row.at_worker for row in found])
    print(f"arithmetic of all workers: {1e3 * total:.0f} ms")
    print(f"client and scheduler: {1e3 * fixed:.1f} ms + {1e3 * each:.2f} ms per worker")
    print("simulated with these costs, a core per worker: arithmetic/W + worker + client(W)")
    for factor, what in ((1, f"{DOCUMENTS:,} documents"), (100, f"{100 * DOCUMENTS:,} documents")):
        alone = factor * total
        for workers in (*WORKERS, *SIMULATED):
            seconds = alone / workers + outside + max(fixed, 0.0) + max(each, 0.0) * workers
            gain = f"{alone / seconds:5.1f} times one process"
            print(f"{what:>24}, {workers:3} workers: {1e3 * seconds:9.1f} ms, {gain}")
