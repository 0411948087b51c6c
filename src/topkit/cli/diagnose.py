"""``topkit diagnose``: why is one model worse than another, query by query?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from topkit.cli.completion import name_option
from topkit.cli.output import Form, check_form, check_plots, print_json, print_table
from topkit.cli.shared import Source, TruthName, read_dataset

MODEL_OR_SCORES = "a model file, or a score file (one score per line)."


def diagnose(
    data_file: Source,
    old: Annotated[Path, Argument(help=f"The old system: {MODEL_OR_SCORES}")],
    new: Annotated[Path, Argument(help=f"The new system: {MODEL_OR_SCORES}")],
    metric: Annotated[str, name_option("measure", "The measure to explain.")] = "ndcg@10",
    convention: Annotated[str, name_option("convention", "Convention of the measure.")] = "yahoo",
    queries: Annotated[
        Path | None, Option(help="Texts of the queries, to group them by length: id, tab, text per line.")
    ] = None,
    out: Annotated[Path | None, Option(help="Write an HTML report with both rankings side by side.")] = None,
    many: Annotated[int, Option(min=1, help="Queries that the report shows.")] = 20,
    truth: TruthName = "graded",
    form: Form = "table",
) -> None:
    """Explain why a system is better or worse than another: queries, documents and features.

    Prints a summary, groups of queries, features and the queries that fell most. CSV has one row per query;
    JSON has everything. Features are explained if both systems are models.

    Examples: `topkit diagnose test.txt old.model new.model --out report.html`

    `topkit diagnose test.txt old.scores new.model --metric map --format json`
    """
    from topkit.data.writers import is_standard_output
    from topkit.features import read_queries
    from topkit.reporting.progress import progress
    from topkit.studies.diagnosis import diagnose as explain

    check_form(form)
    if out is not None:
        check_plots()
    data = read_dataset(data_file, truth=truth)
    texts = None if queries is None else read_queries(queries)
    names = (old.name, new.name) if old.name != new.name else (str(old), str(new))
    with progress("Diagnosing") as report:
        result = explain(data, old, new, metric, convention, queries=texts, report=report).named(*names)
    if out is not None:
        result.write_html(out, many=many)
        if is_standard_output(out):
            return
    if form == "json":
        print_json(result.to_dict())
    elif form == "csv":
        print_table(result.table(), "csv")
    else:
        typer.echo(str(result))
    if out is not None:
        typer.echo(f"report   {out}", err=form != "table")
