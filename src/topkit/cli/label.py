"""``topkit label``: serve the labelling app, simulate strategies, and measure assessor agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from topkit.cli import audit_judge, judge, label_plan, label_store
from topkit.cli.completion import name_option
from topkit.cli.output import Form, check_form, check_plots, print_records

if TYPE_CHECKING:
    from topkit.labelling.simulate import PriorKind, Scenario

app = typer.Typer(help="Label the top k with few judgments.", no_args_is_help=True)
app.command("serve")(label_store.serve)
app.command("import")(label_store.import_)
app.command("export")(label_store.export)
app.command("backup")(label_store.backup)
app.command("restore")(label_store.restore)
app.command("doctor")(label_store.doctor)
app.command("password", no_args_is_help=True)(label_store.password)
app.command("judge", no_args_is_help=True)(judge.judge)
app.command("audit-judge", no_args_is_help=True)(audit_judge.audit_judge)
app.command("plan", no_args_is_help=True)(label_plan.plan)


@app.command()
def simulate(
    strategies: Annotated[
        str,
        name_option("strategy", "Comma-separated names, or all comparable ones with `all`.", several=True),
    ] = "adaptive,reliable,knockout,insertion,heap",
    sizes: Annotated[str, Option(help="Comma-separated n:k (length of a list, k).")] = "50:10",
    noise: Annotated[str, Option(help="Comma-separated shares of wrong answers.")] = "0",
    prior: Annotated[str, Option(help="Comma-separated Kendall's tau of the prior, or none.")] = "none",
    prior_kind: Annotated[str, Option(help="Kind of error of a prior ranking: rank or score.")] = "rank",
    bad: Annotated[str, Option(help="Comma-separated numbers of documents that are marked bad.")] = "0",
    orders: Annotated[int, Option(min=1, help="Random orders per row.")] = 200,
    seed: Annotated[int, Option(help="Seed of orders, priors and errors.")] = 0,
    out: Annotated[Path | None, Option(help="Also write the table as CSV.")] = None,
    plot: Annotated[Path | None, Option(help="Plot judgments against accuracy (.png, .svg, .pdf).")] = None,
    form: Form = "table",
) -> None:
    """Count the judgments that strategies need, and the effect of errors on the result.

    Examples: `topkit label simulate --sizes 50:10 --noise 0,0.1,0.2 --prior none,0.5 --plot noise.png`

    `topkit label simulate --strategies all --bad 0,10,25,40`
    """
    from topkit.data import InputError
    from topkit.labelling.report import draw_outcomes, outcome_record, outcome_table, write_outcomes
    from topkit.labelling.simulate import simulate as run
    from topkit.reporting.progress import progress, stepper

    check_form(form)
    if plot is not None:
        check_plots()
    settings = [
        scenario._replace(bad=count)
        for count in _counts(bad, "--bad")
        for scenario in _settings(strategies, sizes, noise, prior, prior_kind)
    ]
    for scenario in settings:
        if scenario.bad > scenario.n:
            problem = f"expected at most {scenario.n} bad documents, got {scenario.bad}"
            raise InputError(problem, "use a smaller --bad")
    with progress("Simulating") as report:
        outcomes = list(run(settings, orders, seed, stepper(report, len(settings) * orders)))
    print_records([outcome_record(outcome) for outcome in outcomes], form, lambda: outcome_table(outcomes))
    if out is not None:
        write_outcomes(outcomes, out)
    if plot is not None:
        draw_outcomes(outcomes, plot)


def _settings(strategies: str, sizes: str, noise: str, prior: str, kind: str) -> list[Scenario]:
    from topkit.data import InputError
    from topkit.data.settings import lookup
    from topkit.labelling.simulate import Scenario
    from topkit.labelling.strategies import PAIRWISE, STRATEGIES

    comparable = {name: STRATEGIES[name] for name in PAIRWISE}
    names = list(comparable) if strategies == "all" else [name.strip() for name in strategies.split(",")]
    for name in names:
        lookup(comparable, name, "strategy")
    if kind not in ("rank", "score"):
        raise InputError(f"unknown kind of prior {kind!r}", "choose rank or score")
    checked: PriorKind = "rank" if kind == "rank" else "score"
    errors = _shares(noise, "--noise")
    priors = [None if word.strip() == "none" else _shares(word, "--prior")[0] for word in prior.split(",")]
    return [
        Scenario(name, n, k, error, tau, checked)
        for n, k in map(_size, sizes.split(","))
        for tau in priors
        for error in errors
        for name in names
    ]


def _size(text: str) -> tuple[int, int]:
    """``50:10`` as (50, 10)."""
    from topkit.data import InputError

    n, _, k = text.partition(":")
    if not (n.strip().isdigit() and k.strip().isdigit() and int(n) and int(k)):
        raise InputError(f"invalid size {text!r}", "write n:k, for example 50:10")
    return int(n), int(k)


def _counts(text: str, option: str) -> list[int]:
    """Comma-separated integers of at least 0."""
    from topkit.data import InputError

    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise InputError(f"invalid {option} {text!r}", "write comma-separated integers of at least 0")
    return [int(word) for word in words]


def _shares(text: str, option: str) -> list[float]:
    """Comma-separated numbers from 0 to below 1."""
    from topkit.data import InputError

    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"invalid {option} {text!r}", "write comma-separated numbers") from None
    if not all(0 <= value < 1 for value in values):
        raise InputError(f"invalid {option} {text!r}", "numbers must be at least 0 and below 1")
    return values


@app.command(no_args_is_help=True)
def agreement(
    file: Annotated[Path, Argument(help="CSV of preferences: query, a, b, answer, assessor, seconds.")],
    grades: Annotated[Path | None, Option(help="CSV: query, doc, grade, assessor, seconds.")] = None,
    columns: Annotated[str, Option(help="Column names of the file: query=Input.query,a=Input.docA,…")] = "",
    answers: Annotated[str, Option(help="Words of the file for the answers: s=tie,left=a,…")] = "",
    implied: Annotated[bool, Option("--implied", help="Also compare the pairs that answers imply.")] = False,
    assessors: Annotated[bool, Option("--assessors", help="Add one row per assessor.")] = False,
    form: Form = "table",
) -> None:
    """Measure how well assessors agree, with the tables of the top-k labelling paper.

    Example: `topkit label agreement prefs.csv --grades grades.csv --assessors`
    """
    from topkit.data.words import counted
    from topkit.labelling.agreement.figures import agreement_figures
    from topkit.labelling.files import read_grades_csv, read_preferences_csv
    from topkit.labelling.report import agreement_report

    check_form(form)
    preferences, empty = read_preferences_csv(file, mapping(columns, "columns"), mapping(answers, "answers"))
    graded = None if grades is None else read_grades_csv(grades)
    options = {"implied": implied, "assessors": assessors}
    figures = [] if form == "table" else agreement_figures(preferences, graded, **options)
    print_records(figures, form, lambda: agreement_report(preferences, graded, **options))
    if empty:
        typer.echo(f"ignored {counted(empty, 'row')} without an answer", err=form != "table")


def mapping(text: str, what: str) -> dict[str, str]:
    """Comma-separated ``left=right`` as a dictionary."""
    from topkit.data import InputError

    names: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        left, equals, right = part.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise InputError(f"invalid --{what} {part!r}", "write comma-separated left=right")
        names[left.strip()] = right.strip()
    return names
