"""fusion: how ways to fuse runs withstand random rankers that replace some of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from topkit.data import InputError, Judgments, Run, read_qrels
from topkit.data.settings import Setting, check_settings, lookup, settings_of
from topkit.fusion import AGGREGATORS, Ballots, fuse, read_rankings
from topkit.metrics import evaluate_run
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import as_rows
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import find_file, find_files, fingerprint
from topkit.studies.spec import Study

METHODS = ("agreement", "ulara", "mallows", "borda", "combmnz", "rrf")
LEVELS = (0, 10, 20, 30)


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``fusion``."""

    runs: Annotated[
        str,
        Setting("The runs to fuse (TREC, CSV or LETOR text); {data} is TOPKIT_DATA, else ../shared/data."),
    ] = "{data}/trec3/runs/*.gz"
    qrels: Annotated[str, Setting("TREC judgments, used to measure the fused runs but not to fuse them.")] = (
        "{data}/trec3/qrels.txt"
    )
    methods: Annotated[tuple[str, ...], Setting("Fusion methods.", choices=tuple(AGGREGATORS))] = METHODS
    variants: Annotated[
        Mapping[str, Any],
        Setting("Further methods by name: a table with a method and its settings for each."),
    ] = field(default_factory=dict)
    levels: Annotated[tuple[int, ...], Setting("How many runs are replaced by random ones.", low=0)] = LEVELS
    draws: Annotated[
        int, Setting("Repetitions per level (one at level 0, where nothing is random).", low=1)
    ] = 3
    keep: Annotated[int, Setting("Documents of a fused run that are kept per query.", low=1)] = 1000
    depth: Annotated[
        int, Setting("Documents of each run that are used, also of random ones; 0 uses all.", low=0)
    ] = 0


@dataclass(frozen=True)
class Fused:
    """A fusion of runs, some of them replaced by random rankers. Files are named by fingerprint."""

    runs: tuple[str, ...]
    qrels: str
    method: str
    settings: Mapping[str, Any]
    level: int
    draw: int
    keep: int
    depth: int
    seed: int
    metrics: tuple[str, ...]


def cells(study: Study[Settings]) -> Iterator[Cell[Fused]]:
    """One fusion per method, level and draw."""
    settings = study.settings
    paths = [str(path) for path in find_files(settings.runs, study.folder)]
    qrels = str(find_file(settings.qrels, study.folder))
    files = {fingerprint(path): path for path in [*paths, qrels]}
    runs = tuple(fingerprint(path) for path in paths)
    contestants = fusion_methods(settings)
    for level in settings.levels:
        for draw in range(settings.draws if level else 1):
            for name, (method, chosen) in contestants.items():
                work = Fused(
                    runs=runs,
                    qrels=fingerprint(qrels),
                    method=method,
                    settings=chosen,
                    level=level,
                    draw=draw,
                    keep=settings.keep,
                    depth=settings.depth,
                    seed=study.seeds[0],
                    metrics=study.metrics,
                )
                yield Cell(study.kind, {"method": name, "random": level, "draw": draw}, work, files)


def fusion_methods(settings: Settings) -> dict[str, tuple[str, dict[str, Any]]]:
    """Name in the table → method and its settings, checked: the plain methods, then the variants."""
    variants: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in settings.methods}
    for name, table in settings.variants.items():
        if not isinstance(table, Mapping) or not isinstance(table.get("method"), str):
            raise InputError(
                f"the variant {name!r} needs a method",
                f'write variants."{name}" = {{ method = "mallows", … }}',
            )
        if name in variants:
            raise InputError(f"two methods have the name {name!r}", "give the variant a different name")
        method = table["method"]
        chosen = {key: value for key, value in table.items() if key != "method"}
        known = settings_of(lookup(AGGREGATORS, method, "fusion method"))
        variants[name] = method, check_settings(known, chosen, f"fusion method {method!r}")
    return variants


def compute(cell: Cell[Fused]) -> Outcome:
    """Fuse the runs, some of them replaced; all methods see the same draws."""
    work = cell.work
    paths = tuple(cell.files[content] for content in work.runs)
    mixed = _mixed(paths, work.depth, work.level, work.seed + 1000 * work.level + work.draw)
    seed = work.seed + work.draw
    fused = fuse(list(mixed), work.method, keep=work.keep, seed=seed, **work.settings).run
    result = evaluate_run(_judgments(cell.files[work.qrels]), fused, work.metrics, convention="trec")
    return as_rows(result.qids, result.per_query, {})


@lru_cache(maxsize=1)
def _runs(paths: tuple[str, ...], depth: int) -> tuple[Run, ...]:
    runs = (run for path in paths for run in read_rankings(path))
    return tuple(first_documents(run, depth) if depth else run for run in runs)


@lru_cache(maxsize=1)
def _mixed(paths: tuple[str, ...], depth: int, level: int, seed: int) -> tuple[Run, ...]:
    return tuple(replace_by_random(_runs(paths, depth), level, seed))


def first_documents(run: Run, depth: int) -> Run:
    """The run with the first ``depth`` documents of each query."""
    place = np.arange(len(run.scores)) - np.repeat(run.ptr[:-1], np.diff(run.ptr))
    kept = np.flatnonzero(place < depth)
    ptr = np.append(0, np.cumsum(np.minimum(np.diff(run.ptr), depth)))
    return Run(run.qids, ptr, run.docs.take(kept), run.scores[kept].copy(), run.name)


@lru_cache(maxsize=1)
def _judgments(path: str) -> Judgments:
    return read_qrels(path)


def replace_by_random(runs: Sequence[Run], number: int, seed: int, length: int | None = None) -> list[Run]:
    """The runs with ``number`` of them, drawn at random, replaced by random rankers named ``random-…``.

    A random ranker draws from the documents that any of the runs returned for the query. It returns as many
    as the longest list of the runs, or ``length``.
    """
    if not 0 <= number <= len(runs):
        raise InputError(f"cannot replace {number} of {len(runs)} runs", f"use levels from 0 to {len(runs)}")
    rng = np.random.default_rng(seed)
    pool = Ballots.of(runs)
    size = int(pool.lengths.max()) if length is None else length
    replaced = set(rng.permutation(len(runs))[:number].tolist())
    return [
        random_ranker(pool, size, rng, f"random-{i}") if i in replaced else run for i, run in enumerate(runs)
    ]


def random_ranker(pool: Ballots, length: int, rng: np.random.Generator, name: str) -> Run:
    """A ranker that returns ``length`` documents of each query's pool, drawn at random, in random order."""
    rows, ptr = [np.zeros(0, np.int64)], [0]
    for q in range(len(pool)):
        chosen = rng.permutation(int(pool.pool_sizes[q]))[:length]
        rows.append(pool.rows[pool.doc_ptr[q] + chosen])
        ptr.append(ptr[-1] + len(chosen))
    scores = np.concatenate([np.arange(len(part), 0, -1.0) for part in rows])
    return Run(pool.qids, np.array(ptr), pool.source.take(np.concatenate(rows)), scores, name)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """Each measure against the number of random runs, one line per method."""
    levels = study.settings.levels
    for which in study.metrics:
        means = results.mean(which, "method", "random")
        rows = tuple(
            (method, tuple(means[method, level] for level in levels)) for method in results.levels("method")
        )
        note = f"{which} by the number of random runs; mean of {study.settings.draws} draws; convention trec"
        yield TablePart(f"fusion-{which}", ScoreTable(tuple(map(str, levels)), rows, (note,)))
        lines = {name: list(values) for name, values in rows}
        yield PlotPart(f"fusion-{which}", curves(levels, lines, "random runs", which), note + ".")


FUSION = Kind(
    summary="fusion of runs, some of them replaced by random ones",
    code=Code(Settings, Fused, cells, compute, show),
    metrics=("map", "p@10"),
    learns=False,
)
