"""What the budget study shows: curves over minutes, the difference to grades, and where the answer turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from topkit.studies.assessors import error_rate
from topkit.studies.kind import Heading, Part, Plot, Table, Words
from topkit.studies.plots import paths
from topkit.studies.results import Results, mean_interval
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

GRADES = "graded"
Interval = tuple[float, float, float]


def show(study: Study, results: Results) -> Iterator[Part]:
    """For each data set and ranker: quality by minutes, then the error rate at which grades win."""
    for source in study.data:
        for one in study.rankers:
            own = results.where(data=source.name, ranker=one.name)
            yield Heading(f"{source.name}, {one.name}")
            yield from _costs(study, source.name, own)
            for which in study.metrics:
                yield from _curves(study, source.name, own, which)
                yield from _turn(study, source.name, own, which)


def _costs(study: Study, name: str, own: Results) -> Iterator[Part]:
    """Minutes a query, and the queries that each budget pays for."""
    at = own.where(lambda cell: cell.factors["agreement"] == study.settings["agreement"])
    queries = at.mean("queries", "strategy", "minutes")
    minutes = sorted(study.settings["minutes"])
    rows = []
    for strategy in at.levels("strategy"):
        cost = np.mean([outcome.facts["minutes a query"] for _, outcome in at.where(strategy=strategy)])
        rows.append((strategy, (float(cost), *(queries[strategy, m] for m in minutes))))
    note = f"{name}: minutes a query, and the training queries labelled after so many minutes"
    columns = ("minutes a query", *(f"{m} min" for m in minutes))
    up = (False, *(True for _ in minutes))
    yield Table(f"cost-{name}", ResultTable(columns, tuple(rows), (note,), up, decimals=1))


def _curves(study: Study, name: str, own: Results, which: str) -> Iterator[Part]:
    settings = study.settings
    at = own.where(lambda cell: cell.factors["agreement"] == settings["agreement"])
    found = {
        (row, m): value
        for (row, m), value in at.interval(which, "strategy", "minutes").items()
        if affordable(at, row, m)
    }
    minutes = sorted(settings["minutes"])
    strategies = at.levels("strategy")
    missing = (float("nan"),) * 3
    rows = tuple((row, tuple(found.get((row, m), missing)[0] for m in minutes)) for row in strategies)
    intervals = {
        (row, f"{m} min"): found[row, m][1:] for row in strategies for m in minutes if (row, m) in found
    }
    gains = {row: differences(at, which, row, settings["agreement"]) for row in strategies if row != GRADES}
    marks = {
        (row, f"{m} min"): "▲" if low > 0 else "▼" if high < 0 else ""
        for row, gain in gains.items()
        for m, (_, low, high) in gain.items()
    }
    note = (
        f"{name}: {which} after so many minutes, mean of {len(study.seeds)} seeds and its 95 % interval; "
        f"▲ ▼: above or below five grades (95 % interval of the difference over seeds); "
        f"{settings['agreement']:.1%} and {settings['agreement_of_grades']:.1%} agreement; –: in some fold "
        "the minutes do not pay for a single query"
    )
    columns = tuple(f"{m} min" for m in minutes)
    yield Table(f"budget-{name}-{which}", ResultTable(columns, rows, (note,), (), marks, intervals))
    lines = {row: [(m, found[row, m][0]) for m in minutes if (row, m) in found] for row in strategies}
    bands = {row: [found[row, m][1:] for m in minutes if (row, m) in found] for row in strategies}
    few = [row for row in strategies if row in (GRADES, "heap", "adaptive", "reliable")] or strategies
    shown = {("five grades" if row == GRADES else row): lines[row] for row in few if lines[row]}
    bands = {("five grades" if row == GRADES else row): bands[row] for row in few if bands[row]}
    yield Plot(
        f"budget-{name}-{which}",
        paths(shown, "assessor minutes", which, bands=bands, log=True),
        f"{name}: {which} against assessor minutes, with 95 % intervals over seeds.",
    )


def affordable(own: Results, strategy: str, minutes: int) -> bool:
    """Whether the minutes pay for at least one query in every fold and with every seed."""
    return all(
        value > 0
        for _, outcome in own.where(strategy=strategy)
        for name, m, value in zip(*(outcome.columns[c] for c in ("metric", "minutes", "value")), strict=True)
        if name == "queries" and m == minutes
    )


def differences(own: Results, which: str, strategy: str, agreement: float) -> dict[int, Interval]:
    """Minutes → preferences less grades, and the 95 % interval over seeds, paired by seed."""
    values = own.where(strategy=strategy, agreement=agreement).mean(which, "minutes", "seed")
    grades = own.where(strategy=GRADES).mean(which, "minutes", "seed")
    found: dict[int, Interval] = {}
    for m in sorted({m for m, _ in values}):
        if not (affordable(own, strategy, m) and affordable(own, GRADES, m)):
            continue
        gaps = [values[m, s] - grades[m, s] for (n, s) in values if n == m and (m, s) in grades]
        found[m] = mean_interval(gaps)
    return found


def _turn(study: Study, name: str, own: Results, which: str) -> Iterator[Part]:
    """The difference to grades by the error rate of those who compare, and where it changes its sign."""
    settings = study.settings
    agreements = sorted({float(settings["agreement"]), *settings["sweep"]}, reverse=True)
    minutes = sorted(settings["minutes"])
    for strategy in settings["sweep_strategies"]:
        gains = {a: differences(own, which, strategy, a) for a in agreements}
        gains = {a: gain for a, gain in gains.items() if gain}
        if len(gains) < 2:
            continue
        columns = tuple(f"{m} min" for m in minutes)
        rows = tuple(
            (f"error {error_rate(a):.1%}", tuple(gain.get(m, (float("nan"),))[0] for m in minutes))
            for a, gain in gains.items()
        )
        intervals = {
            (f"error {error_rate(a):.1%}", f"{m} min"): gain[m][1:]
            for a, gain in gains.items()
            for m in minutes
            if m in gain
        }
        note = (
            f"{name}: {which} of {strategy} less that of five grades, by the error rate of the assessors who "
            f"compare (agreement {', '.join(f'{a:.1%}' for a in gains)}); those who grade stay as they are"
        )
        table = ResultTable(columns, rows, (note,), intervals=intervals, bold=False)
        yield Table(f"turn-{name}-{which}-{strategy}", table)
        points = {
            f"{m} minutes": [(100 * error_rate(a), gain[m][0]) for a, gain in gains.items() if m in gain]
            for m in minutes
        }
        lines = {row: line for row, line in points.items() if line}
        yield Plot(
            f"turn-{name}-{which}-{strategy}",
            paths(lines, "error rate of an assessor who compares, %", f"{which}: {strategy} less grades"),
            note + ".",
        )
        turns = [f"{row}: {turning_point(line)}" for row, line in lines.items()]
        yield Words(f"{name}, {which}: {strategy} and five grades change places at " + "; ".join(turns) + ".")


def turning_point(points: list[tuple[float, float]]) -> str:
    """Where a difference first falls below 0, on the straight line between two points.

    >>> turning_point([(5.0, 0.02), (10.0, -0.02)])
    'an error rate of 7.5 %'
    """
    for (x, y), (later, below) in pairwise(points):
        if y >= 0 > below:
            return f"an error rate of {x + (later - x) * y / (y - below):.1f} %"
    if points[0][1] < 0:
        return f"less than {points[0][0]:.1f} %"
    return f"more than {points[-1][0]:.1f} %"
