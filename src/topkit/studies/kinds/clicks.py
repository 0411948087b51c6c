"""clicks: the mix λ of grades and clicks in the utility of the click-and-label ranker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data import InputError, Page, read_pages
from topkit.data.settings import Setting
from topkit.metrics.significance import paired_t
from topkit.rankers import Clicks, ranker
from topkit.rankers.clicks.pages import pages_data
from topkit.rankers.clicks.sweep import MIXES, mix_sweep, topic_folds
from topkit.reporting.plots import two_axes
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import find_file, fingerprint
from topkit.studies.spec import Study

S_CLICKS = "s-clicks"


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``clicks``."""

    pages: Annotated[tuple[str, ...], Setting("Files of result pages with clicks to learn from.")] = tuple(
        f"{{data}}/clicks/{part}_per_query_quid.txt" for part in ("train", "valid", "test")
    )
    graded: Annotated[str, Setting("Pages with grades, to learn from and to measure.")] = (
        "{data}/clicks/human_label_for_NCM_per_query_quid.txt"
    )
    folds: Annotated[
        int, Setting("Folds of the graded queries; queries of one session are in one fold.", low=2)
    ] = 5
    mixes: Annotated[
        tuple[float, ...], Setting("Values of λ: 0 is grades alone, 1 clicks alone.", low=0, high=1)
    ] = tuple(MIXES)
    memory: Annotated[float, Setting("Prior deviation of memory weights.", above=0)] = 0.5


@dataclass(frozen=True)
class MixSweep:
    """A fit for one fold, counted from 1, whose graded queries are measured at every λ.

    The settings are those of the study, with files named by their fingerprint.
    """

    settings: Settings
    fold: int
    seed: int
    metrics: tuple[str, ...]


def cells(study: Study[Settings]) -> Iterator[Cell[MixSweep]]:
    """One fit per fold and seed; it is measured at every λ."""
    settings = study.settings
    paths = [str(find_file(name, study.folder)) for name in (*settings.pages, settings.graded)]
    contents = [fingerprint(path) for path in paths]
    files = dict(zip(contents, paths, strict=True))
    described = replace(settings, pages=tuple(contents[:-1]), graded=contents[-1])
    for seed in study.seeds:
        for fold in range(1, settings.folds + 1):
            work = MixSweep(described, fold, seed, study.metrics)
            yield Cell(study.kind, {"fold": fold, "seed": seed}, work, files)


def compute(cell: Cell[MixSweep]) -> Outcome:
    """Learn from all clicks and from the grades of the other folds; measure each λ on the fold's grades."""
    work, settings = cell.work, cell.work.settings
    pages = [page for content in settings.pages for page in _pages(cell.files[content])]
    graded = pages_data(_pages(cell.files[settings.graded]))
    folds = np.array(topic_folds(graded.qids, pages, settings.folds, work.seed))
    inside = folds == work.fold - 1
    if not inside.any() or inside.all():
        raise InputError("a fold contains no queries or all of them", "use fewer folds")
    test = graded.select(np.flatnonzero(inside))
    # 1/position, the only feature, means the same for every query, so it is not normalised
    learner = ranker("click-label", memory=settings.memory, normalise="none", seed=work.seed)
    learner.fit(graded.select(np.flatnonzero(~inside)), clicks=Clicks(pages, pages_data(pages, graded=False)))
    rows: list[tuple[float, str, str, float]] = []
    for metric in work.metrics:
        for row in mix_sweep(learner, test, pages, settings.mixes, metric):
            rows += [
                (row["mix"], qid, metric, float(value))
                for qid, value in zip(test.qids, row["measure"], strict=True)
            ]
            if metric == work.metrics[0]:
                rows += [(row["mix"], qid, S_CLICKS, value) for qid, value in row["s_clicks"].items()]
    return Outcome.of_rows(("mix", "query", "metric", "value"), rows)


@lru_cache(maxsize=4)
def _pages(path: str) -> tuple[Page, ...]:
    return tuple(read_pages(path))


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """The measure of grades and S_clicks against λ, and the gain of a λ chosen on the other folds."""
    which, mixes = study.metrics[0], study.settings.mixes
    columns = (*study.metrics, S_CLICKS)
    means = {name: results.mean(name, "mix") for name in columns}
    rows = tuple((f"λ {mix:g}", tuple(means[name][(mix,)] for name in columns)) for mix in mixes)
    queries = len(results.gather(which, "mix")[(mixes[0],)])
    note = (
        f"by λ, {queries} graded queries in {study.settings.folds} folds by topic; convention trec; "
        "S_clicks on the training pages"
    )
    yield TablePart("mix", ScoreTable(columns, rows, (note,)))
    lines = [[means[name][(mix,)] for mix in mixes] for name in (which, S_CLICKS)]
    figure = two_axes(mixes, {which: lines[0]}, {"S_clicks": lines[1]}, ("λ", which, "S_clicks"))
    yield PlotPart("mix", figure, f"{which} and S_clicks {note}.")
    first, chosen = chosen_elsewhere(results, which, mixes)
    gain = chosen - first
    yield Paragraph(
        f"λ chosen on the other folds: {which} {chosen.mean():.4f}, {gain.mean():+.4f} compared with "
        f"λ {mixes[0]:g} ({first.mean():.4f}), p = {paired_t(gain):.2g} by a paired t-test over queries."
    )


def chosen_elsewhere(results: Results, which: str, mixes: Sequence[float]) -> tuple[Floats, Floats]:
    """Per query: the value under the first λ, and under the λ that is best on the other folds."""
    first: list[float] = []
    chosen: list[float] = []
    for fold in results.levels("fold"):
        others = [results.where(fold=other) for other in results.levels("fold") if other != fold]
        means = [other.mean(which, "mix") for other in others]
        best = max(mixes, key=lambda mix: sum(mean[(mix,)] for mean in means))
        values = results.where(fold=fold).gather(which, "mix")
        first += values[(mixes[0],)].values()
        chosen += values[(best,)].values()
    return np.array(first), np.array(chosen)


CLICKS = Kind(
    summary="the mix of grades and clicks that the click-and-label ranker ranks by",
    code=Code(Settings, MixSweep, cells, compute, show),
    metrics=("ndcg@10",),
    learns=False,
)
