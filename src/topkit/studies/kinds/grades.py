"""grades: does it help to divide the gains that a regression learns by the query's ideal DCG?"""

from __future__ import annotations

from collections.abc import Iterator

from topkit.studies.fits import compute_fit, fit_cell, turns
from topkit.studies.kind import Cell, Kind, Part, Plot, Setting, Table, Words
from topkit.studies.plots import scatter
from topkit.studies.results import Results
from topkit.studies.spec import Contestant, Study
from topkit.studies.tables import ResultTable

LOSSES = {"plain": "squared-gain", "normalised": "squared-ndcg"}
SCORERS = ("linear", "mlp", "trees")
SETTINGS = {
    "scorers": Setting(["linear", "trees"], "linear, mlp or trees", SCORERS),
    "leaves": Setting([4, 8, 15, 31, 63], "sizes of the trees; each is a point of the scatter"),
}


def variants(study: Study) -> Iterator[Contestant]:
    """The regressions whose targets are compared."""
    for scorer in study.settings["scorers"]:
        if scorer == "trees":
            for leaves in study.settings["leaves"]:
                yield Contestant(
                    "gradient", f"trees of {leaves} leaves", {"scorer": "trees", "leaves": leaves}
                )
        else:
            yield Contestant("gradient", scorer, {"scorer": scorer})


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each data set, regression, target, fold and seed."""
    for turn in turns(study):
        for one in variants(study):
            for target, loss in LOSSES.items():
                yield fit_cell(study, turn, one, {"scorer": one.name, "target": target}, fixed={"loss": loss})


def show(study: Study, results: Results) -> Iterator[Part]:
    """Each fit with plain gains against the same fit with normalised ones."""
    which = study.metrics[0]
    for source in study.data:
        own = results.where(data=source.name)
        fits = own.mean(which, "scorer", "fold", "seed", "target")
        pairs = [
            (value, fits[scorer, fold, seed, "normalised"])
            for (scorer, fold, seed, target), value in fits.items()
            if target == "plain"
        ]
        means = own.mean(which, "scorer", "target")
        rows = tuple(
            (scorer, tuple(means[scorer, target] for target in LOSSES)) for scorer in own.levels("scorer")
        )
        note = (
            f"{source.name}: {which}, regression on gains 2^y−1 and on gains over the query's ideal DCG, "
            f"{len(source.folds)} folds; convention {source.convention}"
        )
        yield Table(f"grades-{source.name}", ResultTable(tuple(LOSSES), rows, (note,), bold=False))
        figure = scatter(pairs, f"{which}, plain gains", f"{which}, normalised gains")
        yield Plot(f"grades-{source.name}", figure, f"{source.name}: a point for each regression and fold.")
        better = sum(b > a for a, b in pairs)
        yield Words(f"{source.name}: normalised gains are better in {better} of {len(pairs)} fits.")


GRADES = Kind(
    "regression on gains, plain and divided by the query's ideal DCG",
    SETTINGS,
    cells,
    compute_fit,
    show,
    metrics=("ndcg@10",),
)
