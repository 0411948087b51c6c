"""``topkit study``: experiments that compare methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Experiments that compare methods.", no_args_is_help=True)


@app.callback()
def _study() -> None:
    """Experiments that compare methods."""


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
