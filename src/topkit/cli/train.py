"""``topkit train``: fit a ranker to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from topkit.cli.completion import names_of
from topkit.cli.output import Form, check_form
from topkit.cli.shared import Settings, TruthName, ranker_settings, read_dataset
from topkit.cli.train_summary import print_summary

if TYPE_CHECKING:
    from topkit.compute import Report
    from topkit.data import Dataset
    from topkit.losses import Preferences
    from topkit.rankers import Clicks, Learner
    from topkit.rankers.tuning import Trial
    from topkit.rankers.unbiased import UnbiasedClicks


@dataclass(frozen=True)
class Inputs:
    """The files to learn from."""

    train: Path | None
    valid: Path | None
    truth: str
    preferences: Path | None
    clicks: Path | None
    features: Path | None
    satisfaction: Path | None
    start: Path | None
    teacher: Path | None
    propensity: str | None = None
    estimator: str | None = None

    @property
    def log(self) -> Path | None:
        """The click log for unbiased learning; the pages of click-label are not one."""
        return self.clicks if self.propensity is not None or self.estimator is not None else None


@dataclass(frozen=True)
class Options:
    """The options of ``topkit train``."""

    name: str
    out: Path
    settings: dict[str, Any]
    inputs: Inputs
    tune: str | None
    trials: int
    memory: str | None
    dask: str | None
    workers: int | None
    quiet: bool
    form: str

    def check(self) -> None:
        """Raise InputError for options that do not go together, before any large file is read."""
        from topkit.data import InputError
        from topkit.rankers import ranker

        check_form(self.form)
        ranker(self.name, **self.settings)
        inputs = self.inputs
        if inputs.train is None and inputs.clicks is None:
            raise InputError("no training data", "give it with --train, or pages with --clicks")
        if inputs.satisfaction is not None and inputs.clicks is None:
            raise InputError("--satisfaction rates the pages of --clicks", "give the pages with --clicks")
        self._check_log()
        if self.tune is not None and inputs.valid is None:
            raise InputError("--tune needs validation data", "give it with --valid")
        if self.tune is not None and inputs.clicks is not None:
            raise InputError("--tune cannot be used with --clicks", "leave one of them out")
        if inputs.start is not None and (self.settings or inputs.valid or inputs.preferences or self.tune):
            raise InputError(
                "a model that continues learning keeps its settings",
                "use --from with --train or --clicks only, without --set, --valid, --preferences and --tune",
            )
        if self.memory is not None and self.dask is not None:
            raise InputError("--memory and --dask cannot be used together", "leave one of them out")
        if self.workers is not None and self.dask is None:
            raise InputError("--workers is only for --dask local", "add --dask local, or leave it out")
        others = (
            self.tune, inputs.preferences, inputs.clicks, inputs.features, inputs.start, inputs.teacher
        )  # fmt: skip
        if self.in_parts and (any(others) or inputs.truth != "graded"):
            raise InputError(
                "--memory and --dask train on the labels of a Parquet file",
                "leave out --tune, --preferences, --clicks, --features, --from, --teacher and --truth",
            )

    def _check_log(self) -> None:
        from topkit.data import InputError

        inputs = self.inputs
        if (inputs.propensity is not None or inputs.estimator is not None) and inputs.clicks is None:
            raise InputError("--propensity and --estimator correct clicks", "give the log with --clicks")
        if inputs.log is None:
            return
        if self.name == "click-label":
            raise InputError(
                "click-label learns its own position bias", "leave out --propensity and --estimator"
            )
        if inputs.train is None:
            raise InputError("a click log has no features", "give the documents with --train")
        if inputs.satisfaction or inputs.preferences or inputs.features or inputs.start:
            raise InputError(
                "a click log is the only truth",
                "leave out --satisfaction, --preferences, --features and --from",
            )

    @property
    def in_parts(self) -> bool:
        """Whether to train out of core or on a cluster."""
        return self.memory is not None or self.dask is not None

    @property
    def aside(self) -> bool:
        """Whether messages go to standard error, because the model goes to standard output."""
        from topkit.data.writers import is_standard_output

        return is_standard_output(self.out)


def train(
    name: Annotated[
        str,
        Argument(
            metavar="RANKER",
            help="A ranker's name: see `topkit rankers`.",
            autocompletion=names_of("ranker"),
        ),
    ],
    out: Annotated[Path, Option(help="The model file to write.")],
    train_file: Annotated[
        Path | None, Option("--train", help="Training data: LETOR text or Parquet.")
    ] = None,
    valid_file: Annotated[Path | None, Option("--valid", help="Data for early stopping and --tune.")] = None,
    settings: Settings = None,
    truth: TruthName = "graded",
    preferences: Annotated[Path | None, Option(help="Preference pairs, used instead of labels.")] = None,
    clicks: Annotated[
        Path | None,
        Option(help="Result pages for click-label; with --propensity a click log for other rankers."),
    ] = None,
    propensity: Annotated[
        str | None,
        Option(help="Position bias of --clicks: pbm, trust, conditional, all-pairs, … or a CSV."),
    ] = None,
    estimator: Annotated[
        str | None, Option(help="How to correct --clicks: snips, ips, dr, dual, pairwise or naive.")
    ] = None,
    features: Annotated[Path | None, Option(help="Features of the pages, if not in --train.")] = None,
    satisfaction: Annotated[
        Path | None, Option(help="Lines 'session 0|1' of --clicks: learns the utility to rank by.")
    ] = None,
    start: Annotated[Path | None, Option("--from", help="A click-label model to continue.")] = None,
    teacher: Annotated[
        Path | None, Option(help="A model whose top the loss rank-distillation learns too.")
    ] = None,
    tune: Annotated[str | None, Option(help="Search the ranker's settings: grid or optuna.")] = None,
    trials: Annotated[int, Option(help="Number of settings that --tune tries.")] = 20,
    memory: Annotated[str | None, Option(help="Train on Parquet within this memory: 500MB.")] = None,
    dask: Annotated[str | None, Option(help="Train on Dask: a scheduler address or `local`.")] = None,
    workers: Annotated[int | None, Option(help="Worker processes of --dask local.")] = None,
    quiet: Annotated[bool, Option("--quiet", help="Print only errors.")] = False,
    form: Form = "table",
) -> None:
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
    inputs = Inputs(
        train_file,
        valid_file,
        truth,
        preferences,
        clicks,
        features,
        satisfaction,
        start,
        teacher,
        propensity,
        estimator,
    )
    parsed = ranker_settings(name, settings or [])
    options = Options(name, out, parsed, inputs, tune, trials, memory, dask, workers, quiet, form)
    options.check()
    if start is not None:
        _continue(options, start)
    elif options.in_parts:
        _train_in_parts(options)
    else:
        _train_in_memory(options)


def _train_in_memory(options: Options) -> None:
    from topkit.rankers import load_ranker, ranker
    from topkit.rankers.tuning import tune
    from topkit.reporting.progress import progress

    inputs = options.inputs
    data = _training_data(inputs)
    valid = None if inputs.valid is None else read_dataset(inputs.valid, truth=inputs.truth)
    settings, pairs = _preferences(options, data)
    data, clicks = (data, _clicks(inputs)) if inputs.log is None else _click_log(options, data)
    teacher = None if inputs.teacher is None else load_ranker(inputs.teacher)
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
    print_summary(learner, options, valid, sorted(trials, key=lambda trial: -trial.measure))


def _train_in_parts(options: Options) -> None:
    from topkit.reporting.progress import progress

    file = options.inputs.valid
    valid = None if file is None else read_dataset(file)
    with progress(options.name, quiet=options.quiet) as report:
        learner = _learner_in_parts(options, valid, report)
    learner.save(options.out)
    print_summary(learner, options, valid)


def _learner_in_parts(options: Options, valid: Dataset | None, report: Report) -> Learner:
    from topkit.compute.cluster import connected
    from topkit.scale import parse_memory, train_in_parts
    from topkit.scale.memory import give_memory_back

    file = options.inputs.train or Path()
    if options.dask is None:
        limit = parse_memory(options.memory or "")
        give_memory_back()
        return train_in_parts(options.name, file, valid, memory=limit, report=report, **options.settings)
    with connected(options.dask, options.workers) as cluster:
        path = file.absolute()  # workers may run in another folder
        return train_in_parts(options.name, path, valid, cluster=cluster, report=report, **options.settings)


def _continue(options: Options, start: Path) -> None:
    """Continue training a click-label model with new labels and clicks."""
    from topkit.rankers import load_ranker
    from topkit.rankers.clicks.method import continue_training

    labelled = None if options.inputs.train is None else _training_data(options.inputs)
    learner = continue_training(load_ranker(start), labelled, _clicks(options.inputs))
    learner.save(options.out)
    print_summary(learner, options, None)


def _training_data(inputs: Inputs) -> Dataset:
    """The training file or, without one, the graded documents of the pages."""
    from topkit.data import read_pages
    from topkit.rankers.clicks.pages import pages_data

    if inputs.train is not None:
        return read_dataset(inputs.train, truth=inputs.truth)
    return pages_data(read_pages(inputs.clicks or Path()))


def _clicks(inputs: Inputs) -> Clicks | None:
    """The pages as a stream, with the features of a data set or, without one, those in the pages."""
    from topkit.data import InputError, read_pages, read_satisfaction
    from topkit.rankers import Clicks
    from topkit.rankers.clicks.pages import pages_data

    if inputs.clicks is None:
        return None
    file = inputs.features or inputs.train
    features = pages_data(read_pages(inputs.clicks), graded=False) if file is None else read_dataset(file)
    if inputs.satisfaction is None:
        return Clicks(read_pages(inputs.clicks), features)
    satisfied = read_satisfaction(inputs.satisfaction)
    pages = (page for page in read_pages(inputs.clicks) if page.session in satisfied)
    rated = [(page, satisfied[page.session]) for page in pages]
    if not rated:
        raise InputError("no session of the file occurs in the pages", file=inputs.satisfaction)
    return Clicks(read_pages(inputs.clicks), features, rated)


def _click_log(options: Options, data: Dataset) -> tuple[Dataset, UnbiasedClicks | None]:
    """The documents, and the log for a ranker with a loss; other rankers get labels estimated from it."""
    from topkit.clicks import read_clicks
    from topkit.clicks.propensities import named_propensities
    from topkit.rankers import ranker
    from topkit.rankers.unbiased import UnbiasedClicks, click_labels

    inputs = options.inputs
    log = read_clicks(inputs.clicks or Path())
    propensities = named_propensities(inputs.propensity or "pbm")
    clicks = UnbiasedClicks(log, propensities, inputs.estimator or "snips")
    if clicks.source in ranker(options.name, **options.settings).method.learns_from:
        return data, clicks
    return click_labels(data, clicks), None


def _preferences(options: Options, data: Dataset) -> tuple[dict[str, Any], Preferences | None]:
    """The settings, which say that pairs are given if they are, and the pairs."""
    from topkit.data import read_preferences
    from topkit.losses import Preferences
    from topkit.rankers import settings_of

    settings = dict(options.settings)
    if options.inputs.preferences is None:
        return settings, None
    if "pairs" in settings_of(options.name, **settings):
        settings.setdefault("pairs", "given")
    ties = settings.get("ties") is not None
    return settings, Preferences.of_judgments(data, read_preferences(options.inputs.preferences), ties=ties)
