"""``topkit label``: try strategies on simulated assessors, and see how far real ones agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkit.cli.label_store import register

if TYPE_CHECKING:
    from topkit.labelling.simulate import PriorKind, Setting

app = typer.Typer(help="Label the top k with few judgments.", no_args_is_help=True)
register(app)


@app.command()
def simulate(
    strategies: Annotated[
        str, typer.Option(help="Names with commas, or all that compare.")
    ] = "adaptive,reliable,knockout,insertion,heap",
    sizes: Annotated[str, typer.Option(help="n:k with commas.")] = "50:10",
    noise: Annotated[str, typer.Option(help="Shares of wrong answers, with commas.")] = "0",
    prior: Annotated[
        str, typer.Option(help="Kendall's tau of a prior ranking with the truth, with commas, or none.")
    ] = "none",
    prior_kind: Annotated[str, typer.Option(help="How a prior errs: rank or score.")] = "rank",
    orders: Annotated[int, typer.Option(min=1, help="Random orders a row.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of orders, priors and errors.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the table as CSV, too.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw judgments against accuracy (.png, .svg, .pdf).")
    ] = None,
) -> None:
    """Count the judgments that strategies need, and what errors do to the result.

    Example: `topkit label simulate --sizes 50:10 --noise 0,0.1,0.2 --prior none,0.5 --plot noise.png`
    """
    from rich.console import Console
    from rich.progress import Progress

    from topkit.labelling.report import draw_outcomes, outcome_table, write_outcomes
    from topkit.labelling.simulate import simulate as run

    settings = _settings(strategies, sizes, noise, prior, prior_kind)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=len(settings) * orders)
        found = list(run(settings, orders, seed, lambda: bar.advance(task)))
    print(outcome_table(found))
    if out is not None:
        write_outcomes(found, out)
    if plot is not None:
        draw_outcomes(found, plot)


def _settings(strategies: str, sizes: str, noise: str, prior: str, kind: str) -> list[Setting]:
    from topkit.data import InputError
    from topkit.labelling.simulate import Setting
    from topkit.labelling.strategies import STRATEGIES

    compare = [name for name in STRATEGIES if name != "graded"]
    names = compare if strategies == "all" else [name.strip() for name in strategies.split(",")]
    for name in names:
        if name not in compare:
            raise InputError(f"unknown strategy {name!r}", f"choose of {', '.join(compare)}")
    if kind not in ("rank", "score"):
        raise InputError(f"unknown kind of prior {kind!r}", "choose rank or score")
    chosen: PriorKind = "rank" if kind == "rank" else "score"
    pairs = []
    for size in sizes.split(","):
        n, _, k = size.partition(":")
        if not (n.strip().isdigit() and k.strip().isdigit() and int(n) and int(k)):
            raise InputError(f"{size!r} is no size", "write n:k, for example 50:10")
        pairs.append((int(n), int(k)))
    errors = _numbers(noise, "noise")
    priors = [None if word.strip() == "none" else _numbers(word, "prior")[0] for word in prior.split(",")]
    return [
        Setting(name, n, k, error, tau, chosen)
        for n, k in pairs
        for tau in priors
        for error in errors
        for name in names
    ]


def _numbers(text: str, what: str) -> list[float]:
    from topkit.data import InputError

    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"{text!r} is no {what}", "write numbers with commas") from None
    if not all(0 <= value < 1 for value in values):
        raise InputError(f"{text!r} is no {what}", "numbers from 0 to below 1 belong there")
    return values


@app.command("agreement")
def agreement_(
    file: Annotated[Path, typer.Argument(help="CSV of preferences: query, a, b, answer, assessor, seconds.")],
    grades: Annotated[
        Path | None,
        typer.Option(help="CSV of grades (query, doc, grade, assessor, seconds) to compare with."),
    ] = None,
    columns: Annotated[
        str, typer.Option(help="The file's own column names: query=Input.query,a=Input.docA,…")
    ] = "",
    answers: Annotated[str, typer.Option(help="The file's own words for answers: s=tie,left=a,…")] = "",
    implied: Annotated[
        bool, typer.Option("--implied", help="Compare what answers imply, too, not only the pairs asked.")
    ] = False,
    assessors: Annotated[bool, typer.Option("--assessors", help="Add one row an assessor.")] = False,
) -> None:
    """How far assessors agree, with the tables of the top-k labelling paper.

    Example: `topkit label agreement prefs.csv --grades grades.csv --assessors`
    """
    from topkit.labelling.files import read_grades_csv, read_preferences_csv
    from topkit.labelling.report import agreement_report

    preferences, empty = read_preferences_csv(
        file, _mapping(columns, "columns"), _mapping(answers, "answers")
    )
    graded = None if grades is None else read_grades_csv(grades)
    print(agreement_report(preferences, graded, implied=implied, assessors=assessors))
    if empty:
        print(f"{empty} rows without an answer were left out")


def _mapping(text: str, what: str) -> dict[str, str]:
    from topkit.data import InputError

    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        left, equals, right = part.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise InputError(f"{part!r} of --{what} is not understood", "write left=right with commas")
        found[left.strip()] = right.strip()
    return found
