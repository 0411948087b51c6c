"""clicks: the mix λ of grades and clicks in the utility of the click-and-label ranker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Page, read_pages
from topkit.metrics.significance import paired_t
from topkit.rankers import Clicks, ranker
from topkit.rankers.clicks.pages import pages_data
from topkit.rankers.clicks.sweep import MIXES, mix_sweep, topic_folds
from topkit.studies.kind import Cell, Kind, Outcome, Part, Plot, Setting, Table, Words
from topkit.studies.plots import two_axes
from topkit.studies.results import Results
from topkit.studies.sources import data_folder, fingerprint
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

Floats = NDArray[np.float64]

S_CLICKS = "s-clicks"
PARTS = ("train", "valid", "test")
SETTINGS = {
    "pages": Setting(
        [f"{{data}}/clicks/{part}_per_query_quid.txt" for part in PARTS],
        "result pages with clicks to learn from",
    ),
    "graded": Setting(
        "{data}/clicks/human_label_for_NCM_per_query_quid.txt",
        "pages with grades, to learn from and to measure",
    ),
    "folds": Setting(
        5, "parts that graded queries are split into, by topic: queries of one session together"
    ),
    "mixes": Setting(list(MIXES), "λ: 0 is grades alone, 1 clicks alone"),
    "memory": Setting(0.5, "prior deviation of memory weights"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each fold and seed; one fit serves every λ."""
    settings = study.settings
    files = [_file(name, study.folder) for name in (*settings["pages"], settings["graded"])]
    prints = [fingerprint(str(path)) for path in files]
    where = {one: str(path) for one, path in zip(prints, files, strict=True)}
    if settings["folds"] < 2 or not all(0 <= mix <= 1 for mix in settings["mixes"]):
        raise InputError("there must be two folds or more, and λ from 0 to 1")
    for seed in study.seeds:
        for fold in range(1, settings["folds"] + 1):
            what = {
                "pages": prints[:-1],
                "graded": prints[-1],
                "folds": settings["folds"],
                "mixes": settings["mixes"],
                "memory": settings["memory"],
                "metrics": list(study.metrics),
            }
            yield Cell(study.kind, {"fold": fold, "seed": seed}, what, where)


def _file(pattern: str, folder: Path) -> Path:
    path = folder / (pattern.replace("{data}", data_folder()) if "{data}" in pattern else pattern)
    if not path.is_file():
        raise InputError("there is no such file", "check the settings pages and graded", file=path)
    return path


def compute(cell: Cell) -> Outcome:
    """Learn from all clicks and from the grades of the other folds; measure each λ on the fold's grades."""
    what, seed = cell.what, int(cell.factors["seed"])
    pages = [page for one in what["pages"] for page in _pages(cell.where[one])]
    graded = pages_data(_pages(cell.where[what["graded"]]))
    folds = np.array(topic_folds(graded.qids, pages, what["folds"], seed))
    inside = folds == int(cell.factors["fold"]) - 1
    if not inside.any() or inside.all():
        raise InputError("a fold has no queries, or all of them", "use fewer folds")
    test = graded.select(np.flatnonzero(inside))
    # 1/position, the only feature, means the same for every query, so it is left as it is
    made = ranker("click-label", memory=what["memory"], normalise="none", seed=seed)
    made.fit(graded.select(np.flatnonzero(~inside)), clicks=Clicks(pages, pages_data(pages, graded=False)))
    rows: list[tuple[float, str, str, float]] = []
    for metric in what["metrics"]:
        for row in mix_sweep(made, test, pages, what["mixes"], metric):
            rows += [
                (row["mix"], q, metric, float(v)) for q, v in zip(test.qids, row["measure"], strict=True)
            ]
            if metric == what["metrics"][0]:
                rows += [(row["mix"], q, S_CLICKS, v) for q, v in row["s_clicks"].items()]
    names = ("mix", "query", "metric", "value")
    return Outcome({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


@lru_cache(maxsize=4)
def _pages(path: str) -> tuple[Page, ...]:
    return tuple(read_pages(path))


def show(study: Study, results: Results) -> Iterator[Part]:
    """The measure of grades and S_clicks against λ, and what a λ chosen on other folds brings."""
    which, mixes = study.metrics[0], study.settings["mixes"]
    columns = (*study.metrics, S_CLICKS)
    means = {name: results.mean(name, "mix") for name in columns}
    rows = tuple((f"λ {mix:g}", tuple(means[name][(mix,)] for name in columns)) for mix in mixes)
    queries = len(results.gather(which, "mix")[(mixes[0],)])
    note = (
        f"by λ, {queries} graded queries in {study.settings['folds']} folds by topic; convention trec; "
        "S_clicks over the pages learnt from"
    )
    yield Table("mix", ResultTable(columns, rows, (note,)))
    lines = [[means[name][(mix,)] for mix in mixes] for name in (which, S_CLICKS)]
    figure = two_axes(mixes, {which: lines[0]}, {"S_clicks": lines[1]}, ("λ", which, "S_clicks"))
    yield Plot("mix", figure, f"{which} and S_clicks {note}.")
    first, chosen = chosen_elsewhere(results, which, mixes)
    gain = chosen - first
    yield Words(
        f"λ chosen on the other folds: {which} {chosen.mean():.4f}, {gain.mean():+.4f} beside λ {mixes[0]:g} "
        f"({first.mean():.4f}), p = {paired_t(gain):.2g} by a paired t-test over queries."
    )


def chosen_elsewhere(results: Results, which: str, mixes: list[float]) -> tuple[Floats, Floats]:
    """Values of the queries under the first λ, and under the λ that is best on the folds they are not in."""
    first: list[float] = []
    chosen: list[float] = []
    for fold in results.levels("fold"):
        others = [results.where(fold=other) for other in results.levels("fold") if other != fold]
        means = [one.mean(which, "mix") for one in others]
        best = max(mixes, key=lambda mix: sum(mean[(mix,)] for mean in means))
        own = results.where(fold=fold).gather(which, "mix")
        first += own[(mixes[0],)].values()
        chosen += own[(best,)].values()
    return np.array(first), np.array(chosen)


CLICKS = Kind(
    "the mix of grades and clicks that the click-and-label ranker ranks by",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("ndcg@10",),
    learns=False,
)
