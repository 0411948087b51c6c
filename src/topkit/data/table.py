"""A table of values that prints as aligned text, Markdown, HTML, LaTeX, CSV and JSON, and becomes a frame.

Plain string work, so that it loads quickly. It is in this room because evaluations print as tables; what
commands and reports build on it is in :mod:`topkit.reporting.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = str | int | float | None
"""The content of a cell. None and NaN mean that there is no value."""

NO_VALUE = "–"


@dataclass(frozen=True)
class Table:
    """Column names and rows of values; floats are shown with ``decimals`` digits.

    >>> table = Table(("", "map", "queries"), [("svm", 0.51234, 20), ("net", 0.5, 8)], ["convention trec"])
    >>> print(table.text())
            map  queries
    svm  0.5123       20
    net  0.5000        8
    convention trec
    >>> print(table.csv())
    ,map,queries
    svm,0.51234,20
    net,0.5,8

    A notebook shows the HTML form. ``print(table)`` shows the text.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
    """Lines below the table."""
    align: str = ""
    """``l`` or ``r`` per column; by default the first is left-aligned and the others right-aligned."""
    decimals: int = 4
    bold: Collection[tuple[int, int]] = frozenset()
    """(row, column) of the cells to emphasise."""
    suffixes: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(row, column) → text shown after the value, such as a significance mark. CSV leaves it out."""

    @property
    def alignment(self) -> str:
        """``l`` or ``r`` for each column."""
        return self.align or "l" + "r" * (len(self.columns) - 1)

    def cells(self) -> list[list[str]]:
        """The rows as text."""
        return [
            [self._show(value) + self.suffixes.get((i, j), "") for j, value in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]

    def _show(self, value: Value) -> str:
        if value is None or value != value:
            return NO_VALUE
        if isinstance(value, float):
            return f"{round(value, self.decimals) + 0.0:.{self.decimals}f}"  # + 0.0 avoids "-0.0000"
        return str(value)

    def text(self, emphasise: Callable[[str], str] = str) -> str:
        """Aligned columns for a terminal; ``emphasise`` wraps the bold cells."""
        cells = self.cells()
        grid = [list(self.columns), *cells]
        widths = [max(len(row[j]) for row in grid) for j in range(len(self.columns))]
        padded = [
            [
                text.ljust(width) if side == "l" else text.rjust(width)
                for text, width, side in zip(row, widths, self.alignment, strict=True)
            ]
            for row in grid
        ]
        for i, j in self.bold:
            padded[i + 1][j] = emphasise(padded[i + 1][j])
        return "\n".join([*("  ".join(row).rstrip() for row in padded), *self.notes])

    def markdown(self) -> str:
        """A Markdown table with the notes below it."""
        rules = ["---:" if side == "r" else "---" for side in self.alignment]
        lines = [_markdown_row(self.columns), "|" + "|".join(rules) + "|"]
        lines += [_markdown_row(row) for row in self._decorated("**{}**", _escape_bar)]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)])

    def html(self) -> str:
        """An HTML table with the notes below it; the first column holds row headings."""
        from html import escape

        sides = [" style='text-align: left'" if side == "l" else "" for side in self.alignment]
        head = "".join(
            f"<th scope='col'{side}>{escape(name)}</th>"
            for name, side in zip(self.columns, sides, strict=True)
        )
        body = ""
        for first, *others in self._decorated("<b>{}</b>", escape):
            cells = "".join(f"<td{side}>{cell}</td>" for cell, side in zip(others, sides[1:], strict=True))
            body += f"<tr><th scope='row'>{first}</th>{cells}</tr>"
        notes = "<br>".join(map(escape, self.notes))
        return (
            f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
            f"<p class='note'>{notes}</p>"
        )

    def latex(self) -> str:
        """A tabular for the booktabs package."""
        lines = [rf"\begin{{tabular}}{{{self.alignment}}}", r"\toprule"]
        lines += [" & ".join(map(escape_latex, self.columns)) + r" \\", r"\midrule"]
        lines += [" & ".join(row) + r" \\" for row in self._decorated(r"\textbf{{{}}}", escape_latex)]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in self.notes)])

    def csv(self) -> str:
        """Comma-separated values: unrounded numbers, no notes and no marks."""
        import csv
        import io

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:  # NaN means that there is no value
            writer.writerow([None if v != v else repr(v) if isinstance(v, float) else v for v in row])
        return stream.getvalue().rstrip("\n")

    def json(self) -> str:
        """``{"notes": [...], "rows": [{column: value}, ...]}``; numbers are unrounded, no value is null."""
        import json

        names = self.named_columns
        rows = [dict(zip(names, map(_json_value, row), strict=True)) for row in self.rows]
        body = {"notes": list(self.notes), "rows": rows} if self.notes else {"rows": rows}
        return json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame of the unrounded values, without notes and marks.

        backend: ``pandas``, ``polars`` or ``pyarrow``; by default the first of them that is installed.
        """
        from topkit.data.frames_out import frame_of

        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.columns)
        return frame_of({name: list(v) for name, v in zip(self.named_columns, columns, strict=True)}, backend)

    @property
    def named_columns(self) -> list[str]:
        """The column names; a column without a heading is called ``name``."""
        return [column or "name" for column in self.columns]

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _decorated(self, bold: str, escape: Callable[[str], str]) -> list[list[str]]:
        """The escaped cells, those to emphasise inside the format string ``bold``."""
        return [
            [bold.format(escape(text)) if (i, j) in self.bold else escape(text) for j, text in enumerate(row)]
            for i, row in enumerate(self.cells())
        ]


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "markdown": Table.markdown,
    "latex": Table.latex,
    "csv": Table.csv,
    "json": Table.json,
}
"""Format name → the function that writes a table in it."""


def _json_value(value: Value) -> Value:
    return None if value != value else value  # NaN is not JSON


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escape_bar(text: str) -> str:
    return text.replace("|", "\\|")


LATEX_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
LATEX_SYMBOLS = {"▲": "$^{\\blacktriangle}$", "▼": "$^{\\blacktriangledown}$", "−": "$-$", "°": "$^{\\circ}$"}


def escape_latex(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    escaped = text.replace("\\", r"\textbackslash ").translate(LATEX_SPECIAL)
    for symbol, command in LATEX_SYMBOLS.items():
        escaped = escaped.replace(symbol, command)
    return escaped
