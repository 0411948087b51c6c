"""Result tables as text, Markdown, LaTeX, CSV and JSON. Plain string work, so that it starts at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ResultTable:
    """Systems in rows, measures in columns; the best of a column is shown in bold."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    notes: tuple[str, ...] = ()
    """Said below the table: the convention, the queries, what the marks mean."""
    greater_is_better: tuple[bool, ...] = ()
    marks: dict[tuple[str, str], str] = field(default_factory=dict)
    """(row, column) → a mark such as ▲ or † after the value."""
    intervals: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    bold: bool = True
    """Whether the best of a column is shown; it is not where rows are no rivals."""
    decimals: int = 4

    def best(self) -> set[tuple[str, str]]:
        """The cells to show in bold; none where there is only one row."""
        found: set[tuple[str, str]] = set()
        if len(self.rows) < 2 or not self.bold:
            return found
        for j, column in enumerate(self.columns):
            better = max if not self.greater_is_better or self.greater_is_better[j] else min
            known = [values[j] for _, values in self.rows if values[j] == values[j]]  # NaN: no value
            found |= {(name, column) for name, values in self.rows if known and values[j] == better(known)}
        return found

    def cell(self, name: str, column: str, value: float) -> str:
        """A value with its interval and mark."""
        if value != value:
            return "–"
        text = f"{value:.{self.decimals}f}"
        if (name, column) in self.intervals:
            low, high = self.intervals[name, column]
            text += f" [{low:.{self.decimals}f}, {high:.{self.decimals}f}]"
        return text + self.marks.get((name, column), "")

    def cells(self) -> list[list[str]]:
        return [
            [name, *(self.cell(name, c, v) for c, v in zip(self.columns, values, strict=True))]
            for name, values in self.rows
        ]


def as_text(table: ResultTable, bold: Callable[[str], str] = str) -> str:
    """Aligned columns for a terminal."""
    grid = [["", *table.columns], *table.cells()]
    widths = [max(len(row[j]) for row in grid) for j in range(len(grid[0]))]
    best = table.best()
    lines = []
    for i, row in enumerate(grid):
        parts = [row[0].ljust(widths[0])]
        for j, text in enumerate(row[1:], 1):
            padded = text.rjust(widths[j])
            shown = i > 0 and (row[0], table.columns[j - 1]) in best
            parts.append(bold(padded) if shown else padded)
        lines.append("  ".join(parts).rstrip())
    return "\n".join([*lines, *table.notes])


def as_markdown(table: ResultTable) -> str:
    best = table.best()
    lines = [
        "| | " + " | ".join(table.columns) + " |",
        "|---|" + "---:|" * len(table.columns),
    ]
    for (name, _), row in zip(table.rows, table.cells(), strict=True):
        cells = [
            f"**{text}**" if (name, c) in best else text
            for c, text in zip(table.columns, row[1:], strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes)])


LATEX_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def as_latex(table: ResultTable) -> str:
    """A tabular for the booktabs package."""

    def escaped(text: str) -> str:
        plain = text.replace("\\", r"\textbackslash ").translate(LATEX_SPECIAL)
        for mark, symbol in (("▲", "$^{\\blacktriangle}$"), ("▼", "$^{\\blacktriangledown}$"), ("−", "$-$")):
            plain = plain.replace(mark, symbol)
        return plain

    best = table.best()
    lines = [
        r"\begin{tabular}{l" + "r" * len(table.columns) + "}",
        r"\toprule",
        " & ".join(["", *map(escaped, table.columns)]) + r" \\",
        r"\midrule",
    ]
    for (name, _), row in zip(table.rows, table.cells(), strict=True):
        cells = [
            rf"\textbf{{{escaped(text)}}}" if (name, c) in best else escaped(text)
            for c, text in zip(table.columns, row[1:], strict=True)
        ]
        lines.append(" & ".join([escaped(name), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in table.notes)])


def as_csv(table: ResultTable) -> str:
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["system", *table.columns])
    writer.writerows([name, *map(repr, values)] for name, values in table.rows)
    return stream.getvalue().rstrip("\n")


def as_json(table: ResultTable) -> str:
    import json

    body = {
        "notes": list(table.notes),
        "results": {name: dict(zip(table.columns, values, strict=True)) for name, values in table.rows},
        "intervals": {f"{name} {column}": pair for (name, column), pair in table.intervals.items()},
        "marks": {f"{name} {column}": mark for (name, column), mark in table.marks.items()},
    }
    return json.dumps({key: value for key, value in body.items() if value}, indent=2, ensure_ascii=False)


FORMATS: dict[str, Callable[[ResultTable], str]] = {
    "table": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
    "json": as_json,
}
