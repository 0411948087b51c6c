"""``topkit study``: experiments that compare methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli.consistency import consistency
from topkit.cli.output import Form, Format, check_form, check_plots, print_table, print_tables

if TYPE_CHECKING:
    from topkit.studies.run import FinishedStudy

app = typer.Typer(help="Run experiments that compare methods.", no_args_is_help=True)
app.command()(consistency)


@app.command(no_args_is_help=True)
def new(
    kind: Annotated[str | None, Argument(help="The kind of study, such as compare.")] = None,
    out: Annotated[Path | None, Option(help="The file to write; KIND.toml by default.")] = None,
    list_kinds: Annotated[bool, Option("--list", help="List the kinds of study.")] = False,
    form: Format = "table",
) -> None:
    """Write a commented study file, which can be run as it is or changed first.

    Examples: `topkit study new --list`

    `topkit study new compare --out mine.toml`
    """
    if list_kinds:
        _list_kinds(form)
        return
    if kind is None:
        raise typer.BadParameter("name a kind of study; --list lists them", param_hint="KIND")
    from topkit.data import InputError
    from topkit.data.files import text_writer
    from topkit.studies.template import template

    path = out or Path(f"{kind}.toml")
    text = template(kind)
    if path.exists():
        raise InputError("the file already exists", "choose another name with --out", file=path)
    with text_writer(path) as stream:
        stream.write(text)
    typer.echo(f"{path}: a study of the kind {kind}; run it with: topkit study run {path}")


@app.command(no_args_is_help=True)
def run(
    file: Annotated[Path, Argument(help="A study file; topkit study new writes one.")],
    out: Annotated[Path | None, Option(help="Folder for the results; by default FILE.study.")] = None,
    jobs: Annotated[int, Option(help="Processes of one thread each; 0 for one per core.")] = 0,
    dask: Annotated[str | None, Option(help="Address of a Dask scheduler to run the cells on.")] = None,
    form: Form = "table",
) -> None:
    """Run a study, or continue one that was interrupted; finished cells are never computed again.

    Example: `topkit study run examples/compare.toml --jobs 2`
    """
    from topkit.compute import thread_count
    from topkit.reporting.progress import progress
    from topkit.studies.run import run_study

    check_form(form)
    check_plots()  # before the cells, which may take hours; the report has plots
    folder = out or Path(f"{file.stem}.study")
    try:
        with progress("cells", lines=True) as show:
            finished = run_study(file, folder, jobs=jobs or thread_count(), dask=dask, report=show)
    except KeyboardInterrupt:
        done = len(list((folder / "cells").glob("*.json")))
        typer.echo(f"topkit: interrupted; {done} cells are kept, run the same command to continue", err=True)
        raise typer.Exit(130) from None
    _publish(finished, form)


@app.command(no_args_is_help=True)
def report(
    folder: Annotated[Path, Argument(help="A folder that topkit study run wrote.")],
    form: Form = "table",
) -> None:
    """Print the tables of a finished study and write them, its plots and an HTML report.

    Example: `topkit study report compare.study`
    """
    from topkit.studies.run import read_finished

    check_form(form)
    _publish(read_finished(folder), form)


def _list_kinds(form: str) -> None:
    from topkit.reporting.tables import Table
    from topkit.studies.kinds import KINDS

    rows = [(name, kind.summary) for name, kind in KINDS.items()]
    print_table(Table(("kind", "what it shows"), rows, align="ll"), form)


def _publish(finished: FinishedStudy, form: str) -> None:
    from topkit.reporting.tables import bold_on_terminal
    from topkit.studies.publish import publish

    text = publish(finished, bold_on_terminal())
    tables = {name: scores.plain() for name, scores in finished.tables().items()}
    print_tables(tables, form, lambda: f"{text}\n")
    typer.echo(f"report   {finished.folder / 'report.html'}", err=form != "table")
