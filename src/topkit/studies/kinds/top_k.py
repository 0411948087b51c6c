"""k: is the top k of a full order enough to learn from? Training truth is cut at k, test truth is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

from topkit.data import Dataset
from topkit.data.settings import Setting
from topkit.rankers import settings_of
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import TOP, Fit, fit, fit_cell, measured, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Study

ALL = 0
"""The k that means no cut."""
KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, ALL)


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``k``."""

    ks: Annotated[tuple[int, ...], Setting("Where the training truth is cut; 0 keeps all of it.", low=0)] = KS


@dataclass(frozen=True)
class CutFit(Fit):
    """A fit on training truth that is cut at k."""

    k: int


def cells(study: Study[Settings]) -> Iterator[Cell[CutFit]]:
    """One fit per data set, ranker, k, fold and seed."""
    for turn, contestant in product(turns(study), study.rankers):
        for k in study.settings.ks:
            yield fit_cell(study, turn, contestant, {"ranker": contestant.name, "k": k}, CutFit, k=k)


def compute(cell: Cell[CutFit]) -> Outcome:
    """Train on the truth cut at k; choose by the top ten of the validation truth; test as always.

    Rankers with a setting k receive it; the others learn it from the labels of the cut truth.
    """
    work = cell.work
    data = load(work.data, cell.files)
    train = cut(data.learn.train, work.k, work.seed)
    settings = {}
    if "k" in settings_of(work.ranker, **work.settings):
        settings["k"] = work.k or int(train.lengths.max())
    fitted, facts = fit(work, train, data.learn.valid.top_k(TOP, work.seed), **settings)
    return measured(work, data, fitted, facts)


def cut(data: Dataset, k: int, seed: int) -> Dataset:
    """The data with its truth cut at k; unchanged for 0: the full order, or the grades."""
    return data if k == ALL else data.top_k(k, seed)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """Each measure against k, one line per ranker."""
    ks = study.settings.ks
    names = ["all" if k == ALL else str(k) for k in ks]
    for source in study.data:
        yield Heading(source.name)
        of_source = results.where(data=source.name)
        for which in study.metrics:
            means = of_source.mean(which, "ranker", "k")
            rows = tuple(
                (contestant.name, tuple(means[contestant.name, k] for k in ks))
                for contestant in study.rankers
            )
            note = (
                f"{source.name}: {which} on the test part by the k at which training truth is cut, "
                f"{len(source.folds)} folds; convention {source.convention}"
            )
            yield TablePart(f"k-{source.name}-{which}", ScoreTable(tuple(names), rows, (note,), bold=False))
            for row, values in rows:
                yield Paragraph(f"{source.name}, {which}: {row} {settles(names, values)}")
            yield PlotPart(
                f"k-{source.name}-{which}",
                curves(ks, {name: list(values) for name, values in rows}, "k", which, even=True, names=names),
                note + ".",
            )


def settles(names: list[str], values: tuple[float, ...]) -> str:
    """From which k on all values are within 2 % of the last.

    >>> settles(["1", "2", "5", "all"], (0.40, 0.495, 0.505, 0.50))
    'stays within 2 % of its last value from k = 2 on (k = 1: −20.0 %).'
    """
    last = values[-1]
    place = next(i for i in range(len(values)) if all(abs(v - last) <= 0.02 * last for v in values[i:]))
    before = f"{100 * (values[0] / last - 1):+.1f}".replace("-", "−")
    return f"stays within 2 % of its last value from k = {names[place]} on (k = {names[0]}: {before} %)."


TOP_K = Kind(
    summary="test quality against the k at which the training truth is cut",
    code=Code(Settings, CutFit, cells, compute, show),
    metrics=("kndcg@10", "ndcg@10"),
    rankers=("ranksvm", "rankboost", "ranknet", "topk-listmle"),
)
