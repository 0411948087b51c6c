"""``topkit data audit``: what is wrong with a data set before anyone learns from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topkit.cli.data import Regroup, Seed, app, read_dataset


@app.command("audit", no_args_is_help=True)
def audit(
    files: Annotated[list[Path], typer.Argument(help="A data set, or its parts (train, vali, test).")],
    metric: Annotated[str, typer.Option(help="Metric of the single features.")] = "map",
    cut: Annotated[
        int | None, typer.Option(help="Count queries with relevant documents beyond this.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="The feature that the cut counts by.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the features to write (.png, .svg).")] = None,
    regroup: Regroup = False,
    seed: Seed = 0,
) -> None:
    """Look for biased sampling, leaks, duplicates and queries in two parts.

    Ends with code 1 if something was found that makes results misleading.

    Example: `topkit data audit Fold1/train.txt Fold1/vali.txt Fold1/test.txt --plot audit.png`
    """
    from rich.console import Console

    from topkit.features import audit_dataset

    with Console(stderr=True).status("trying every feature alone …"):
        parts = {str(path): read_dataset(path, regroup=regroup) for path in files}
        result = audit_dataset(parts, metric=metric, cut=cut, by=by, seed=seed)
        if plot is not None:
            result.plot(plot)
    typer.echo(str(result))
    if not result.passed:
        raise typer.Exit(1)
