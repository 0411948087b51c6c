"""sigma: the steepness σ of the sigmoid loss that refines a linear ranker, and the outliers it is for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from topkit.data import InputError
from topkit.rankers.linear import pair_margins
from topkit.studies.fits import compute_fit, fit, fit_cell, measured, scores_of, turns
from topkit.studies.kind import Cell, Heading, Kind, Outcome, Part, Plot, Setting, Table, Words
from topkit.studies.plots import bins, curves
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Contestant, Study
from topkit.studies.tables import ResultTable

BASE = 0.0
"""The σ under which the base itself is listed."""
BINS = 60
SETTINGS = {
    "sigmas": Setting([0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0], "steepness of the sigmoid"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each data set, base, σ (0 for the base alone), fold and seed."""
    for base in study.rankers:
        if base.settings or base.choices or base.trials > 1:
            raise InputError("a base is refined as it comes, without settings", f'write "{base.ranker}"')
    for turn in turns(study):
        for base in study.rankers:
            yield fit_cell(study, turn, base, {"base": base.name, "sigma": BASE})
            for sigma in study.settings["sigmas"]:
                refined = Contestant("sigmoid", settings={"base": base.ranker, "steepness": sigma})
                yield fit_cell(study, turn, refined, {"base": base.name, "sigma": sigma})


def compute(cell: Cell) -> Outcome:
    """The fit; for the base also the histogram of its margins on the training pairs."""
    if cell.what["ranker"] == "sigmoid":
        return compute_fit(cell)
    data = load(cell.what["data"], cell.where)
    fitted, facts = fit(cell.what, data.learn.train, data.learn.valid)
    found = pair_margins(data.learn.train, scores_of(fitted, data.learn.train), BINS)
    margins = {
        "edges": found.edges.tolist(),
        "counts": found.counts.tolist(),
        "wrong": found.wrong,
        "outliers": found.outliers,
    }
    return measured(cell.what, data, scores_of(fitted, data.learn.test), {**facts, "margins": margins})


def show(study: Study, results: Results) -> Iterator[Part]:
    """The outlier histogram of each base, and the measure against σ."""
    which = study.metrics[0]
    sigmas = study.settings["sigmas"]
    for source in study.data:
        yield Heading(source.name)
        own = results.where(data=source.name)
        means = own.mean(which, "base", "sigma")
        bases = own.levels("base")
        rows = tuple((base, tuple(means[base, sigma] for sigma in (BASE, *sigmas))) for base in bases)
        note = (
            f"{source.name}: {which} of the base and of its refinement by σ, {len(source.folds)} folds; "
            f"convention {source.convention}"
        )
        columns = ("base", *(f"σ {sigma:g}" for sigma in sigmas))
        yield Table(f"sigma-{source.name}", ResultTable(columns, rows, (note,), bold=False))
        lines = {f"{base}, σ": list(values[1:]) for base, values in rows}
        lines |= {f"{base} alone": [values[0]] * len(sigmas) for base, values in rows}
        yield Plot(f"sigma-{source.name}", curves(sigmas, lines, "σ", which, even=True), note + ".")
        for base in bases:
            found = [
                outcome.facts["margins"]
                for cell, outcome in own.where(base=base)
                if "margins" in outcome.facts
            ]
            first = found[0]
            yield Plot(
                f"margins-{source.name}-{base}",
                bins(first["edges"], first["counts"], "margin, in deviations", "pairs"),
                f"{source.name}: margins of the training pairs under {base}, fold {source.folds[0]}; "
                "left of 0 the pair is in the wrong order.",
            )
            wrong = 100 * np.mean([one["wrong"] for one in found])
            outliers = 100 * np.mean([one["outliers"] for one in found])
            yield Words(
                f"{source.name}, {base}: {wrong:.1f} % of the training pairs are in the wrong order, "
                f"{outliers:.2f} % by more than two deviations."
            )


SIGMA = Kind(
    "the steepness of the sigmoid loss that refines a linear ranker",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("map", "ndcg@10"),
    rankers=("perceptron", "ranksvm"),
)
