"""labelling: how many judgments each strategy asks for, and how right its top k is if assessors err."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

from topkit.data.settings import Setting
from topkit.labelling import lower_bound
from topkit.labelling.simulate import Scenario, simulate
from topkit.labelling.strategies import PAIRWISE
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.spec import Study

MEASURED = ("judgments", "documents_read", "found", "exact", "tau")


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``labelling``."""

    strategies: Annotated[tuple[str, ...], Setting("The strategies to simulate.", choices=PAIRWISE)] = tuple(
        name for name in PAIRWISE if name != "reliable"
    )
    lengths: Annotated[tuple[int, ...], Setting("Documents per list.", low=1)] = (20, 50)
    k: Annotated[int, Setting("Documents to put in order.", low=1)] = 10
    errors: Annotated[
        tuple[float, ...], Setting("Shares of wrong answers, below 0.5.", low=0, high=0.499)
    ] = (
        0.0,
        0.05,
        0.1,
    )
    orders: Annotated[int, Setting("Random true orders per cell.", low=1)] = 50


@dataclass(frozen=True)
class Simulated:
    """A scenario of one strategy."""

    strategy: str
    n: int
    """Documents per list."""
    k: int
    error: float
    """Share of wrong answers."""
    orders: int
    """Random true orders."""
    seed: int


def cells(study: Study[Settings]) -> Iterator[Cell[Simulated]]:
    """One scenario per strategy, length, error rate and seed."""
    settings = study.settings
    for length in settings.lengths:
        for error in settings.errors:
            for strategy in settings.strategies:
                for seed in study.seeds:
                    factors = {"strategy": strategy, "n": length, "error": error, "seed": seed}
                    work = Simulated(strategy, length, settings.k, error, settings.orders, seed)
                    yield Cell(study.kind, factors, work)


def compute(cell: Cell[Simulated]) -> Outcome:
    """Means over random orders, the same orders for all strategies."""
    work = cell.work
    scenario = Scenario(work.strategy, work.n, work.k, work.error)
    (outcome,) = simulate([scenario], work.orders, work.seed)
    values = asdict(outcome)
    return Outcome({"metric": list(MEASURED), "value": [float(values[name]) for name in MEASURED]})


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each length, judgments and the lower bound, and the share of the top k found, by error."""
    k, errors = study.settings.k, study.settings.errors
    strategies = results.levels("strategy")
    for n in study.settings.lengths:
        of_length = results.where(n=n)
        asked = of_length.mean("judgments", "strategy", "error")
        shares = of_length.mean("found", "strategy", "error")
        read = of_length.mean("documents_read", "strategy", "error")
        rows = tuple(
            (
                strategy,
                (
                    asked[strategy, errors[0]],
                    read[strategy, errors[0]],
                    *(shares[strategy, error] for error in errors),
                ),
            )
            for strategy in strategies
        )
        note = (
            f"n = {n}, k = {k}, {study.settings.orders} orders; judgments at error {errors[0]:g} "
            f"(lower bound {lower_bound(n, k):.1f}), and the share of the true top {k} found, by error"
        )
        columns = ("judgments", "documents read", *(f"found {error:g}" for error in errors))
        greater_is_better = (False, False, *(True for _ in errors))
        yield TablePart(f"labelling-{n}", ScoreTable(columns, rows, (note,), greater_is_better))
        lines = {strategy: [shares[strategy, error] for error in errors] for strategy in strategies}
        yield PlotPart(
            f"labelling-{n}", curves(errors, lines, "error rate", f"share of the top {k} found"), note + "."
        )


LABELLING = Kind(
    summary="labelling strategies on simulated orders, by error rate",
    code=Code(Settings, Simulated, cells, compute, show),
    metrics=(),
    learns=False,
)
