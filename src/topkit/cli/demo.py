"""``topkit demo``: the whole story on data that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report; made if need be.")] = Path("topkit-demo"),
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Label, learn and measure on embedded data; prints a table and writes a report.

    Example: `topkit demo --out my-demo`
    """
    from topkit.studies.demo import run_demo

    typer.echo("The first run compiles the kernels, which takes about half a minute; later runs do not.")
    run_demo(out, seed, typer.echo)
