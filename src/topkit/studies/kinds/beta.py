"""beta: the balance β of FocusedRank between the order in the top k and the top k against the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.rankers import settings_of
from topkit.reporting.plots import curves, two_axes
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell
from topkit.studies.fits import Fit, compute_fit, fit_cell, needs_order, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.spec import Study

BETAS = tuple(round(0.05 * i, 2) for i in range(21))


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``beta``."""

    betas: Annotated[
        tuple[float, ...],
        Setting("Values of β: 0 is the pairwise part alone, 1 the listwise.", low=0, high=1),
    ] = BETAS


def cells(study: Study[Settings]) -> Iterator[Cell[Fit]]:
    """One fit per data set, ranker, β, fold and seed."""
    for contestant in study.rankers:
        if "beta" not in settings_of(contestant.ranker, **contestant.settings):
            raise InputError(
                f"the ranker {contestant.ranker!r} has no setting beta",
                "use focusednet, focusedsvm or focusedboost",
            )
    for turn, contestant in product(turns(study), study.rankers):
        for beta in study.settings.betas:
            with_beta = replace(contestant, settings={**contestant.settings, "beta": beta})
            yield fit_cell(study, turn, with_beta, {"ranker": contestant.name, "beta": beta}, Fit)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each ranker, top-k measures on the left axis and graded measures on the right one."""
    betas = study.settings.betas
    for contestant in study.rankers:
        name = contestant.name
        left, right = _lines(study, results.where(ranker=name))
        lines = {**left, **right}
        if left and right:
            figure = two_axes(betas, left, right, ("β", "on the top-k truth", "on the grades"))
        else:
            figure = curves(betas, lines, "β", "measure")
        yield TablePart(name, _table(name, betas, lines, len(study.data[0].folds)))
        yield PlotPart(f"beta-{name}", figure, f"{name} by β, mean over test queries.")
        best = {
            line: betas[max(range(len(values)), key=values.__getitem__)] for line, values in lines.items()
        }
        inner = sum(0 < beta < 1 for beta in best.values())
        yield Paragraph(
            f"{name}: of {len(best)} curves, {inner} have their maximum between the ends; the best β: "
            + ", ".join(f"{line} {beta:g}" for line, beta in best.items())
            + "."
        )


Lines = dict[str, list[float]]


def _lines(study: Study[Settings], results: Results) -> tuple[Lines, Lines]:
    """Means by β: measures of an order on data with an order, measures of grades on data with grades."""
    graded = [source.name for source in study.data if source.truth == "labels"]
    ordered = [source.name for source in study.data if source.truth != "labels"]
    left: Lines = {}
    right: Lines = {}
    for which in study.metrics:
        by_order = needs_order(which)
        for source in (ordered or graded) if by_order else (graded or ordered):
            means = results.where(data=source).mean(which, "beta")
            line = [means[(beta,)] for beta in study.settings.betas]
            (left if by_order else right)[f"{which} {source}"] = line
    return left, right


def _table(name: str, betas: Sequence[float], lines: Lines, folds: int) -> ScoreTable:
    rows = tuple(
        (f"β {beta:g}", tuple(values[i] for values in lines.values())) for i, beta in enumerate(betas)
    )
    return ScoreTable(tuple(lines), rows, (f"{name} by β, {folds} folds",))


BETA = Kind(
    summary="the balance β of FocusedRank between its listwise and its pairwise part",
    code=Code(Settings, Fit, cells, compute_fit, show),
    metrics=("ndcg@10", "kndcg@10", "kerr"),
    rankers=("focusednet", "focusedboost"),
)
