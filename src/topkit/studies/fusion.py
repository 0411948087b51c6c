"""How fusion withstands rankers that know nothing: some are replaced by random ones, at several levels."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topkit.data import InputError, Judgments, Run
from topkit.fusion import AGGREGATORS, Ballots, fuse
from topkit.metrics import evaluate_run
from topkit.studies.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("agreement", "ulara", "borda", "combmnz", "rrf")


class Cell(NamedTuple):
    """One figure of the study."""

    method: str
    random: int
    """How many rankers were replaced."""
    draw: int
    metric: str
    value: float


def random_ranker(pool: Ballots, length: int, rng: np.random.Generator, name: str) -> Run:
    """A ranker that returns ``length`` documents of each query's pool, drawn at random, in random order."""
    rows, ptr = [np.zeros(0, np.int64)], [0]
    for q in range(len(pool)):
        chosen = rng.permutation(int(pool.pool_sizes[q]))[:length]
        rows.append(pool.rows[pool.doc_ptr[q] + chosen])
        ptr.append(ptr[-1] + len(chosen))
    scores = np.concatenate([np.arange(len(part), 0, -1.0) for part in rows])
    return Run(pool.qids, np.array(ptr), pool.source.take(np.concatenate(rows)), scores, name)


def replace_by_random(runs: Sequence[Run], number: int, seed: int, length: int | None = None) -> list[Run]:
    """The runs with ``number`` of them, drawn at random, replaced by random rankers named ``random-…``.

    A random ranker draws from the documents that any of the runs returned for the query, as many as the
    longest of their lists has unless ``length`` says otherwise.
    """
    if not 0 <= number <= len(runs):
        raise InputError(f"{number} of {len(runs)} runs cannot be replaced", f"use 0 to {len(runs)}")
    rng = np.random.default_rng(seed)
    pool = Ballots.of(runs)
    size = int(pool.lengths.max()) if length is None else length
    out = set(rng.permutation(len(runs))[:number].tolist())
    return [random_ranker(pool, size, rng, f"random-{i}") if i in out else run for i, run in enumerate(runs)]


def fusion_study(
    runs: Sequence[Run],
    judgments: Judgments,
    *,
    methods: Sequence[str] = METHODS,
    levels: Sequence[int] = (0, 10, 20, 30),
    draws: int = 5,
    metrics: Sequence[str] = ("map", "p@10"),
    keep: int = 1000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Cell]:
    """Measures of every method with each number of rankers replaced by random ones.

    Judgments serve to measure the fused runs (convention ``trec``), never to fuse them. Level 0 has one draw,
    since nothing is drawn. All methods see the same draws.
    """
    if unknown := [method for method in methods if method not in AGGREGATORS]:
        raise InputError(
            f"unknown aggregation method {unknown[0]!r}", f"choose from {', '.join(AGGREGATORS)}"
        )
    if draws < 1:
        raise InputError(f"draws must be at least 1, not {draws}")
    plan = [(level, draw) for level in levels for draw in range(draws if level else 1)]
    cells = []
    for done, (level, draw) in enumerate(plan):
        mixed = replace_by_random(runs, level, seed=seed + 1000 * level + draw)
        for number, method in enumerate(methods):
            fused = fuse(mixed, method, keep=keep, seed=seed + draw).run
            result = evaluate_run(judgments, fused, metrics, convention="trec")
            cells += [Cell(method, level, draw, name, float(value)) for name, value in result.mean.items()]
            if progress is not None:
                progress(done * len(methods) + number + 1, len(plan) * len(methods))
    return cells


def means(cells: Sequence[Cell], metric: str) -> dict[str, dict[int, float]]:
    """Method → level → mean over draws."""
    found: dict[str, dict[int, list[float]]] = {}
    for cell in cells:
        if cell.metric == metric:
            found.setdefault(cell.method, {}).setdefault(cell.random, []).append(cell.value)
    return {
        method: {level: float(np.mean(values)) for level, values in own.items()}
        for method, own in found.items()
    }


def fusion_table(cells: Sequence[Cell], metric: str) -> ResultTable:
    """Methods in rows, numbers of random rankers in columns."""
    table = means(cells, metric)
    levels = sorted({cell.random for cell in cells})
    draws = 1 + max((cell.draw for cell in cells), default=0)
    rows = tuple((method, tuple(own[level] for level in levels)) for method, own in table.items())
    note = f"{metric} by the number of random rankers; mean of {draws} draws (one for 0); convention trec"
    return ResultTable(tuple(map(str, levels)), rows, (note,))


def fusion_plot(cells: Sequence[Cell], metric: str) -> Figure:
    """The measure against the number of random rankers, a line for each method."""
    from topkit.studies.plots import curves

    table = means(cells, metric)
    levels = sorted({cell.random for cell in cells})
    lines = {method: [own[level] for level in levels] for method, own in table.items()}
    return curves(levels, lines, "random rankers", metric)


def write_cells(cells: Sequence[Cell], path: Path) -> None:
    """The study's long table as CSV."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(Cell._fields)
        writer.writerows(cells)
