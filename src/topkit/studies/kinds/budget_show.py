"""The report of the budget study: quality by minutes, difference to grades, where the answer changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from topkit.metrics import metric
from topkit.reporting.marks import interval_direction, mark
from topkit.reporting.plots import paths
from topkit.reporting.tables import ScoreTable
from topkit.studies.assessors import error_rate
from topkit.studies.kinds.budget_settings import GRADES, Settings
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results, mean_interval
from topkit.studies.spec import Study

Interval = tuple[float, float, float]
"""A mean and the ends of its 95 % interval."""

NO_INTERVAL: Interval = (float("nan"),) * 3
FEW = (GRADES, "heap", "adaptive", "reliable")
"""The strategies in the plot, which would be crowded with all of them."""


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each data set and ranker: quality by minutes, then the error rate at which grades win."""
    for source in study.data:
        for contestant in study.rankers:
            fits = results.where(data=source.name, ranker=contestant.name)
            published = fits.where(agreement=study.settings.agreement)
            yield Heading(f"{source.name}, {contestant.name}")
            yield from _costs(study, source.name, published)
            for which in study.metrics:
                yield from _curves(study, source.name, published, which)
                yield from _turns(study, source.name, fits, which)


def _costs(study: Study[Settings], name: str, results: Results) -> Iterator[Part]:
    """Minutes per query, and the queries that each budget pays for."""
    queries = results.mean("queries", "strategy", "minutes")
    minutes = sorted(study.settings.minutes)
    rows = []
    for strategy in results.levels("strategy"):
        of_strategy = results.where(strategy=strategy)
        cost = np.mean([outcome.facts["minutes per query"] for _, outcome in of_strategy])
        rows.append((strategy, (float(cost), *(queries[strategy, m] for m in minutes))))
    note = f"{name}: minutes per query, and the training queries labelled after these minutes"
    columns = ("minutes per query", *(f"{m} min" for m in minutes))
    greater_is_better = (False, *(True for _ in minutes))
    yield TablePart(f"cost-{name}", ScoreTable(columns, tuple(rows), (note,), greater_is_better, decimals=1))


def _curves(study: Study[Settings], name: str, results: Results, which: str) -> Iterator[Part]:
    """A measure after these minutes, by strategy, with marks for the difference to grades."""
    minutes = sorted(study.settings.minutes)
    strategies = results.levels("strategy")
    intervals = {
        (strategy, m): interval
        for (strategy, m), interval in results.interval(which, "strategy", "minutes").items()
        if affordable(results, strategy, m)
    }
    yield TablePart(f"budget-{name}-{which}", _quality_table(study, name, results, which, intervals))
    points = {
        strategy: [(m, *intervals[strategy, m]) for m in minutes if (strategy, m) in intervals]
        for strategy in strategies
    }
    few = [strategy for strategy in strategies if strategy in FEW] or strategies
    shown = {("five grades" if row == GRADES else row): points[row] for row in few if points[row]}
    lines = {row: [(m, mean) for m, mean, _, _ in line] for row, line in shown.items()}
    bands = {row: [(low, high) for _, _, low, high in line] for row, line in shown.items()}
    yield PlotPart(
        f"budget-{name}-{which}",
        paths(lines, "assessor minutes", which, bands=bands, log=True),
        f"{name}: {which} against assessor minutes, with 95 % intervals over seeds.",
    )


def _quality_table(
    study: Study[Settings],
    name: str,
    results: Results,
    which: str,
    intervals: dict[tuple[str, int], Interval],
) -> ScoreTable:
    settings = study.settings
    minutes = sorted(settings.minutes)
    greater = metric(which).measure.greater_is_better
    strategies = results.levels("strategy")
    gains = {
        strategy: differences(results, which, strategy, settings.agreement)
        for strategy in strategies
        if strategy != GRADES
    }
    note = (
        f"{name}: {which} after these minutes, mean of {len(study.seeds)} seeds and its 95 % interval; "
        f"▲ ▼: better or worse than five grades (95 % interval of the difference over seeds); "
        f"{settings.agreement:.1%} and {settings.agreement_of_grades:.1%} agreement; –: in some fold "
        "the minutes do not pay for a single query"
    )
    return ScoreTable(
        tuple(f"{m} min" for m in minutes),
        tuple((row, tuple(intervals.get((row, m), NO_INTERVAL)[0] for m in minutes)) for row in strategies),
        (note,),
        tuple(greater for _ in minutes),
        marks={
            (row, f"{m} min"): mark(interval_direction(low, high, greater))
            for row, gain in gains.items()
            for m, (_, low, high) in gain.items()
        },
        intervals={(row, f"{m} min"): interval[1:] for (row, m), interval in intervals.items()},
    )


def affordable(results: Results, strategy: str, minutes: int) -> bool:
    """Whether the minutes pay for at least one query in every fold and with every seed."""
    return all(
        value > 0
        for _, outcome in results.where(strategy=strategy)
        for name, m, value in zip(*(outcome.columns[c] for c in ("metric", "minutes", "value")), strict=True)
        if name == "queries" and m == minutes
    )


def differences(results: Results, which: str, strategy: str, agreement: float) -> dict[int, Interval]:
    """Minutes → preferences minus grades, with the 95 % interval over seeds, paired by seed."""
    values = results.where(strategy=strategy, agreement=agreement).mean(which, "minutes", "seed")
    grades = results.where(strategy=GRADES).mean(which, "minutes", "seed")
    intervals: dict[int, Interval] = {}
    for minutes in sorted({m for m, _ in values}):
        if affordable(results, strategy, minutes) and affordable(results, GRADES, minutes):
            gaps = [
                value - grades[minutes, seed]
                for (m, seed), value in values.items()
                if m == minutes and (m, seed) in grades
            ]
            intervals[minutes] = mean_interval(gaps)
    return intervals


def _turns(study: Study[Settings], name: str, results: Results, which: str) -> Iterator[Part]:
    """The difference to grades by the error rate of assessors who compare, and where it changes its sign."""
    settings = study.settings
    agreements = sorted({settings.agreement, *settings.sweep}, reverse=True)
    for strategy in settings.sweep_strategies:
        by_agreement = {a: differences(results, which, strategy, a) for a in agreements}
        gains = {a: gain for a, gain in by_agreement.items() if gain}
        if len(gains) < 2:
            continue
        minutes = sorted(settings.minutes)
        note = (
            f"{name}: {which} of {strategy} minus that of five grades, by the error rate of assessors who "
            f"compare (agreement {', '.join(f'{a:.1%}' for a in gains)}); assessors who grade are unchanged"
        )
        part = f"turn-{name}-{which}-{strategy}"
        yield TablePart(part, _gain_table(gains, minutes, note))
        points = {
            f"{m} minutes": [(100 * error_rate(a), gain[m][0]) for a, gain in gains.items() if m in gain]
            for m in minutes
        }
        lines = {row: line for row, line in points.items() if line}
        axis = f"{which}: {strategy} minus grades"
        yield PlotPart(part, paths(lines, "error rate of an assessor who compares, %", axis), note + ".")
        turning_points = [f"{row}: {turning_point(line)}" for row, line in lines.items()]
        yield Paragraph(
            f"{name}, {which}: {strategy} and five grades change places at {'; '.join(turning_points)}."
        )


def _gain_table(gains: dict[float, dict[int, Interval]], minutes: list[int], note: str) -> ScoreTable:
    named = {f"error {error_rate(agreement):.1%}": gain for agreement, gain in gains.items()}
    return ScoreTable(
        tuple(f"{m} min" for m in minutes),
        tuple((row, tuple(gain.get(m, NO_INTERVAL)[0] for m in minutes)) for row, gain in named.items()),
        (note,),
        intervals={
            (row, f"{m} min"): interval[1:] for row, gain in named.items() for m, interval in gain.items()
        },
        bold=False,
    )


def turning_point(points: list[tuple[float, float]]) -> str:
    """Where a difference first falls below 0, by linear interpolation between two points.

    >>> turning_point([(5.0, 0.02), (10.0, -0.02)])
    'an error rate of 7.5 %'
    """
    for (x, y), (later, below) in pairwise(points):
        if y >= 0 > below:
            return f"an error rate of {x + (later - x) * y / (y - below):.1f} %"
    if points[0][1] < 0:
        return f"less than {points[0][0]:.1f} %"
    return f"more than {points[-1][0]:.1f} %"
