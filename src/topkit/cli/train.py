"""``topkit train`` and ``topkit score``: fit a ranker to files, and score files with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkit.cli.data import read_dataset

if TYPE_CHECKING:
    from topkit.data import Dataset
    from topkit.rankers import Clicks, Learner
    from topkit.rankers.tuning import Trial

Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A setting, such as k=10; may be given many times.")
]


def train(
    name: Annotated[str, typer.Argument(metavar="RANKER", help="A ranker's name, such as focusednet.")],
    out: Annotated[Path, typer.Option(help="The model file to write.")],
    train_file: Annotated[
        Path | None, typer.Option("--train", help="Training data: LETOR text (.gz too) or Parquet.")
    ] = None,
    valid_file: Annotated[
        Path | None, typer.Option("--valid", help="Data to choose settings and to stop early by.")
    ] = None,
    settings: Settings = None,
    truth: Annotated[str, typer.Option(help="What the labels mean: graded, order or top-K.")] = "graded",
    preferences: Annotated[
        Path | None, typer.Option(help="Preference pairs to learn from instead of labels.")
    ] = None,
    clicks: Annotated[
        Path | None, typer.Option(help="Result pages with clicks, which click-label learns from.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Data with the features of the pages' documents, if not --train.")
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="A click-label model that goes on learning from new data.")
    ] = None,
    tune: Annotated[str | None, typer.Option(help="Search the ranker's settings: grid or optuna.")] = None,
    trials: Annotated[int, typer.Option(help="Settings that --tune tries.")] = 20,
    memory: Annotated[
        str | None, typer.Option(help="Train out of core on Parquet within this memory, such as 500MB.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Train on a Dask cluster: its address, or local to start one here.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes of --dask local.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Fit a ranker and write its model file.

    Examples: `topkit train focusednet --train train.txt --valid vali.txt --set k=10 --out focused.model`

    `topkit train topk-listmle --train large.parquet --memory 500MB --out linear.model`

    `topkit train lambdamart --train large.parquet --dask tcp://scheduler:8786 --out trees.model`

    `topkit train click-label --train train.txt --clicks pages.txt --out clicks.model`
    """
    from topkit.data import InputError, read_preferences
    from topkit.losses import Preferences
    from topkit.rankers import load_ranker, ranker, settings_of
    from topkit.rankers.clicks.method import continue_training
    from topkit.rankers.tuning import tune as search_settings

    chosen = dict(parse_setting(text) for text in settings or [])
    if preferences is not None and "pairs" in settings_of(name, **chosen):
        chosen.setdefault("pairs", "given")
    made = ranker(name, **chosen)  # wrong settings are told before large files are read
    if tune is not None and valid_file is None:
        raise InputError("--tune needs data to choose by", "give it with --valid")
    if memory is not None or dask is not None:
        others = (tune, preferences, clicks, features, start)
        if train_file is None or any(other is not None for other in others) or truth != "graded":
            raise InputError(
                "--memory and --dask train on the labels of a Parquet file with the settings given",
                "give it with --train, and leave out --tune, --preferences, --clicks, --from and --truth",
            )
        _train_in_parts(name, train_file, valid_file, out, chosen, memory, dask, workers, quiet)
        return
    if tune is not None and clicks is not None:
        raise InputError("--tune tries settings on labels only", "give --clicks without it")
    data = _training_data(train_file, clicks, truth)
    seen = None if clicks is None else _clicks(clicks, features or train_file)
    if start is not None:
        if chosen or valid_file or preferences or tune:
            raise InputError(
                "a model that goes on learning keeps its settings", "give --train or --clicks only"
            )
        grades = None if train_file is None else data
        continue_training(load_ranker(start), grades, seen).save(out)
        if not quiet:
            typer.echo(f"{out}: {name}, gone on from {start}")
        return
    valid = None if valid_file is None else read_dataset(valid_file, truth=truth)
    pairs = None
    if preferences is not None:
        tied = chosen.get("ties") is not None
        pairs = Preferences.of_judgments(data, read_preferences(preferences), ties=tied)
    tried: list[Trial] = []
    with _progress(name, quiet) as report:
        if tune is None or valid is None:
            made.fit(data, valid, preferences=pairs, clicks=seen, report=report)
        else:
            made, tried = search_settings(
                name, data, valid, search=tune, trials=trials, preferences=pairs, report=report, **chosen
            )
    made.save(out)
    if not quiet:
        for trial in sorted(tried, key=lambda trial: -trial.measure)[:5]:
            typer.echo(f"  {trial.measure:.4f}  {_shown(trial.settings)}")
        _summary(made, out, None if valid is None else made.measure_on(valid))


def _train_in_parts(
    name: str,
    train_file: Path,
    valid_file: Path | None,
    out: Path,
    settings: dict[str, Any],
    memory: str | None,
    dask: str | None,
    workers: int | None,
    quiet: bool,
) -> None:
    from topkit.compute.cluster import ClusterError, connected
    from topkit.data import InputError
    from topkit.scale import parse_memory, train_in_parts
    from topkit.scale.memory import give_memory_back

    if memory is not None and dask is not None:
        raise InputError(
            "--memory is for one process, --dask for many", "give one of them; Dask's workers have limits"
        )
    limit = None
    if memory is not None:
        limit = parse_memory(memory)
        give_memory_back()
    valid = None if valid_file is None else read_dataset(valid_file)
    with _progress(name, quiet) as report:
        if dask is None:
            made = train_in_parts(name, train_file, valid, memory=limit, report=report, **settings)
        else:
            try:
                with connected(dask, workers) as cluster:
                    made = train_in_parts(
                        name, train_file.absolute(), valid, cluster=cluster, report=report, **settings
                    )
            except ClusterError as error:
                raise InputError(str(error)) from None
    made.save(out)
    if not quiet:
        _summary(made, out, None if valid is None else made.measure_on(valid))


def score(
    model: Annotated[Path, typer.Argument(help="A model file that topkit train wrote.")],
    data_file: Annotated[Path, typer.Argument(metavar="DATA", help="LETOR text (.gz too) or Parquet.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    form: Annotated[
        str, typer.Option("--format", help="scores (a number a line) or run (a TREC run).")
    ] = "scores",
) -> None:
    """Score or rank the documents of a data set with a model; the data may be larger than memory.

    Example: `topkit score focused.model test.txt --out focused.scores`
    """
    from rich.console import Console

    from topkit.rankers import load_ranker
    from topkit.scale.score import score_file

    fitted = load_ranker(model)
    with Console(stderr=True).status("scoring …") as status:
        score_file(
            fitted,
            data_file,
            out,
            form,
            progress=lambda count: status.update(f"scored {count:,} documents …"),
        )


def _clicks(pages: Path, features: Path | None) -> Clicks:
    """Pages as a stream, with the features of a data set or, without one, those that pages give."""
    from topkit.data import read_pages
    from topkit.rankers import Clicks
    from topkit.rankers.clicks.pages import pages_data

    known = pages_data(read_pages(pages), graded=False) if features is None else read_dataset(features)
    return Clicks(read_pages(pages), known)


def _training_data(file: Path | None, pages: Path | None, truth: str) -> Dataset:
    """The training file or, without one, the graded documents of pages."""
    from topkit.data import InputError, read_pages
    from topkit.rankers.clicks.pages import pages_data

    if file is not None:
        return read_dataset(file, truth=truth)
    if pages is None:
        raise InputError("there is nothing to learn from", "give data with --train, or pages with --clicks")
    return pages_data(read_pages(pages))


def parse_setting(text: str) -> tuple[str, Any]:
    """A setting as typed: numbers, true, false, none; commas make a list.

    >>> parse_setting("k=10"), parse_setting("hidden=32,16"), parse_setting("l2=none")
    (('k', 10), ('hidden', (32, 16)), ('l2', None))
    >>> parse_setting("normalise=none")  # the one setting that has a choice of this name
    ('normalise', 'none')
    """
    from topkit.data import InputError

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"the setting {text!r} has no value", "write it as name=value")
    if name.strip() == "normalise":
        return "normalise", value.strip()
    parts = [_value(part.strip()) for part in value.split(",")]
    return name.strip().replace("-", "_"), parts[0] if len(parts) == 1 else tuple(parts)


def _value(text: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _shown(settings: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"


def _summary(made: Learner, out: Path, measure: float | None) -> None:
    ends = {trace.reason for trace in made.traces}
    measured = ""
    if measure is not None:
        measured = f"; {made.common.metric} ({made.common.convention}) {measure:.4f} on the validation data"
    remark = getattr(made.model, "remark", "")
    measured += f"; {remark}" if remark else ""
    warned = "; some fits ended at the step limit" if "step limit" in ends else ""
    typer.echo(f"{out}: {made.name}{measured}{warned}")
    details = getattr(made.model, "details", "")
    if details:
        typer.echo(details)


@contextmanager
def _progress(name: str, quiet: bool) -> Iterator[Callable[[str, int, int, float], None]]:
    """A bar with the latest value on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, step, steps, value: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[value]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, value="")

        def report(what: str, step: int, steps: int, value: float) -> None:
            bar.update(task, completed=step, total=steps, value=f"{what} {value:.5g}")

        yield report
