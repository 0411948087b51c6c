"""grades: does it help to divide the gains that a regression learns by the query's ideal DCG?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from topkit.data.settings import Setting
from topkit.reporting.plots import scatter
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell
from topkit.studies.fits import Fit, compute_fit, fit_cell, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.spec import Contestant, Study

LOSSES = {"plain": "squared-gain", "normalised": "squared-ndcg"}
"""Regression target → the loss that fits it."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``grades``."""

    scorers: Annotated[
        tuple[str, ...], Setting("Models to fit: linear, mlp or trees.", choices=("linear", "mlp", "trees"))
    ] = ("linear", "trees")
    leaves: Annotated[
        tuple[int, ...], Setting("Sizes of the trees; each is a point of the scatter plot.", low=2)
    ] = (4, 8, 15, 31, 63)


def variants(settings: Settings) -> Iterator[Contestant]:
    """The regressions whose targets are compared."""
    for scorer in settings.scorers:
        if scorer == "trees":
            for leaves in settings.leaves:
                yield Contestant(
                    "gradient", f"trees of {leaves} leaves", {"scorer": "trees", "leaves": leaves}
                )
        else:
            yield Contestant("gradient", scorer, {"scorer": scorer})


def cells(study: Study[Settings]) -> Iterator[Cell[Fit]]:
    """One fit per data set, regression, target, fold and seed."""
    for turn in turns(study):
        for variant in variants(study.settings):
            for target, loss in LOSSES.items():
                contestant = replace(variant, settings={**variant.settings, "loss": loss})
                factors = {"scorer": variant.name, "target": target}
                yield fit_cell(study, turn, contestant, factors, Fit)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """Each fit with plain gains against the same fit with normalised gains."""
    which = study.metrics[0]
    for source in study.data:
        of_source = results.where(data=source.name)
        fits = of_source.mean(which, "scorer", "fold", "seed", "target")
        pairs = [
            (value, fits[scorer, fold, seed, "normalised"])
            for (scorer, fold, seed, target), value in fits.items()
            if target == "plain"
        ]
        means = of_source.mean(which, "scorer", "target")
        rows = tuple(
            (scorer, tuple(means[scorer, target] for target in LOSSES))
            for scorer in of_source.levels("scorer")
        )
        note = (
            f"{source.name}: {which}, regression on gains 2^y−1 and on gains divided by the query's ideal "
            f"DCG, {len(source.folds)} folds; convention {source.convention}"
        )
        yield TablePart(f"grades-{source.name}", ScoreTable(tuple(LOSSES), rows, (note,), bold=False))
        figure = scatter(pairs, f"{which}, plain gains", f"{which}, normalised gains")
        yield PlotPart(f"grades-{source.name}", figure, f"{source.name}: one point per regression and fold.")
        better = sum(normalised > plain for plain, normalised in pairs)
        yield Paragraph(f"{source.name}: normalised gains are better in {better} of {len(pairs)} fits.")


GRADES = Kind(
    summary="regression on gains, plain and divided by the query's ideal DCG",
    code=Code(Settings, Fit, cells, compute_fit, show),
    metrics=("ndcg@10",),
)
