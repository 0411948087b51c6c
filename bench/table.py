"""One page of ratios: each row has a name, a measurement, and the aim that it should reach."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A figure and its aim."""

    name: str
    measure: Callable[[], float]
    aim: float
    at_most: bool = False
    """Whether the figure should be at most the aim; by default it should be at least the aim."""
    unit: str = "x"
    slow: bool = False
    """Whether it takes more than a minute; ``python -m bench NAME`` or ``--all`` runs it."""
    note: str = ""

    def reached(self, value: float) -> bool:
        """Whether the figure reaches the aim."""
        return value <= self.aim if self.at_most else value >= self.aim


def show(rows: Iterable[Row]) -> None:
    """Measure each row and print it; the last line names the rows that fall short."""
    print(f"{'':<62}{'measured':>12}{'aim':>10}")
    short, failed = [], []
    for row in rows:
        start = time.perf_counter()
        sign = "≤" if row.at_most else "≥"
        try:
            value = row.measure()
        except Exception as error:  # a page with a gap is more useful than no page
            failed.append(row.name)
            problem = str(error).partition("\n")[0][:80]
            print(f"{row.name:<62}{'-':>12}{sign + f'{row.aim:g}':>10}  not measured: {problem}", flush=True)
            continue
        verdict = "" if row.reached(value) else "  falls short"
        short += [] if row.reached(value) else [row.name]
        seconds = time.perf_counter() - start
        print(
            f"{row.name:<62}{f'{value:.3g} {row.unit}':>12}{sign + f'{row.aim:g}':>10}"
            f"{verdict}{'  ' + row.note if row.note else ''}  ({seconds:.0f} s)",
            flush=True,
        )
    print("\nfall short: " + (", ".join(short) or "none"))
    if failed:
        print("not measured: " + ", ".join(failed))
