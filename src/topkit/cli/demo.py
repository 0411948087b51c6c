"""``topkit demo``: label, learn and measure on data that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from topkit.cli.shared import Seed


def demo(
    out: Annotated[Path, Option(help="Folder for the report; created if missing.")] = Path("topkit-demo"),
    seed: Seed = 0,
    show: Annotated[
        bool, Option("--open/--no-open", help="Open the report in a browser, if there is one.")
    ] = True,
) -> None:
    """Label, learn and measure on embedded data; print a table and write a report.

    Example: `topkit demo --out my-demo`
    """
    from topkit.compute.extras import check_extra
    from topkit.reporting.browser import open_in_browser
    from topkit.studies.demo import run_demo

    check_extra("plots,text", ("matplotlib", "Stemmer"))
    typer.echo("The first run compiles the kernels, which takes about half a minute; later runs do not.")
    report = run_demo(out, seed, typer.echo)
    if show and open_in_browser(report):
        typer.echo("\nThe report is open in your browser.")
