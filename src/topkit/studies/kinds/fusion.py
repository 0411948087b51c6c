"""fusion: how ways to fuse runs withstand rankers that know nothing, which replace some at several levels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from topkit.data import InputError, Judgments, Run, read_qrels, read_run
from topkit.fusion import AGGREGATORS, fuse
from topkit.metrics import evaluate_run
from topkit.studies.fits import as_rows
from topkit.studies.fusion import METHODS, replace_by_random
from topkit.studies.kind import Cell, Kind, Outcome, Part, Plot, Setting, Table
from topkit.studies.plots import curves
from topkit.studies.results import Results
from topkit.studies.sources import data_folder, fingerprint
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

SETTINGS = {
    "runs": Setting("{data}/trec3/runs/*.gz", "the runs to fuse; {data} is TOPKIT_DATA, else ../shared/data"),
    "qrels": Setting(
        "{data}/trec3/qrels.txt", "TREC judgments, to measure the fused runs, never to fuse them"
    ),
    "methods": Setting(list(METHODS), "ways to fuse", tuple(AGGREGATORS)),
    "levels": Setting([0, 10, 20, 30], "how many runs are replaced by random ones"),
    "draws": Setting(3, "repetitions at each level (one at level 0, where nothing is drawn)"),
    "keep": Setting(1000, "documents of a fused run kept for each query"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fusion for each method, level and draw."""
    settings = study.settings
    runs = _files(settings["runs"], study.folder)
    (qrels,) = _files(settings["qrels"], study.folder)[:1]
    prints = [fingerprint(str(path)) for path in runs]
    where = {one: str(path) for one, path in zip(prints, runs, strict=True)}
    where[fingerprint(str(qrels))] = str(qrels)
    for level in settings["levels"]:
        if not 0 <= level <= len(runs):
            raise InputError(
                f"{level} of {len(runs)} runs cannot be replaced", f"use levels from 0 to {len(runs)}"
            )
        for draw in range(settings["draws"] if level else 1):
            for method in settings["methods"]:
                what = {
                    "runs": prints,
                    "qrels": fingerprint(str(qrels)),
                    "keep": settings["keep"],
                    "metrics": list(study.metrics),
                    "seed": study.seeds[0],
                }
                yield Cell(study.kind, {"method": method, "random": level, "draw": draw}, what, where)


def _files(pattern: str, folder: Path) -> list[Path]:
    name = pattern.replace("{data}", data_folder()) if "{data}" in pattern else pattern
    whole = folder / name
    found = sorted(whole.parent.glob(whole.name))
    if not found:
        raise InputError("there is no such file", "check the settings runs and qrels", file=whole)
    return found


def compute(cell: Cell) -> Outcome:
    """Fuse the runs, some of them replaced; all methods see the same draws."""
    what, level, draw = cell.what, int(cell.factors["random"]), int(cell.factors["draw"])
    paths = tuple(cell.where[one] for one in what["runs"])
    mixed = _mixed(paths, level, what["seed"] + 1000 * level + draw)
    fused = fuse(list(mixed), str(cell.factors["method"]), keep=what["keep"], seed=what["seed"] + draw).run
    result = evaluate_run(_judgments(cell.where[what["qrels"]]), fused, what["metrics"], convention="trec")
    return as_rows(result.qids, result.per_query, {})


@lru_cache(maxsize=1)
def _runs(paths: tuple[str, ...]) -> tuple[Run, ...]:
    return tuple(read_run(path) for path in paths)


@lru_cache(maxsize=1)
def _mixed(paths: tuple[str, ...], level: int, seed: int) -> tuple[Run, ...]:
    return tuple(replace_by_random(_runs(paths), level, seed))


@lru_cache(maxsize=1)
def _judgments(path: str) -> Judgments:
    return read_qrels(path)


def show(study: Study, results: Results) -> Iterator[Part]:
    """Each measure against the number of random runs, a line for each method."""
    levels = study.settings["levels"]
    for which in study.metrics:
        means = results.mean(which, "method", "random")
        rows = tuple(
            (method, tuple(means[method, level] for level in levels)) for method in results.levels("method")
        )
        note = (
            f"{which} by the number of random runs; mean of {study.settings['draws']} draws; convention trec"
        )
        yield Table(f"fusion-{which}", ResultTable(tuple(map(str, levels)), rows, (note,)))
        lines = {name: list(values) for name, values in rows}
        yield Plot(f"fusion-{which}", curves(levels, lines, "random runs", which), note + ".")


FUSION = Kind(
    "fusion of runs, some of them replaced by random ones",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("map", "p@10"),
    learns=False,
)
