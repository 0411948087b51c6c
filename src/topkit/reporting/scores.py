"""Tables of systems and measures: the best value of each measure in bold, with intervals and marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from topkit.reporting.tables import Table

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

    def best(self) -> frozenset[tuple[int, int]]:
        """(row, column) of the best value of each column; none for a single row."""
        if len(self.rows) < 2 or not self.bold:
            return frozenset()
        places: set[tuple[int, int]] = set()
        for j in range(len(self.columns)):
            better = max if not self.greater_is_better or self.greater_is_better[j] else min
            known = [values[j] for _, values in self.rows if values[j] == values[j]]  # NaN is no value
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
