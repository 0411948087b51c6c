"""``topkit fuse``: combine runs of several systems without labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli.completion import name_option
from topkit.cli.output import Form, check_form, print_tables
from topkit.cli.shared import Seed, Settings

if TYPE_CHECKING:
    from topkit.fusion import Fusion
    from topkit.reporting.tables import Table


def fuse(
    files: Annotated[
        list[Path],
        Argument(
            help="Runs of TREC or MS MARCO, CSV `query,system,document,value` or LETOR text; compressed too."
        ),
    ],
    out: Annotated[
        Path, Option(help="The fused run: TREC format, or CSV if the name ends with .csv; .gz too.")
    ],
    method: Annotated[
        str,
        name_option(
            "fusion method", "agreement, borda, combmnz, mallows, …: `topkit aggregators` lists them."
        ),
    ] = "agreement",
    setting: Settings = None,
    keep: Annotated[int, Option(help="Documents to keep per query; 0 keeps all.")] = 1000,
    seed: Seed = 0,
    explain: Annotated[
        bool, Option("--explain", help="Print each ranker's weight or θ, and how the fit went.")
    ] = False,
    form: Form = "table",
) -> None:
    """Combine the rankings of several systems into one, without labels.

    Examples: `topkit fuse a.run b.run.gz c.run --out fused.run --explain`

    `topkit fuse rankings.csv --method mallows --set depth=50 --set chains=4 --out fused.run`
    """
    from topkit.data import write_run
    from topkit.data.words import counted
    from topkit.data.writers import is_standard_output
    from topkit.fusion.formats import write_ranking_table

    check_form(form)
    runs, fusion = _fused(files, method, setting or [], keep, seed)
    if ".csv" in out.suffixes:
        write_ranking_table([fusion.run], out)
    else:
        write_run(fusion.run, out)
    aside = is_standard_output(out)
    sizes = f"{counted(runs, 'ranking')}, {counted(len(fusion.run), 'query')}"
    typer.echo(f"{out}: {sizes}, {method}", err=aside or form != "table")
    if not fusion.converged:
        typer.echo(f"{method} did not converge in {len(fusion.trace) - 1} steps", err=True)
    if explain and aside:
        typer.echo(explanation(fusion), err=True)
    elif explain:
        _print_explanation(fusion, method, form)


def _fused(files: list[Path], method: str, setting: list[str], keep: int, seed: int) -> tuple[int, Fusion]:
    """The number of rankings in these files, and their fusion."""
    import warnings

    from topkit.cli.shared import fusion_settings
    from topkit.compute import NotConverged
    from topkit.fusion import fuse
    from topkit.fusion.formats import read_rankings
    from topkit.reporting.progress import counter, progress

    settings = fusion_settings(method, setting)
    runs = []
    with progress("Reading") as report:
        for done, path in enumerate(files, 1):
            runs += read_rankings(path)
            counter(report)(done, len(files))
    with progress(f"Fusing by {method}") as report, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the command prints it with the result
        fusion = fuse(runs, method, keep=keep or None, seed=seed, progress=counter(report), **settings)
    return len(runs), fusion


def _print_explanation(fusion: Fusion, method: str, form: str) -> None:
    facts = {"method": method, "converged": fusion.converged, "trace": [float(v) for v in fusion.trace]}
    diagnostics = {name: float(value) for name, value in fusion.diagnostics.items()}
    tables = {"rankers": weights_table(fusion)}
    print_tables(tables, form, lambda: explanation(fusion), **facts, diagnostics=diagnostics)


def explanation(fusion: Fusion) -> str:
    """What was learned, as text: one row per ranker, then the diagnostics."""
    weights = weights_table(fusion)
    lines = [weights.text() if weights.rows else f"{fusion.method} gives all rankers the same weight"]
    if fusion.trace:
        ended = "converged" if fusion.converged else "did not converge"
        first, last, steps = fusion.trace[0], fusion.trace[-1], len(fusion.trace) - 1
        lines.append(f"objective {first:.6g} → {last:.6g}, {ended}, {steps} steps")
    lines += [f"{name} {value:.4g}" for name, value in fusion.diagnostics.items()]
    return "\n".join(lines)


def weights_table(fusion: Fusion) -> Table:
    """What was learned about each ranker; no rows if all have the same weight."""
    from topkit.reporting.tables import Table, Value

    rows = fusion.table()
    columns = list(rows[0][1]) if rows else []
    values: list[list[Value]] = [
        [ranker, *(float(figures[name]) for name in columns)] for ranker, figures in rows
    ]
    return Table(("ranker", *columns), values)
