"""compare: rankers over folds, settings chosen on validation data, differences tested query by query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

from topkit.data.settings import Setting
from topkit.metrics import CORRECTIONS, TESTS
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, fit, fit_cell, importances, measured, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Part, TablePart
from topkit.studies.results import Results
from topkit.studies.showing import best_first, by_query, importance_plot, score_table
from topkit.studies.sources import load
from topkit.studies.spec import Study


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``compare``."""

    baseline: Annotated[
        str, Setting("The ranker that the others are tested against; the first one unless named.")
    ] = ""
    test: Annotated[
        str, Setting("The significance test; tukey compares all pairs at once.", choices=tuple(TESTS))
    ] = "t"
    correction: Annotated[
        str,
        Setting("The correction for the number of comparisons.", choices=tuple(CORRECTIONS)),
    ] = "holm"
    sigma: Annotated[
        bool, Setting("Also mark the values within one standard deviation of the mean of the best.")
    ] = False
    importance: Annotated[
        bool, Setting("Measure how much each ranker depends on each feature (takes longer).")
    ] = False


@dataclass(frozen=True)
class CompareFit(Fit):
    """A fit that may also measure the importance of features."""

    importance: bool


def cells(study: Study[Settings]) -> Iterator[Cell[CompareFit]]:
    """One fit per data set, ranker, fold and seed."""
    for turn, contestant in product(turns(study), study.rankers):
        factors = {"ranker": contestant.name}
        yield fit_cell(study, turn, contestant, factors, CompareFit, importance=study.settings.importance)


def compute(cell: Cell[CompareFit]) -> Outcome:
    """Fit and measure; the importance of features is measured on validation data."""
    data = load(cell.work.data, cell.files)
    fitted, facts = fit(cell.work, data.learn.train, data.learn.valid)
    if cell.work.importance:
        facts["importance"] = importances(fitted, data.learn.valid)
    return measured(cell.work, data, fitted, facts)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each data set: the table, the best method query by query, hard queries, important features."""
    which, settings = study.metrics[0], study.settings
    for source in study.data:
        of_source = results.where(data=source.name)
        evaluations = of_source.evaluations(study.metrics, source.convention, "ranker")
        baseline = settings.baseline or study.rankers[0].name
        caption = (
            f"{source.name}, {len(source.folds)} folds, settings chosen by {study.choose} on validation data"
        )
        yield Heading(source.name)
        yield TablePart(
            source.name,
            score_table(
                evaluations,
                study.metrics,
                caption,
                baseline=baseline,
                test=settings.test,
                correction=settings.correction,
                sigma=settings.sigma,
            ),
        )
        yield from by_query(source.name, evaluations, which, baseline)
        yield from importance_plot(source.name, of_source, best_first(evaluations, which)[0])


COMPARE = Kind(
    summary="rankers over folds, tested against a baseline query by query",
    code=Code(Settings, CompareFit, cells, compute, show),
    metrics=("ndcg@10", "map"),
    rankers=("bestfeature", "ranksvm", "listnet", "topk-listmle", "focusednet"),
)
