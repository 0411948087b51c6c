"""The options of ``topkit train``, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from topkit.cli.completion import names_of
from topkit.cli.output import Form, check_form
from topkit.cli.shared import Settings, TruthName, ranker_settings


@dataclass(frozen=True)
class TrainOptions:
    """The options of ``topkit train``."""

    name: Annotated[
        str,
        Argument(
            metavar="RANKER",
            help="A ranker's name: see `topkit rankers`.",
            autocompletion=names_of("ranker"),
        ),
    ]
    out: Annotated[Path, Option(help="The model file to write.")]
    train_file: Annotated[Path | None, Option("--train", help="Training data: LETOR text or Parquet.")] = None
    valid_file: Annotated[Path | None, Option("--valid", help="Data for early stopping and --tune.")] = None
    settings: Settings = None
    truth: TruthName = "graded"
    preferences: Annotated[Path | None, Option(help="Preference pairs, used instead of labels.")] = None
    clicks: Annotated[
        Path | None,
        Option(help="Result pages for click-label; with --propensity a click log for other rankers."),
    ] = None
    propensity: Annotated[
        str | None,
        Option(help="Position bias of --clicks: pbm, trust, conditional, all-pairs, … or a CSV."),
    ] = None
    estimator: Annotated[
        str | None, Option(help="How to correct --clicks: snips, ips, dr, dual, pairwise or naive.")
    ] = None
    features: Annotated[Path | None, Option(help="Features of the pages, if not in --train.")] = None
    satisfaction: Annotated[
        Path | None, Option(help="Lines 'session 0|1' of --clicks: learns the utility to rank by.")
    ] = None
    start: Annotated[Path | None, Option("--from", help="A click-label model to continue.")] = None
    teacher: Annotated[
        Path | None, Option(help="A model whose top the loss rank-distillation learns too.")
    ] = None
    tune: Annotated[str | None, Option(help="Search the ranker's settings: grid or optuna.")] = None
    trials: Annotated[int, Option(help="Number of settings that --tune tries.")] = 20
    memory: Annotated[str | None, Option(help="Train on Parquet within this memory: 500MB.")] = None
    dask: Annotated[str | None, Option(help="Train on Dask: a scheduler address or `local`.")] = None
    workers: Annotated[int | None, Option(help="Worker processes of --dask local.")] = None
    quiet: Annotated[bool, Option("--quiet", help="Print only errors.")] = False
    form: Form = "table"

    @cached_property
    def parsed(self) -> dict[str, Any]:
        """The settings of the ranker."""
        return ranker_settings(self.name, self.settings or [])

    @property
    def log(self) -> Path | None:
        """The click log for unbiased learning; the pages of click-label are not one."""
        return self.clicks if self.propensity is not None or self.estimator is not None else None

    @property
    def in_parts(self) -> bool:
        """Whether to train out of core or on a cluster."""
        return self.memory is not None or self.dask is not None

    @property
    def aside(self) -> bool:
        """Whether messages go to standard error, because the model goes to standard output."""
        from topkit.data.writers import is_standard_output

        return is_standard_output(self.out)

    def check(self) -> None:
        """Raise InputError for options that do not go together, before any large file is read."""
        from topkit.data import InputError
        from topkit.rankers import ranker

        check_form(self.form)
        ranker(self.name, **self.parsed)
        if self.train_file is None and self.clicks is None:
            raise InputError("no training data", "give it with --train, or pages with --clicks")
        if self.satisfaction is not None and self.clicks is None:
            raise InputError("--satisfaction rates the pages of --clicks", "give the pages with --clicks")
        self._check_log()
        if self.tune is not None and self.valid_file is None:
            raise InputError("--tune needs validation data", "give it with --valid")
        if self.tune is not None and self.clicks is not None:
            raise InputError("--tune cannot be used with --clicks", "leave one of them out")
        if self.start is not None and (self.settings or self.valid_file or self.preferences or self.tune):
            raise InputError(
                "a model that continues learning keeps its settings",
                "use --from with --train or --clicks only, without --set, --valid, --preferences and --tune",
            )
        if self.memory is not None and self.dask is not None:
            raise InputError("--memory and --dask cannot be used together", "leave one of them out")
        if self.workers is not None and self.dask is None:
            raise InputError("--workers is only for --dask local", "add --dask local, or leave it out")
        self._check_search()
        others = (self.preferences, self.clicks, self.features, self.start, self.teacher)
        if self.in_parts and (any(others) or self.truth != "graded"):
            raise InputError(
                "--memory and --dask train on the labels of a Parquet file",
                "leave out --preferences, --clicks, --features, --from, --teacher and --truth",
            )

    def _check_search(self) -> None:
        from topkit.data import InputError

        if self.tune == "optuna" and self.dask is not None:
            raise InputError(
                "optuna chooses each trial from the results of the ones before, so they cannot run together",
                "use --tune grid",
            )
        if self.tune is not None and self.memory is not None:
            raise InputError(
                "--memory cannot be used with --tune: every trial would stream the file many times",
                "leave out one of them, or use --dask",
            )

    def _check_log(self) -> None:
        from topkit.data import InputError

        if (self.propensity is not None or self.estimator is not None) and self.clicks is None:
            raise InputError("--propensity and --estimator correct clicks", "give the log with --clicks")
        if self.log is None:
            return
        if self.name == "click-label":
            raise InputError(
                "click-label learns its own position bias", "leave out --propensity and --estimator"
            )
        if self.train_file is None:
            raise InputError("a click log has no features", "give the documents with --train")
        if self.satisfaction or self.preferences or self.features or self.start:
            raise InputError(
                "a click log is the only truth",
                "leave out --satisfaction, --preferences, --features and --from",
            )
