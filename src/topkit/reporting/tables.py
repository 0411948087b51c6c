"""Tables as aligned text, Markdown, HTML, LaTeX, CSV and JSON. Plain string work, so that it loads quickly.

:class:`Table` holds any values; :class:`ScoreTable` holds systems and measures, with the best values in bold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

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

        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr><th scope='row'>{cells[0]}</th>{''.join(f'<td>{cell}</td>' for cell in cells[1:])}</tr>"
            for cells in self._decorated("<b>{}</b>", escape)
        )
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
        writer.writerows([repr(v) if isinstance(v, float) else v for v in row] for row in self.rows)
        return stream.getvalue().rstrip("\n")

    def _decorated(self, bold: str, escape: Callable[[str], str]) -> list[list[str]]:
        """The escaped cells, those to emphasise inside the format string ``bold``."""
        return [
            [bold.format(escape(text)) if (i, j) in self.bold else escape(text) for j, text in enumerate(row)]
            for i, row in enumerate(self.cells())
        ]


Key = tuple[str, str]
"""(row, column) by name."""


@dataclass(frozen=True)
class ScoreTable:
    """Systems in rows, measures in columns.

    >>> scores = ScoreTable(("map",), (("svm", (0.5,)), ("net", (0.6,))), marks={("net", "map"): "▲"})
    >>> print(scores.table().markdown())
    |  | map |
    |---|---:|
    | svm | 0.5000 |
    | net | **0.6000▲** |
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    notes: tuple[str, ...] = ()
    """Lines below the table: the convention, the queries, what the marks mean."""
    greater_is_better: tuple[bool, ...] = ()
    """One value per column; empty if greater is better in all."""
    marks: Mapping[Key, str] = field(default_factory=dict)
    """(row, column) → a mark such as ▲ after the value."""
    intervals: Mapping[Key, tuple[float, float]] = field(default_factory=dict)
    """(row, column) → the ends of an interval."""
    bold: bool = True
    """Whether to emphasise the best value of each column; False if the rows do not compete."""
    decimals: int = 4
    facts: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """System → what JSON says about it besides the values, such as the number of queries."""

    def best(self) -> frozenset[tuple[int, int]]:
        """(row, column) of the best value of each column; none for a single row."""
        if len(self.rows) < 2 or not self.bold:
            return frozenset()
        places: set[tuple[int, int]] = set()
        for j in range(len(self.columns)):
            better = max if not self.greater_is_better or self.greater_is_better[j] else min
            known = [values[j] for _, values in self.rows if values[j] == values[j]]  # NaN means no value
            if known:
                top = better(known)
                places |= {(i, j) for i, (_, values) in enumerate(self.rows) if values[j] == top}
        return frozenset(places)

    def table(self) -> Table:
        """The table to print, with a first column of row names."""
        suffixes = {
            (i, j + 1): self._suffix(name, column)
            for i, (name, values) in enumerate(self.rows)
            for j, column in enumerate(self.columns)
            if values[j] == values[j]
        }
        return Table(
            ("", *self.columns),
            [(name, *map(float, values)) for name, values in self.rows],
            self.notes,
            decimals=self.decimals,
            bold=frozenset((i, j + 1) for i, j in self.best()),
            suffixes=suffixes,
        )

    def _suffix(self, name: str, column: str) -> str:
        text = ""
        if (name, column) in self.intervals:
            low, high = self.intervals[name, column]
            text = f" [{low:.{self.decimals}f}, {high:.{self.decimals}f}]"
        return text + self.marks.get((name, column), "")

    def csv(self) -> str:
        """Unrounded values; the column of names is called ``system``."""
        named = self.table()
        return Table(("system", *self.columns), named.rows).csv()

    def json(self) -> str:
        """Values, intervals, marks and notes as JSON."""
        import json

        body = {
            "notes": list(self.notes),
            "queries": {name: dict(facts) for name, facts in self.facts.items()},
            "results": {name: dict(zip(self.columns, values, strict=True)) for name, values in self.rows},
            "intervals": {f"{name} {column}": pair for (name, column), pair in self.intervals.items()},
            "marks": {f"{name} {column}": mark for (name, column), mark in self.marks.items()},
        }
        return json.dumps({key: value for key, value in body.items() if value}, indent=2, ensure_ascii=False)


FORMATS: dict[str, Callable[[ScoreTable], str]] = {
    "table": lambda scores: scores.table().text(),
    "markdown": lambda scores: scores.table().markdown(),
    "latex": lambda scores: scores.table().latex(),
    "csv": ScoreTable.csv,
    "json": ScoreTable.json,
}
"""Format name → the function that writes a table in it."""


def bold_on_terminal() -> Callable[[str], str]:
    """Bold text if standard output is a terminal, else unchanged text; for :meth:`Table.text`."""
    import sys

    return (lambda text: f"\033[1m{text}\033[0m") if sys.stdout.isatty() else str


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
