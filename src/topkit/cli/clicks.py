"""``topkit clicks``: click models, propensities, off-policy evaluation and interleaving, from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from topkit.cli.catalogue import click_models
from topkit.cli.output import Format, print_table
from topkit.cli.shared import Seed

app = typer.Typer(help="Learn about users, and test rankers, from click logs.", no_args_is_help=True)

LOG = "A click log: CSV, TSV or Parquet with the columns page (or impressions and position), query, document "
Log = Annotated[Path, Argument(help=LOG + "and clicks; or result pages as text.")]
METHODS = "pbm, trust, conditional, smoothed, all-pairs, adjacent, swap or randomised"
Propensity = Annotated[
    str,
    Option(help=f"{METHODS}; or a CSV of `propensities --out`."),
]


app.command("models")(click_models)


@app.command()
def fit(
    log: Log,
    model: Annotated[str, Option(help="Comma-separated names, or all that the log allows.")] = "all",
    test: Annotated[Path | None, Option(help="Another log to measure on, instead of the same.")] = None,
    form: Format = "table",
) -> None:
    """Fit click models and compare how well they predict clicks.

    Perplexity is 1 for perfect predictions and 2 for a coin.

    Example: `topkit clicks fit monday.parquet --model pbm,dbn,ubm --test tuesday.parquet`
    """
    from topkit.clicks import CLICK_MODELS, click_fit, fit_click_model, read_clicks
    from topkit.data.settings import lookup
    from topkit.reporting.progress import progress
    from topkit.reporting.tables import Table

    names = list(CLICK_MODELS) if model == "all" else [name.strip() for name in model.split(",")]
    for name in names:
        lookup(CLICK_MODELS, name, "click model")
    pages = read_clicks(log)
    held_out = pages if test is None else read_clicks(test)
    _ = pages.bounds, held_out.bounds  # an error before the first fit if a log has counts only
    rows = []
    for name in names:
        with progress(name) as report:
            fitted = fit_click_model(pages, name, report=report)
        fit = click_fit(fitted, held_out)
        rows.append((name, fit.log_likelihood, fit.perplexity, fitted.trace.steps))
    note = f"fitted to {len(pages):,} pages, measured on {'the same' if test is None else test.name}"
    print_table(Table(("", "log-likelihood", "perplexity", "steps"), rows, (note,)), form)


@app.command()
def propensities(
    log: Log,
    method: Annotated[str, Option(help=f"{METHODS}.")] = "pbm",
    out: Annotated[Path | None, Option(help="A CSV file to write, for --propensity.")] = None,
    form: Format = "table",
) -> None:
    """Estimate how much users examine each position, or say why the log cannot tell.

    Example: `topkit clicks propensities log.parquet --method all-pairs --out propensities.csv`
    """
    from topkit.clicks import estimate_propensities, read_clicks

    propensities = estimate_propensities(read_clicks(log), method)
    if out is not None:
        propensities.save(out)
    print_table(propensities.table(), form)


@app.command()
def evaluate(
    log: Log,
    runs: Annotated[list[Path], Argument(help="Runs of new rankers, in TREC format.")],
    propensity: Propensity = "pbm",
    estimator: Annotated[str, Option(help="snips, ips or dr.")] = "snips",
    length: Annotated[int | None, Option(help="Documents per page; by default that of the log.")] = None,
    form: Format = "table",
) -> None:
    """Estimate the clicks per page that other rankers would get, with intervals of 95 %.

    Example: `topkit clicks evaluate log.parquet new.run other.run --propensity propensities.csv`
    """
    from topkit.clicks import evaluate_clicks, read_clicks
    from topkit.clicks.off_policy import evaluation_table
    from topkit.clicks.propensities import estimate_propensities, named_propensities
    from topkit.data import read_run

    chosen = named_propensities(propensity)
    pages = read_clicks(log)
    known = estimate_propensities(pages, chosen) if isinstance(chosen, str) else chosen
    evaluations = [
        evaluate_clicks(pages, read_run(path), known, estimator=estimator, length=length) for path in runs
    ]
    print_table(evaluation_table(evaluations), form)


@app.command()
def interleave(
    a: Annotated[Path, Argument(help="The run of ranker A, in TREC format.")],
    b: Annotated[Path, Argument(help="The run of ranker B.")],
    out: Annotated[Path, Option(help="The CSV file of pages to show.")],
    method: Annotated[str, Option(help="team-draft, probabilistic or optimised.")] = "team-draft",
    length: Annotated[int, Option(help="Documents per page.")] = 10,
    pages: Annotated[int, Option(help="Pages per query; the draws differ.")] = 1,
    seed: Seed = 0,
) -> None:
    """Write pages that mix the results of two rankers; `verdict` says which one users prefer.

    The columns are page, query, position, document and credit. Show the pages, add a column `clicks` of 0 and
    1, and give the file to `topkit clicks verdict`.

    Example: `topkit clicks interleave old.run new.run --method team-draft --pages 20 --out pages.csv`
    """
    from topkit.clicks.interleaving.pages import write_interleaved
    from topkit.data import read_run

    count = write_interleaved(read_run(a), read_run(b), out, method, length, pages, seed)
    typer.echo(f"{out}: {count:,} pages, {method}")


@app.command()
def verdict(
    file: Annotated[Path, Argument(help="CSV with the columns page, credit and clicks.")],
) -> None:
    """Say which of two interleaved rankers users prefer, with a sign test.

    Example: `topkit clicks verdict pages-with-clicks.csv`
    """
    from topkit.clicks.interleaving import interleaving_test
    from topkit.clicks.interleaving.pages import read_outcomes

    typer.echo(str(interleaving_test(read_outcomes(file))))
