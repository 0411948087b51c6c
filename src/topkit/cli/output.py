"""``--format``: what a command prints, as one document in the format that was asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

if TYPE_CHECKING:
    from topkit.data.table import Table

Format = Annotated[str, Option("--format", help="table, markdown, latex, csv or json.")]
"""The formats of a command that prints one table."""
Form = Annotated[str, Option("--format", help="table, csv or json.")]
"""The formats of a command that prints more than one table, or text with its tables."""
FORMS = ("table", "csv", "json")


def check_form(form: str) -> str:
    """The format, checked before the work starts."""
    from topkit.data.settings import lookup

    return lookup(dict(zip(FORMS, FORMS, strict=True)), form, "format")


def check_plots() -> None:
    """Raise an error that names the extra if plots cannot be drawn, checked before the work starts."""
    from topkit.compute.extras import check_extra

    check_extra("plots", ("matplotlib",))


def print_table(table: Table, form: str) -> None:
    """Print one table in any of its formats."""
    from topkit.data.settings import lookup
    from topkit.reporting.tables import TABLE_FORMATS, bold_on_terminal

    write = lookup(TABLE_FORMATS, form, "format")
    typer.echo(table.text(bold_on_terminal()) if form == "table" else write(table))


def print_tables(tables: Mapping[str, Table], form: str, text: Callable[[], str], **facts: Any) -> None:
    """Print tables as one document: text, JSON with an entry per table, or CSV with a row per value.

    CSV has the columns ``table, row, column, value``, because the tables differ in their columns. ``facts``
    are further entries of the JSON document.
    """
    if form == "table":
        typer.echo(text())
    elif form == "json":
        import json

        print_json({**facts, **{name: json.loads(table.json())["rows"] for name, table in tables.items()}})
    else:
        from topkit.data.table import Table

        cells = [
            (name, number, column, value)
            for name, table in tables.items()
            for number, row in enumerate(table.rows, 1)
            for column, value in zip(table.named_columns, row, strict=True)
        ]
        typer.echo(Table(("table", "row", "column", "value"), cells).csv())


def print_records(records: Sequence[Mapping[str, Any]], form: str, text: Callable[[], str]) -> None:
    """Print records with the same keys as text, CSV or JSON; a value may be a dictionary or a list."""
    if form == "table":
        typer.echo(text())
    elif form == "json":
        print_json(list(records))
    else:
        from topkit.data.table import Table

        columns = list(records[0]) if records else []
        rows = [[_flat(record[name]) for name in columns] for record in records]
        typer.echo(Table(columns, rows).csv())


def print_json(document: Any) -> None:
    """Print one JSON document; a number that is not finite is null."""
    import json

    typer.echo(json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _flat(value: Any) -> Any:
    """A value for one field of CSV: entries of a dictionary or a list are separated by spaces."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}={entry}" for key, entry in value.items())
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value
