"""outliers: a pairwise ranker trained again without the training pairs that it gets most wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.rankers import ranker, settings_of
from topkit.rankers.linear import without_outliers
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, fit, fit_cell, measure_test, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Study

ALL = -1e9
"""The cutoff in the table for training on all pairs."""
CUTOFFS = (-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0)


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``outliers``."""

    cutoffs: Annotated[
        tuple[float, ...],
        Setting("Pairs whose margin is below a cutoff are removed; in deviations of the margins.", high=0),
    ] = CUTOFFS


@dataclass(frozen=True)
class OutlierFit(Fit):
    """A fit on all pairs, and one on the pairs above each cutoff."""

    cutoffs: tuple[float, ...]


def cells(study: Study[Settings]) -> Iterator[Cell[OutlierFit]]:
    """One cell with all cutoffs per data set, ranker, fold and seed."""
    for contestant in study.rankers:
        if "pairs" not in settings_of(contestant.ranker):
            raise InputError(
                f"the ranker {contestant.ranker!r} does not learn from given pairs",
                "use ranksvm, rankboost or another ranker with the setting pairs",
            )
    cutoffs = tuple(sorted(study.settings.cutoffs))
    for turn, contestant in product(turns(study), study.rankers):
        yield fit_cell(study, turn, contestant, {"ranker": contestant.name}, OutlierFit, cutoffs=cutoffs)


def compute(cell: Cell[OutlierFit]) -> Outcome:
    """Fit on all pairs; for each cutoff remove the pairs below it and fit again; measure on test."""
    work = cell.work
    data = load(work.data, cell.files)
    train, valid, test = data.learn.train, data.learn.valid, data.learn.test
    fitted, facts = fit(work, train, valid)
    scores = fitted.ordering_scores(train)
    columns: dict[str, list[object]] = {"cutoff": [], "query": [], "metric": [], "value": []}
    facts["removed"] = []
    for cutoff in (ALL, *work.cutoffs):
        again = fitted
        if cutoff > ALL:
            pairs, removed = without_outliers(train, scores, cutoff)
            facts["removed"].append(removed)
            settings = {**fitted.settings, "pairs": "given"}
            again = ranker(work.ranker, **settings).fit(train, valid, preferences=pairs)
        on_test = again.ordering_scores(test)
        values = measure_test(test, data.labelled.test, on_test, work.metrics, work.convention)
        for metric, per_query in values.items():
            columns["cutoff"] += [cutoff] * len(per_query)
            columns["query"] += test.qids
            columns["metric"] += [metric] * len(per_query)
            columns["value"] += per_query.tolist()
    return Outcome(columns, facts)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """The headline measure against the cutoff, and the share of pairs removed."""
    which = study.metrics[0]
    cutoffs = sorted(study.settings.cutoffs)
    for source in study.data:
        yield Heading(source.name)
        of_source = results.where(data=source.name)
        means = of_source.mean(which, "ranker", "cutoff")
        rows: list[tuple[str, tuple[float, ...]]] = []
        lines: dict[str, list[float]] = {}
        for name in of_source.levels("ranker"):
            values = [means[name, cutoff] for cutoff in cutoffs]
            rows.append((name, (means[name, ALL], *values)))
            lines |= {name: values, f"{name}, all pairs": [means[name, ALL]] * len(cutoffs)}
            shares = [outcome.facts["removed"] for _, outcome in of_source.where(ranker=name)]
            rows.append((f"{name}: share of pairs removed", (0.0, *np.mean(shares, axis=0).tolist())))
        note = (
            f"{source.name}: {which} after training without the pairs whose margin is below a cutoff (in "
            f"deviations), {len(source.folds)} folds; convention {source.convention}"
        )
        columns = ("all pairs", *(f"from {cutoff:g}" for cutoff in cutoffs))
        yield TablePart(f"outliers-{source.name}", ScoreTable(columns, tuple(rows), (note,), bold=False))
        figure = curves(cutoffs, lines, "smallest margin of a training pair, in deviations", which)
        yield PlotPart(f"outliers-{source.name}", figure, note + ".")


OUTLIERS = Kind(
    summary="a pairwise ranker trained without the pairs that it gets most wrong",
    code=Code(Settings, OutlierFit, cells, compute, show),
    metrics=("map", "ndcg@10"),
    rankers=("ranksvm",),
)
