"""labelling: judgments that each strategy asks for, and how right its top k are when assessors err."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from topkit.data import InputError
from topkit.labelling import STRATEGIES, lower_bound
from topkit.labelling.simulate import Setting as Simulated
from topkit.labelling.simulate import simulate
from topkit.studies.kind import Cell, Kind, Outcome, Part, Plot, Setting, Table
from topkit.studies.plots import curves
from topkit.studies.results import Results
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

MEASURED = ("judgments", "documents_read", "found", "exact", "tau")
COMPARING = tuple(name for name in STRATEGIES if name != "graded")
SETTINGS = {
    "strategies": Setting([name for name in COMPARING if name != "reliable"], "which strategies", COMPARING),
    "lengths": Setting([20, 50], "documents of a list"),
    "k": Setting(10, "how many are ordered"),
    "errors": Setting([0.0, 0.05, 0.1], "share of wrong answers"),
    "orders": Setting(50, "random true orders for each cell"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A simulation for each strategy, length, error rate and seed."""
    settings = study.settings
    if not all(0 <= error < 0.5 for error in settings["errors"]):
        raise InputError(f"errors must be from 0 to below 0.5, not {settings['errors']}")
    for length in settings["lengths"]:
        for error in settings["errors"]:
            for strategy in settings["strategies"]:
                for seed in study.seeds:
                    factors = {"strategy": strategy, "n": length, "error": error, "seed": seed}
                    yield Cell(study.kind, factors, {"k": settings["k"], "orders": settings["orders"]})


def compute(cell: Cell) -> Outcome:
    """Means over random orders, the same for all strategies."""
    factors = cell.factors
    setting = Simulated(factors["strategy"], factors["n"], cell.what["k"], factors["error"])
    (found,) = simulate([setting], cell.what["orders"], factors["seed"])
    values = asdict(found)
    return Outcome({"metric": list(MEASURED), "value": [float(values[name]) for name in MEASURED]})


def show(study: Study, results: Results) -> Iterator[Part]:
    """For each length, judgments beside the lower bound, and the share of the top k found, by error."""
    k, errors = study.settings["k"], study.settings["errors"]
    strategies = results.levels("strategy")
    for n in study.settings["lengths"]:
        own = results.where(n=n)
        asked = own.mean("judgments", "strategy", "error")
        found = own.mean("found", "strategy", "error")
        read = own.mean("documents_read", "strategy", "error")
        rows = tuple(
            (
                strategy,
                (
                    asked[strategy, errors[0]],
                    read[strategy, errors[0]],
                    *(found[strategy, error] for error in errors),
                ),
            )
            for strategy in strategies
        )
        note = (
            f"n = {n}, k = {k}, {study.settings['orders']} orders; judgments at error {errors[0]:g} "
            f"(lower bound {lower_bound(n, k):.1f}), and the share of the true top {k} found, by error"
        )
        columns = ("judgments", "documents read", *(f"found {error:g}" for error in errors))
        up = (False, False, *(True for _ in errors))
        yield Table(f"labelling-{n}", ResultTable(columns, rows, (note,), up))
        lines = {strategy: [found[strategy, error] for error in errors] for strategy in strategies}
        yield Plot(
            f"labelling-{n}", curves(errors, lines, "error rate", f"share of the top {k} found"), note + "."
        )


LABELLING = Kind(
    "labelling strategies on simulated orders, by error rate",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=(),
    learns=False,
)
