"""calibration: one boosted classifier, calibrated in every way: quality, normalised gains, and diversity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.rankers import Job, ranker
from topkit.rankers.mixture import Mixture
from topkit.rankers.mixture.calibration import CALIBRATIONS
from topkit.rankers.mixture.members import measure_members
from topkit.rankers.mixture.regressions import REGRESSIONS
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.targets import TARGETS
from topkit.rankers.multiclass.adaboost import FORMS, Plan
from topkit.rankers.multiclass.adaboost_mh import fine_stages, train_boosted
from topkit.studies.fits import fit_cell, measure_test, turns
from topkit.studies.kind import Cell, Heading, Kind, Outcome, Part, Plot, Setting, Table, Words
from topkit.studies.plots import scatter
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Contestant, Study
from topkit.studies.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELD_BACK = 0.2
"""Share of the training queries that calibrations are fitted to."""
SETTINGS = {
    "classifiers": Setting(["tree 8", "product 3"], "tree and a number of leaves, product and one of terms"),
    "rounds": Setting(100, "rounds of boosting; the best is chosen on validation data"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A classifier for each data set, fold and seed, with all its calibrations."""
    for name in study.settings["classifiers"]:
        form, _, size = str(name).partition(" ")
        if form not in FORMS or not size.isdigit():
            raise InputError(f"there is no classifier {name!r}", "write 'tree 8' or 'product 3'")
    for turn in turns(study):
        for name in study.settings["classifiers"]:
            form, _, size = name.partition(" ")
            settings = {"form": form, "size": int(size), "rounds": study.settings["rounds"]}
            one = Contestant("adaboost-mh", name, settings)
            yield fit_cell(study, turn, one, {"classifier": name})


def compute(cell: Cell) -> Outcome:
    """Train once, calibrate in every way, each at its best round on validation data; measure on test."""
    data, what = load(cell.what["data"], cell.where), cell.what
    made = ranker("adaboost-mh", metric=what["choose"], convention=what["convention"])
    job = Job(
        data.learn.train, data.learn.valid, made.measure(), what["seed"],
        metric=what["choose"], convention=what["convention"],
    )  # fmt: skip
    mixture = calibrated(job, Plan(what["set"]["form"], what["set"]["size"], what["set"]["rounds"]))
    scores = mixture.member_scores(data.learn.test)
    test = data.labelled.test
    columns: dict[str, list[object]] = {"calibration": [], "query": [], "metric": [], "value": []}
    quality = []
    for member, given in zip(mixture.members, scores, strict=True):
        values = measure_test(data.learn.test, test, given, what["metrics"], what["convention"])
        quality.append(values[what["metrics"][0]])
        for metric, per_query in values.items():
            columns["calibration"] += [member.head.name] * len(per_query)
            columns["query"] += test.qids
            columns["metric"] += [metric] * len(per_query)
            columns["value"] += per_query.tolist()
    names = [member.head.name for member in mixture.members]
    return Outcome(columns, {"p-values": difference_tests(names, np.stack(quality))})


def calibrated(job: Job, plan: Plan) -> Mixture:
    """A member for each calibration, after the rounds that are best for it."""
    split = CalibrationSplit.of(job, HELD_BACK)
    trained = train_boosted(split, split.classes, plan, fine_stages(plan.rounds)[4:] or (plan.rounds,))
    everyone = measure_members(split, [trained], CALIBRATIONS).mixture
    best = [
        max((m for m in everyone.members if m.head.name == name), key=lambda m: m.measure)
        for name in CALIBRATIONS
    ]
    return replace(everyone, members=tuple(best))


def difference_tests(names: list[str], quality: NDArray[np.float64]) -> dict[str, float]:
    """The p-value of the paired t-test over queries' values, for each pair of target functions."""
    from topkit.metrics.significance import paired_t

    rows = {name: given for name, given in zip(names, quality, strict=True) if name in TARGETS}
    return {f"{a}|{b}": float(paired_t(rows[a] - rows[b])) for a, b in combinations(rows, 2)}


def show(study: Study, results: Results) -> Iterator[Part]:
    """Quality of each calibration, plain against normalised gains, and how far target functions differ."""
    which = study.metrics[0]
    for source in study.data:
        yield Heading(source.name)
        own = results.where(data=source.name)
        classifiers = own.levels("classifier")
        means = own.mean(which, "calibration", "classifier")
        rows = tuple((name, tuple(means[name, one] for one in classifiers)) for name in CALIBRATIONS)
        note = f"{source.name}: {which}, {len(source.folds)} folds; convention {source.convention}"
        yield Table(f"calibration-{source.name}", ResultTable(tuple(classifiers), rows, (note,)))
        fits = own.mean(which, "calibration", "classifier", "fold", "seed")
        pairs = [
            (value, fits[f"{name}/ideal", *rest])
            for (name, *rest), value in fits.items()
            if name in REGRESSIONS
        ]
        figure = scatter(pairs, f"{which}, plain gains", f"{which}, gains over the ideal DCG")
        yield Plot(f"ideal-{source.name}", figure, f"{source.name}: a point for each regression and fold.")
        better = sum(b > a for a, b in pairs)
        yield Words(f"{source.name}: normalised gains are better in {better} of {len(pairs)} regressions.")
        for one in classifiers:
            matrix = diversity(own.where(classifier=one))
            names = tuple(TARGETS)
            table = tuple((name, tuple(row)) for name, row in zip(names, matrix.tolist(), strict=True))
            caption = (
                f"{source.name}, {one}: p-values of the paired t-test over the queries' {which}, "
                "folds combined by Fisher's method"
            )
            title = f"diversity-{source.name}-{one.replace(' ', '-')}"
            yield Table(title, ResultTable(names, table, (caption,), bold=False))
            yield Plot(title, matrix_plot(matrix, names), caption + ".")


def diversity(results: Results) -> NDArray[np.float64]:
    """Targets × targets: p-values of all cells, combined by Fisher's method; 1 on the diagonal."""
    from scipy.stats import combine_pvalues

    names = list(TARGETS)
    matrix = np.ones((len(names), len(names)))
    for i, j in combinations(range(len(names)), 2):
        values = [outcome.facts["p-values"][f"{names[i]}|{names[j]}"] for _, outcome in results]
        safe = np.clip(values, 1e-300, 1.0)
        matrix[i, j] = matrix[j, i] = float(combine_pvalues(safe, "fisher").pvalue)
    return matrix


def matrix_plot(matrix: NDArray[np.float64], names: tuple[str, ...]) -> Figure:
    """A square for each pair, dark where the two hardly differ, with its p-value."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes.set_yticks(range(len(names)), names)
    for i, j in np.ndindex(*matrix.shape):
        colour = "white" if matrix[i, j] > 0.6 else "black"
        axes.text(j, i, f"{matrix[i, j]:.2g}", ha="center", va="center", color=colour, fontsize=8)
    return figure


CALIBRATION = Kind(
    "one boosted classifier calibrated in every way: quality, normalised gains, diversity",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("ndcg@10", "err"),
)
