"""Tables of systems and measures, with the best values in bold, and the format that a command prints.

:class:`Table`, which holds any values, is :class:`topkit.data.table.Table`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from topkit.data.table import TABLE_FORMATS as TABLE_FORMATS
from topkit.data.table import Table as Table
from topkit.data.table import Value as Value

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
    p_values: Mapping[Key, tuple[float, float]] = field(default_factory=dict)
    """(row, column) → the p-value of the difference to the baseline, before and after correction."""

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

    def plain(self) -> Table:
        """The unrounded values as a table of plain columns; that of the names is called ``system``.

        Intervals are columns ``M_low`` and ``M_high``, p-values ``M_p`` and ``M_corrected``, for a metric M.
        """
        ends = {"_low": self.intervals, "_high": self.intervals}
        tests = {"_p": self.p_values, "_corrected": self.p_values}
        more = {**(ends if self.intervals else {}), **(tests if self.p_values else {})}
        columns = [column + suffix for column in self.columns for suffix in ("", *more)]
        rows: list[list[Value]] = []
        for name, values in self.rows:
            row: list[Value] = [name]
            for column, value in zip(self.columns, values, strict=True):
                row.append(float(value))
                for suffix, pairs in more.items():
                    pair = pairs.get((name, column))
                    row.append(None if pair is None else float(pair[suffix in ("_high", "_corrected")]))
            rows.append(row)
        return Table(("system", *columns), rows)

    def csv(self) -> str:
        """Unrounded values: see :meth:`plain`."""
        return self.plain().csv()

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame of the unrounded values: see :meth:`plain` and :meth:`Table.to_frame`."""
        return self.plain().to_frame(backend)

    def json(self) -> str:
        """Values, intervals, p-values, marks and notes as JSON; no value is null."""
        import json

        p_values: dict[str, dict[str, dict[str, float | None]]] = {}
        for (name, column), (p, corrected) in self.p_values.items():
            p_values.setdefault(name, {})[column] = {"p": _number(p), "corrected": _number(corrected)}
        body = {
            "notes": list(self.notes),
            "queries": {name: dict(facts) for name, facts in self.facts.items()},
            "results": {
                name: dict(zip(self.columns, map(_number, values), strict=True)) for name, values in self.rows
            },
            "intervals": {f"{name} {column}": pair for (name, column), pair in self.intervals.items()},
            "p_values": p_values,
            "marks": {f"{name} {column}": mark for (name, column), mark in self.marks.items()},
        }
        shown = {key: value for key, value in body.items() if value}
        return json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def _number(value: float) -> float | None:
    return float(value) if value == value else None  # NaN is not JSON


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
