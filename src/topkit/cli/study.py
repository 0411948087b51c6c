"""``topkit study``: experiments that compare methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from topkit.studies.run import Progress

app = typer.Typer(help="Experiments that compare methods.", no_args_is_help=True)


@app.callback()
def _study() -> None:
    """Experiments that compare methods."""


def _list_kinds(wanted: bool) -> None:
    if not wanted:
        return
    from topkit.studies.kinds import KINDS

    for name, kind in KINDS.items():
        typer.echo(f"{name:15} {kind.summary}")
    raise typer.Exit


@app.command(no_args_is_help=True)
def new(
    kind: Annotated[str, typer.Argument(help="The kind of study, such as compare.")],
    out: Annotated[Path | None, typer.Option(help="The file to write; KIND.toml unless given.")] = None,
    list_kinds: Annotated[
        bool, typer.Option("--list", callback=_list_kinds, is_eager=True, help="List the kinds of study.")
    ] = False,
) -> None:
    """Write a commented study file, which can be run as it is or changed first.

    Example: `topkit study new compare --out mine.toml`
    """
    from topkit.data import InputError
    from topkit.data.files import text_writer
    from topkit.studies.template import template

    path = out or Path(f"{kind}.toml")
    text = template(kind)
    if path.exists():
        raise InputError("the file is there already", "name another with --out", file=path)
    with text_writer(path) as stream:
        stream.write(text)
    typer.echo(f"{path}: a study of the kind {kind}; run it with: topkit study run {path}")


@app.command(no_args_is_help=True)
def run(
    file: Annotated[Path, typer.Argument(help="A study file; topkit study new writes one.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; the file's name with .study unless given.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes of one thread each; 0 for as many as cores.")] = 0,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run the cells on.")] = None,
) -> None:
    """Run a study, or go on with one that was interrupted; cells that are done are never computed again.

    Example: `topkit study run examples/compare.toml --jobs 2`
    """
    from topkit.compute import thread_count
    from topkit.studies.run import run_study

    folder = out or Path(f"{file.stem}.study")
    try:
        with _progress() as tell:
            run_study(file, folder, jobs=jobs or thread_count(), dask=dask, tell=tell)
    except KeyboardInterrupt:
        done = len(list((folder / "cells").glob("*.json")))
        typer.echo(f"topkit: interrupted; {done} cells are kept, and the same command goes on", err=True)
        raise typer.Exit(130) from None
    report(folder)


@app.command(no_args_is_help=True)
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that topkit study run made.")],
) -> None:
    """Print the tables of a finished study and write them, its plots and an HTML report.

    Example: `topkit study report compare.study`
    """
    from topkit.studies.publish import publish

    bold = (lambda text: f"\033[1m{text}\033[0m") if sys.stdout.isatty() else str
    typer.echo(publish(folder, bold))
    typer.echo(f"\nreport   {folder / 'report.html'}")


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A bar with the latest cell and the best row on a terminal; a line now and then elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        told = -1

        def plain(progress: Progress) -> None:
            nonlocal told
            tenth = 10 * progress.done // progress.total
            if tenth != told:
                told = tenth
                print(
                    f"{progress.done} of {progress.total} cells; {progress.best}", file=sys.stderr, flush=True
                )

        yield plain
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("cells"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[latest]}\n{task.fields[best]}"),
    )
    with Bar(*columns, console=console) as bar:
        task = bar.add_task("", total=None, latest="", best="")

        def tell(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                latest=progress.latest,
                best=progress.best,
            )

        yield tell


@app.command(no_args_is_help=True)
def fusion(
    files: Annotated[list[Path], typer.Argument(help="Runs of several systems: TREC, CSV or LETOR text.")],
    qrels: Annotated[Path, typer.Option(help="TREC judgments, to measure the fused runs.")],
    out: Annotated[Path, typer.Option(help="Folder for the table and the plots; made if need be.")],
    methods: Annotated[str, typer.Option(help="Aggregation methods.")] = "agreement,ulara,borda,combmnz,rrf",
    levels: Annotated[str, typer.Option(help="How many rankers to replace.")] = "0,10,20,30",
    draws: Annotated[int, typer.Option(help="Repetitions at each level.")] = 5,
    metrics: Annotated[str, typer.Option(help="Measures, convention trec.")] = "map,p@10",
    keep: Annotated[int, typer.Option(help="Documents of a fused run kept for each query.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Replace some rankers by random ones, and see which ways of fusing them withstand it.

    Example: `topkit study fusion runs/*.gz --qrels qrels.txt --levels 0,10,20,30,35 --out fusion-study`
    """
    from topkit.cli.fuse import progress_bar, read_files
    from topkit.data import InputError, read_qrels
    from topkit.studies.fusion import fusion_plot, fusion_study, fusion_table, write_cells
    from topkit.studies.tables import as_text

    if not all(word.strip().isdecimal() for word in levels.split(",")):
        raise InputError(f"{levels!r} is not a list of numbers", "write --levels 0,10,20")
    judgments = read_qrels(qrels)
    with progress_bar("Reading") as update:
        runs = read_files(files, update)
    with progress_bar("Fusing") as update:
        cells = fusion_study(
            runs,
            judgments,
            methods=[name.strip() for name in methods.split(",")],
            levels=[int(word) for word in levels.split(",")],
            draws=draws,
            metrics=[name.strip() for name in metrics.split(",")],
            keep=keep,
            seed=seed,
            progress=update,
        )
    out.mkdir(parents=True, exist_ok=True)
    write_cells(cells, out / "fusion.csv")
    for metric in dict.fromkeys(cell.metric for cell in cells):
        typer.echo(as_text(fusion_table(cells, metric)) + "\n")
        name = metric.replace("@", "-").replace("/", "-")
        fusion_plot(cells, metric).savefig(out / f"fusion-{name}.png", dpi=120, bbox_inches="tight")
    typer.echo(f"{out}: fusion.csv and the plots")
