"""``topkit train``: fit a ranker to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topkit.cli.output import print_tables
from topkit.cli.shared import read_dataset
from topkit.cli.train_options import TrainOptions
from topkit.compute import fields_as_parameters

if TYPE_CHECKING:
    from topkit.compute import Report
    from topkit.data import Dataset
    from topkit.losses import Preferences
    from topkit.rankers import Clicks, Learner
    from topkit.rankers.tuning import Trial
    from topkit.rankers.unbiased import UnbiasedClicks

BEST_TRIALS = 5
"""Trials of ``--tune`` that are printed as text; the other formats have all."""


@fields_as_parameters(TrainOptions)
def train(options: TrainOptions) -> None:
    """Fit a ranker and write its model file.

    Examples: `topkit train focusednet --train train.txt --valid vali.txt --set k=10 --out focused.model`

    `topkit train sigmoid --train train.txt --set base_settings.passes=2 --out refined.model`

    `topkit train topk-listmle --train large.parquet --memory 500MB --out linear.model`

    `topkit train lambdamart --train large.parquet --dask tcp://scheduler:8786 --out trees.model`

    `topkit train gradient --set loss=rank-distillation --teacher big.model --train t.txt --out small.model`

    `topkit train click-label --train train.txt --clicks pages.txt --out clicks.model`

    `topkit train click-label --clicks pages.txt --satisfaction thumbs.txt --out useful.model`

    `topkit train listnet --train documents.txt --clicks log.parquet --propensity pbm --out unbiased.model`

    `topkit train ranksvm --train train.txt --valid vali.txt --tune grid --format json --out svm.model`
    """
    options.check()
    if options.start is not None:
        _continue(options, options.start)
    elif options.in_parts:
        _train_in_parts(options)
    else:
        _train_in_memory(options)


def _train_in_memory(options: TrainOptions) -> None:
    from topkit.rankers import load_ranker, ranker
    from topkit.rankers.tuning import tune
    from topkit.reporting.progress import progress

    data = _training_data(options)
    valid = None if options.valid_file is None else read_dataset(options.valid_file, truth=options.truth)
    settings, pairs = _preferences(options, data)
    data, clicks = (data, _clicks(options)) if options.log is None else _click_log(options, data)
    teacher = None if options.teacher is None else load_ranker(options.teacher)
    trials: list[Trial] = []
    with progress(options.name, quiet=options.quiet) as report:
        if options.tune is None or valid is None:
            learner = ranker(options.name, **settings)
            learner.fit(data, valid, preferences=pairs, clicks=clicks, teacher=teacher, report=report)
        else:
            learner, trials = tune(
                options.name,
                data,
                valid,
                search=options.tune,
                trials=options.trials,
                report=report,
                fit_arguments={"preferences": pairs, "teacher": teacher},
                **settings,
            )
    learner.save(options.out)
    _print_summary(learner, options, valid, sorted(trials, key=lambda trial: -trial.measure))


def _train_in_parts(options: TrainOptions) -> None:
    from topkit.reporting.progress import progress

    file = options.valid_file
    valid = None if file is None else read_dataset(file)
    with progress(options.name, quiet=options.quiet) as report:
        learner, trials = _learner_in_parts(options, valid, report)
    learner.save(options.out)
    _print_summary(learner, options, valid, sorted(trials, key=lambda trial: -trial.measure))


def _learner_in_parts(
    options: TrainOptions, valid: Dataset | None, report: Report
) -> tuple[Learner, list[Trial]]:
    from topkit.compute.cluster import connected
    from topkit.scale import parse_memory, train_in_parts, tune_on
    from topkit.scale.memory import give_memory_back

    file, name, settings = options.train_file or Path(), options.name, options.parsed
    if options.dask is None:
        limit = parse_memory(options.memory or "")
        give_memory_back()
        return train_in_parts(name, file, valid, memory=limit, report=report, **settings), []
    with connected(options.dask, options.workers) as cluster:
        path = file.absolute()  # workers may run in another folder
        if options.tune is not None and valid is not None:
            return tune_on(cluster, name, path, valid, trials=options.trials, **settings)
        return train_in_parts(name, path, valid, cluster=cluster, report=report, **settings), []


def _continue(options: TrainOptions, start: Path) -> None:
    """Continue training a click-label model with new labels and clicks."""
    from topkit.rankers import load_ranker
    from topkit.rankers.clicks.method import continue_training

    labelled = None if options.train_file is None else _training_data(options)
    learner = continue_training(load_ranker(start), labelled, _clicks(options))
    learner.save(options.out)
    _print_summary(learner, options, None)


def _training_data(options: TrainOptions) -> Dataset:
    """The training file or, without one, the graded documents of the pages."""
    from topkit.data import read_pages
    from topkit.rankers.clicks.pages import pages_data

    if options.train_file is not None:
        return read_dataset(options.train_file, truth=options.truth)
    return pages_data(read_pages(options.clicks or Path()))


def _clicks(options: TrainOptions) -> Clicks | None:
    """The pages as a stream, with the features of a data set or, without one, those in the pages."""
    from topkit.data import InputError, read_pages, read_satisfaction
    from topkit.rankers import Clicks
    from topkit.rankers.clicks.pages import pages_data

    if options.clicks is None:
        return None
    file = options.features or options.train_file
    features = pages_data(read_pages(options.clicks), graded=False) if file is None else read_dataset(file)
    if options.satisfaction is None:
        return Clicks(read_pages(options.clicks), features)
    satisfied = read_satisfaction(options.satisfaction)
    pages = (page for page in read_pages(options.clicks) if page.session in satisfied)
    rated = [(page, satisfied[page.session]) for page in pages]
    if not rated:
        raise InputError("no session of the file occurs in the pages", file=options.satisfaction)
    return Clicks(read_pages(options.clicks), features, rated)


def _click_log(options: TrainOptions, data: Dataset) -> tuple[Dataset, UnbiasedClicks | None]:
    """The documents, and the log for a ranker with a loss; other rankers get labels estimated from it."""
    from topkit.clicks import read_clicks
    from topkit.clicks.propensities import named_propensities
    from topkit.rankers import ranker
    from topkit.rankers.unbiased import UnbiasedClicks, click_labels

    log = read_clicks(options.clicks or Path())
    propensities = named_propensities(options.propensity or "pbm")
    clicks = UnbiasedClicks(log, propensities, options.estimator or "snips")
    if clicks.source in ranker(options.name, **options.parsed).method.learns_from:
        return data, clicks
    return click_labels(data, clicks), None


def _preferences(options: TrainOptions, data: Dataset) -> tuple[dict[str, Any], Preferences | None]:
    """The settings, which say that pairs are given if they are, and the pairs."""
    from topkit.data import read_preferences
    from topkit.losses import Preferences
    from topkit.rankers import settings_of

    settings = dict(options.parsed)
    if options.preferences is None:
        return settings, None
    if "pairs" in settings_of(options.name, **settings):
        settings.setdefault("pairs", "given")
    ties = settings.get("ties") is not None
    return settings, Preferences.of_judgments(data, read_preferences(options.preferences), ties=ties)


def _print_summary(
    learner: Learner, options: TrainOptions, valid: Dataset | None, trials: Sequence[Trial] = ()
) -> None:
    """Print what was fitted as one document, or as text to standard error if the model is printed."""
    from topkit.reporting.tables import Table

    if options.quiet:
        return
    value = None if valid is None else learner.sign * learner.measure_on(valid)
    if options.aside:
        typer.echo(_summary(learner, options, value, trials), err=True)
        return
    model, _ = learner.fitted()
    metric = None if value is None else learner.common.metric
    convention = None if value is None else learner.common.convention
    reasons = ", ".join(dict.fromkeys(trace.reason for trace in learner.traces if trace.reason))
    facts = (str(options.out), learner.name, metric, convention, value, reasons, model.remark)
    tables = {
        "model": Table(("model", "ranker", "metric", "convention", "value", "stopped", "remark"), [facts]),
        "trials": Table(
            ("value", "settings"), [(learner.sign * trial.measure, _assignments(trial)) for trial in trials]
        ),
    }
    print_tables(tables, options.form, lambda: _summary(learner, options, value, trials))


def _summary(learner: Learner, options: TrainOptions, value: float | None, trials: Sequence[Trial]) -> str:
    """The best trials, the file and the ranker, and what the model says about itself."""
    model, _ = learner.fitted()
    lines = [
        f"  {learner.sign * trial.measure:.4f}  {_assignments(trial) or 'defaults'}"
        for trial in trials[:BEST_TRIALS]
    ]
    start = options.start
    parts = [f"{options.out}: {learner.name}" + ("" if start is None else f", continued from {start}")]
    if value is not None:
        measure = f"{learner.common.metric} ({learner.common.convention})"
        parts.append(f"{measure} {value:.4f} on the validation data")
    if start is None:
        parts.append(model.remark)
        if any(trace.reason == "step limit" for trace in learner.traces):
            parts.append("some fits stopped at the limit of steps, trees or epochs; a larger one may help")
    lines.append("; ".join(filter(None, parts)))
    if start is None and model.details:
        lines.append(model.details)
    return "\n".join(lines)


def _assignments(trial: Trial) -> str:
    return " ".join(f"{name}={value}" for name, value in trial.settings.items())
