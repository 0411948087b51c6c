"""``topkit study``: experiments that compare methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli.consistency import consistency

if TYPE_CHECKING:
    from topkit.studies.run import FinishedStudy

app = typer.Typer(help="Run experiments that compare methods.", no_args_is_help=True)
app.command()(consistency)


def _list_kinds(requested: bool) -> None:
    if not requested:
        return
    from topkit.reporting.tables import Table
    from topkit.studies.kinds import KINDS

    rows = [(name, kind.summary) for name, kind in KINDS.items()]
    typer.echo(Table(("kind", "what it shows"), rows, align="ll").text())
    raise typer.Exit


@app.command(no_args_is_help=True)
def new(
    kind: Annotated[str, Argument(help="The kind of study, such as compare.")],
    out: Annotated[Path | None, Option(help="The file to write; KIND.toml by default.")] = None,
    list_kinds: Annotated[
        bool, Option("--list", callback=_list_kinds, is_eager=True, help="List the kinds of study.")
    ] = False,
) -> None:
    """Write a commented study file, which can be run as it is or changed first.

    Examples: `topkit study new --list`

    `topkit study new compare --out mine.toml`
    """
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
) -> None:
    """Run a study, or continue one that was interrupted; finished cells are never computed again.

    Example: `topkit study run examples/compare.toml --jobs 2`
    """
    from topkit.compute import thread_count
    from topkit.reporting.progress import progress
    from topkit.studies.run import run_study

    folder = out or Path(f"{file.stem}.study")
    try:
        with progress("cells", lines=True) as show:
            finished = run_study(file, folder, jobs=jobs or thread_count(), dask=dask, report=show)
    except KeyboardInterrupt:
        done = len(list((folder / "cells").glob("*.json")))
        typer.echo(f"topkit: interrupted; {done} cells are kept, run the same command to continue", err=True)
        raise typer.Exit(130) from None
    _publish(finished)


@app.command(no_args_is_help=True)
def report(
    folder: Annotated[Path, Argument(help="A folder that topkit study run wrote.")],
) -> None:
    """Print the tables of a finished study and write them, its plots and an HTML report.

    Example: `topkit study report compare.study`
    """
    from topkit.studies.run import read_finished

    _publish(read_finished(folder))


def _publish(finished: FinishedStudy) -> None:
    from topkit.reporting.tables import bold_on_terminal
    from topkit.studies.publish import publish

    typer.echo(publish(finished, bold_on_terminal()))
    typer.echo(f"\nreport   {finished.folder / 'report.html'}")
