"""sigma: the steepness σ of the sigmoid loss that refines a linear ranker, and the outliers it ignores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.rankers.linear import pair_margins
from topkit.reporting.plots import bins, curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, fit, fit_cell, measured, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Contestant, Source, Study

BASE = 0.0
"""The σ in the table for the base ranker without refinement."""
BINS = 60
"""Bins of the margin histogram."""
SIGMAS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``sigma``."""

    sigmas: Annotated[tuple[float, ...], Setting("Steepness values of the sigmoid.", above=0)] = SIGMAS


def cells(study: Study[Settings]) -> Iterator[Cell[Fit]]:
    """One fit per data set, base, σ (0 for the base alone), fold and seed."""
    for base in study.rankers:
        if base.settings or base.choices or base.trials > 1:
            raise InputError("a base ranker is used without settings", f'write "{base.ranker}"')
    for turn, base in product(turns(study), study.rankers):
        yield fit_cell(study, turn, base, {"base": base.name, "sigma": BASE}, Fit)
        for sigma in study.settings.sigmas:
            refined = Contestant("sigmoid", settings={"base": base.ranker, "steepness": sigma})
            yield fit_cell(study, turn, refined, {"base": base.name, "sigma": sigma}, Fit)


def compute(cell: Cell[Fit]) -> Outcome:
    """The fit; for a base ranker also the histogram of its margins on the training pairs."""
    data = load(cell.work.data, cell.files)
    fitted, facts = fit(cell.work, data.learn.train, data.learn.valid)
    if cell.work.ranker != "sigmoid":
        margins = pair_margins(data.learn.train, fitted.ordering_scores(data.learn.train), BINS)
        facts["margins"] = {
            "edges": margins.edges.tolist(),
            "counts": margins.counts.tolist(),
            "wrong": margins.wrong,
            "outliers": margins.outliers,
        }
    return measured(cell.work, data, fitted, facts)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """The measure against σ, and the outlier histogram of each base."""
    which = study.metrics[0]
    sigmas = study.settings.sigmas
    for source in study.data:
        yield Heading(source.name)
        of_source = results.where(data=source.name)
        means = of_source.mean(which, "base", "sigma")
        bases = of_source.levels("base")
        rows = tuple((base, tuple(means[base, sigma] for sigma in (BASE, *sigmas))) for base in bases)
        note = (
            f"{source.name}: {which} of the base and of its refinement by σ, {len(source.folds)} folds; "
            f"convention {source.convention}"
        )
        columns = ("base", *(f"σ {sigma:g}" for sigma in sigmas))
        yield TablePart(f"sigma-{source.name}", ScoreTable(columns, rows, (note,), bold=False))
        lines = {f"{base}, σ": list(values[1:]) for base, values in rows}
        lines |= {f"{base} alone": [values[0]] * len(sigmas) for base, values in rows}
        yield PlotPart(f"sigma-{source.name}", curves(sigmas, lines, "σ", which, even=True), note + ".")
        for base in bases:
            yield from _margins(source, base, of_source.where(base=base))


def _margins(source: Source, base: str, results: Results) -> Iterator[Part]:
    """The margin histogram of the first fold, and the share of outliers over all folds."""
    margins = [outcome.facts["margins"] for _, outcome in results if "margins" in outcome.facts]
    yield PlotPart(
        f"margins-{source.name}-{base}",
        bins(margins[0]["edges"], margins[0]["counts"], "margin, in standard deviations", "pairs"),
        f"{source.name}: margins of the training pairs under {base}, fold {source.folds[0]}; "
        "left of 0 the pair is in the wrong order.",
    )
    wrong = 100 * np.mean([margin["wrong"] for margin in margins])
    outliers = 100 * np.mean([margin["outliers"] for margin in margins])
    yield Paragraph(
        f"{source.name}, {base}: {wrong:.1f} % of the training pairs are in the wrong order, "
        f"{outliers:.2f} % by more than two standard deviations."
    )


SIGMA = Kind(
    summary="the steepness of the sigmoid loss that refines a linear ranker",
    code=Code(Settings, Fit, cells, compute, show),
    metrics=("map", "ndcg@10"),
    rankers=("perceptron", "ranksvm"),
)
