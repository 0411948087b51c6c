"""calibration: one boosted classifier, calibrated in every way: quality, normalised gains and diversity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.metrics.significance import paired_t
from topkit.rankers import Job, ranker
from topkit.rankers.mixture import Mixture
from topkit.rankers.mixture.calibration import CALIBRATIONS
from topkit.rankers.mixture.members import measure_members
from topkit.rankers.mixture.mixture import Member
from topkit.rankers.mixture.regressions import REGRESSIONS
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.targets import TARGETS
from topkit.rankers.multiclass.adaboost import FORMS, Plan
from topkit.rankers.multiclass.adaboost_mh import fine_stages, train_boosted
from topkit.reporting.plots import new_figure, scatter
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, fit_cell, measure_test, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import FoldData, load
from topkit.studies.spec import Contestant, Source, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELD_BACK = 0.2
"""Share of the training queries that calibrations are fitted to."""
SMALLEST_P = 1e-300
"""p-values are clipped here, because Fisher's method takes their logarithm."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``calibration``."""

    classifiers: Annotated[
        tuple[str, ...],
        Setting("Base classifiers: 'tree' and a number of leaves, or 'product' and a number of terms."),
    ] = ("tree 8", "product 3")
    rounds: Annotated[
        int, Setting("Rounds of boosting; the best round is chosen on validation data.", low=1)
    ] = 100


def _plan(classifier: str, rounds: int) -> Plan:
    """The boosting plan of a classifier such as ``tree 8``."""
    form, _, size = classifier.partition(" ")
    if form not in FORMS or not size.isdigit():
        raise InputError(f"unknown classifier {classifier!r}", "write 'tree 8' or 'product 3'")
    return Plan(form, int(size), rounds)


def cells(study: Study[Settings]) -> Iterator[Cell[Fit]]:
    """One classifier, with all its calibrations, per data set, fold and seed."""
    rounds = study.settings.rounds
    plans = {name: _plan(name, rounds) for name in study.settings.classifiers}
    for turn in turns(study):
        for name, plan in plans.items():
            settings = {"form": plan.form, "size": plan.size, "rounds": rounds}
            contestant = Contestant("adaboost-mh", name, settings)
            yield fit_cell(study, turn, contestant, {"classifier": name}, Fit)


def compute(cell: Cell[Fit]) -> Outcome:
    """Train once and calibrate in every way, each at its best round on validation data; measure on test."""
    work = cell.work
    data = load(work.data, cell.files)
    every_stage = calibrated(_job(work, data), Plan(**work.settings))
    mixture = best_stages(every_stage)
    test = data.labelled.test
    columns: dict[str, list[object]] = {"calibration": [], "query": [], "metric": [], "value": []}
    headline = []
    scores_of_members = mixture.member_scores(data.learn.test)
    for member, scores in zip(mixture.members, scores_of_members, strict=True):
        values = measure_test(data.learn.test, test, scores, work.metrics, work.convention, work.seed)
        headline.append(values[work.metrics[0]])
        for metric, per_query in values.items():
            columns["calibration"] += [member.head.name] * len(per_query)
            columns["query"] += test.qids
            columns["metric"] += [metric] * len(per_query)
            columns["value"] += per_query.tolist()
    names = [member.head.name for member in mixture.members]
    score_values = targets_at_one_stage(every_stage).member_scores(data.learn.test)
    return Outcome(
        columns,
        {
            "p-values of scores": difference_tests(tuple(TARGETS), score_values),
            "p-values of two samples": two_sample_tests(tuple(TARGETS), score_values),
            "p-values of quality": difference_tests(names, np.stack(headline)),
        },
    )


def _job(work: Fit, data: FoldData) -> Job:
    learner: Any = ranker("adaboost-mh", metric=work.choose, convention=work.convention)
    return Job(
        data.learn.train,
        data.learn.valid,
        learner.measure(),
        work.seed,
        metric=work.choose,
        convention=work.convention,
    )


def calibrated(job: Job, plan: Plan) -> Mixture:
    """A member for each calibration after each number of rounds, measured on validation data."""
    split = CalibrationSplit.of(job, HELD_BACK)
    trained = train_boosted(split, split.classes, plan, fine_stages(plan.rounds)[4:] or (plan.rounds,))
    return measure_members(split, [trained], CALIBRATIONS).mixture


def best_stages(mixture: Mixture) -> Mixture:
    """A member for each calibration, after the number of rounds that is best for it."""
    best = [
        max((m for m in mixture.members if m.head.name == name), key=lambda m: m.measure)
        for name in CALIBRATIONS
    ]
    return replace(mixture, members=tuple(best))


def targets_at_one_stage(mixture: Mixture) -> Mixture:
    """The five target functions, all after the number of rounds that is best for them on average.

    Their scores then differ because of the target functions only, not because of the classifier.
    """
    stages: dict[int, dict[str, Member]] = {}
    for member in mixture.members:
        if member.head.name in TARGETS:
            stages.setdefault(member.stage, {})[member.head.name] = member
    best = max(stages.values(), key=lambda members: sum(member.measure for member in members.values()))
    return replace(mixture, members=tuple(best[name] for name in TARGETS))


def difference_tests(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    """The p-value of the paired t-test between each pair of target functions; one row of values per name."""
    rows = {name: row for name, row in zip(names, values, strict=True) if name in TARGETS}
    return {f"{a}|{b}": float(paired_t(rows[a] - rows[b])) for a, b in combinations(rows, 2)}


def two_sample_tests(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    """The p-value of Welch's t-test between each pair of rows; it ignores that the documents are the same."""
    from scipy.stats import ttest_ind

    rows = dict(zip(names, values, strict=True))
    return {
        f"{a}|{b}": float(ttest_ind(rows[a], rows[b], equal_var=False).pvalue)
        for a, b in combinations(rows, 2)
    }


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """Quality of each calibration, plain against normalised gains, and how much target functions differ."""
    which = study.metrics[0]
    for source in study.data:
        yield Heading(source.name)
        of_source = results.where(data=source.name)
        yield from _show_quality(source, of_source, which)
        for classifier in of_source.levels("classifier"):
            of_classifier = of_source.where(classifier=classifier)
            title = f"{source.name}-{classifier.replace(' ', '-')}"
            yield from _show_matrix(
                f"diversity-{title}",
                diversity(of_classifier, "scores"),
                f"{source.name}, {classifier}: p-values of the paired t-test on the scores of the test "
                "documents, all after the same number of rounds, folds combined by Fisher's method",
            )
            yield from _show_matrix(
                f"diversity-of-two-samples-{title}",
                diversity(of_classifier, "two samples"),
                f"{source.name}, {classifier}: the same by Welch's t-test, which compares the mean scores of "
                "two samples",
            )
            yield from _show_matrix(
                f"diversity-of-quality-{title}",
                diversity(of_classifier, "quality"),
                f"{source.name}, {classifier}: the same on {which} per query, each after its best number of "
                "rounds",
            )


def _show_matrix(name: str, matrix: NDArray[np.float64], caption: str) -> Iterator[Part]:
    """The p-values between target functions as a table and as a plot."""
    targets = tuple(TARGETS)
    rows = tuple((target, tuple(row)) for target, row in zip(targets, matrix.tolist(), strict=True))
    yield TablePart(name, ScoreTable(targets, rows, (caption,), bold=False))
    yield PlotPart(name, matrix_plot(matrix, targets), caption + ".")


def _show_quality(source: Source, results: Results, which: str) -> Iterator[Part]:
    classifiers = results.levels("classifier")
    means = results.mean(which, "calibration", "classifier")
    rows = tuple(
        (name, tuple(means[name, classifier] for classifier in classifiers)) for name in CALIBRATIONS
    )
    note = f"{source.name}: {which}, {len(source.folds)} folds; convention {source.convention}"
    yield TablePart(f"calibration-{source.name}", ScoreTable(tuple(classifiers), rows, (note,)))
    fits = results.mean(which, "calibration", "classifier", "fold", "seed")
    pairs = [
        (value, fits[f"{name}/ideal", *rest]) for (name, *rest), value in fits.items() if name in REGRESSIONS
    ]
    figure = scatter(pairs, f"{which}, plain gains", f"{which}, gains divided by the ideal DCG")
    yield PlotPart(f"ideal-{source.name}", figure, f"{source.name}: one point per regression and fold.")
    better = sum(normalised > plain for plain, normalised in pairs)
    yield Paragraph(f"{source.name}: normalised gains are better in {better} of {len(pairs)} regressions.")


def diversity(results: Results, of: str) -> NDArray[np.float64]:
    """Targets × targets: p-values of all cells by Fisher's method, 1 on the diagonal.

    ``of`` is ``scores``, ``two samples`` or ``quality``.
    """
    from scipy.stats import combine_pvalues

    names = list(TARGETS)
    matrix = np.ones((len(names), len(names)))
    for i, j in combinations(range(len(names)), 2):
        values = [outcome.facts[f"p-values of {of}"][f"{names[i]}|{names[j]}"] for _, outcome in results]
        safe = np.clip(values, SMALLEST_P, 1.0)
        matrix[i, j] = matrix[j, i] = float(combine_pvalues(safe, "fisher").pvalue)
    return matrix


def matrix_plot(matrix: NDArray[np.float64], names: tuple[str, ...]) -> Figure:
    """One square per pair with its p-value, dark if the two hardly differ."""
    figure = new_figure(5.2, 4.6)
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes.set_yticks(range(len(names)), names)
    for i, j in np.ndindex(*matrix.shape):
        colour = "white" if matrix[i, j] > 0.6 else "black"
        axes.text(j, i, f"{matrix[i, j]:.2g}", ha="center", va="center", color=colour, fontsize=8)
    return figure


CALIBRATION = Kind(
    summary="one boosted classifier calibrated in every way: quality, normalised gains, diversity",
    code=Code(Settings, Fit, cells, compute, show),
    metrics=("ndcg@10", "err"),
)
