"""What the benchmarks of fusion share: runs, measures and plots."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from topkit.data import Grade, Judgments, Run
from topkit.fusion.formats import read_ranking_table

PLOTS = Path("bench/results")
KEEP = 1000


def trec3_runs() -> tuple[list[Run], Judgments]:
    folder = real_data_folder()
    if folder is None:
        sys.exit("real data not at hand: set TOPKIT_DATA to its folder")
    runs = [tk.read_run(path) for path in sorted((folder / "trec3" / "runs").glob("*.gz"))]
    return runs, tk.read_qrels(folder / "trec3" / "qrels.txt")


def measure(judgments: Judgments, run: Run, metrics: Sequence[str] = ("map", "p@10")) -> list[float]:
    result = tk.evaluate_run(judgments, run, metrics, convention="trec")
    return [float(result.mean[metric]) for metric in metrics]


def letor_fold(fold: int) -> tuple[list[Run], Judgments]:
    """The rankings and the judgments of a test fold of MQ2008-agg."""
    folder = real_data_folder()
    if folder is None:
        sys.exit("real data not at hand: set TOPKIT_DATA to its folder")
    place = folder / "MQ2008-agg" / f"Fold{fold}"
    rows = (line.split(",") for line in (place / "rel_test.csv").read_text().split())
    judgments = Judgments(tuple(Grade(query, doc, float(grade)) for query, _, doc, grade in rows))
    return read_ranking_table(place / "rank_test.csv"), judgments


def cut_runs(runs: Sequence[Run], depth: int, queries: int) -> list[Run]:
    """The first ``depth`` documents of the first ``queries`` queries."""
    cut = []
    for run in runs:
        rows = [np.arange(run.ptr[q], min(run.ptr[q] + depth, run.ptr[q + 1])) for q in range(queries)]
        ptr = np.cumsum([0] + [len(part) for part in rows])
        index = np.concatenate(rows)
        cut.append(Run(run.qids[:queries], ptr, run.docs.take(index), run.scores[index].copy(), run.name))
    return cut


def new_plot(columns: int) -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, columns, figsize=(6 * columns, 4), squeeze=False, layout="constrained")
    return figure, axes[0]


def save(figure: Any, name: str) -> None:
    PLOTS.mkdir(exist_ok=True)
    figure.savefig(PLOTS / name, dpi=120)
    print(f"plot: {PLOTS / name}")
