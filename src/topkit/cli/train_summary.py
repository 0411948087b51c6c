"""What ``topkit train`` prints after a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from topkit.cli.output import print_tables

if TYPE_CHECKING:
    from topkit.cli.train import Options
    from topkit.data import Dataset
    from topkit.rankers import Learner
    from topkit.rankers.tuning import Trial

BEST_TRIALS = 5
"""Trials of ``--tune`` that are printed as text; the other formats have all."""


def print_summary(
    learner: Learner, options: Options, valid: Dataset | None, trials: Sequence[Trial] = ()
) -> None:
    """Print what was fitted as one document, or as text to standard error if the model is printed."""
    from topkit.reporting.tables import Table

    if options.quiet:
        return
    value = None if valid is None else learner.measure_on(valid)
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
        "trials": Table(("value", "settings"), [(trial.measure, _assignments(trial)) for trial in trials]),
    }
    print_tables(tables, options.form, lambda: _summary(learner, options, value, trials))


def _summary(learner: Learner, options: Options, value: float | None, trials: Sequence[Trial]) -> str:
    """The best trials, the file and the ranker, and what the model says about itself."""
    model, _ = learner.fitted()
    lines = [f"  {trial.measure:.4f}  {_assignments(trial) or 'defaults'}" for trial in trials[:BEST_TRIALS]]
    start = options.inputs.start
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
