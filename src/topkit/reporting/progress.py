"""Progress on a terminal: one bar for every command, fed by a :data:`topkit.compute.Report`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from topkit.compute import Report, silent

NO_NUMBER = float("nan")
"""The value of a report that shows only its text and its steps."""


@contextmanager
def progress(title: str, *, quiet: bool = False, lines: bool = False) -> Iterator[Report]:
    """A progress bar on standard error, removed at the end; yields the function to call after each step.

    ``report(text, step, steps, value)`` shows the text, the value unless it is NaN, and step of steps;
    ``steps=0`` means that the number of steps is unknown. Nothing is shown if ``quiet`` or if standard error
    is not a terminal; with ``lines``, a line per tenth of the work is printed there instead.

    >>> with progress("Training") as report:
    ...     report("loss", 1, 10, 0.25)
    """
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        with _bar(title) as report:
            yield report
    else:
        yield _line_per_tenth(title) if lines else silent


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[latest]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, latest="")

        def report(what: str, step: int, steps: int, value: float) -> None:
            bar.update(task, completed=step, total=steps or None, latest=_shown(what, value))

        yield report


def _line_per_tenth(title: str) -> Report:
    """A report for log files."""
    printed = -1

    def report(what: str, step: int, steps: int, value: float) -> None:
        nonlocal printed
        tenth = 10 * step // max(steps, 1)
        if tenth != printed:
            printed = tenth
            text = _shown(what, value).replace("\n", "; ")
            print(f"{title}: {step} of {steps}; {text}".removesuffix("; "), file=sys.stderr, flush=True)

    return report


def _shown(what: str, value: float) -> str:
    return what if value != value else f"{what} {value:.5g}"


def counter(report: Report, what: str = "") -> Callable[[int, int], None]:
    """A function of (done, total) that calls the report, for work that has no value to show."""
    return lambda done, total: report(what, done, total, NO_NUMBER)


def stepper(report: Report, total: int) -> Callable[[], None]:
    """A function without arguments that reports one more step."""
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        report("", done, total, NO_NUMBER)

    return advance


@contextmanager
def busy(title: str) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error for work of unknown length; yields the function that changes its text."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{title} …") as status:
        yield lambda text: status.update(f"{text} …")
