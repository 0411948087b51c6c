"""The report of the loop study: minutes to reach the published quality, curves, and the unbiased estimate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from topkit.reporting.plots import paths
from topkit.reporting.tables import ScoreTable
from topkit.studies.kinds.loop_settings import PUBLISHED, Settings
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results, mean_interval
from topkit.studies.spec import Study

Curve = Mapping[int, float]
"""Minutes → value."""


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each data set, ranker and measure: minutes needed, and the curves; then the estimates."""
    for source in study.data:
        for contestant in study.rankers:
            fits = results.where(data=source.name, ranker=contestant.name)
            yield Heading(f"{source.name}, {contestant.name}")
            for which in study.metrics:
                yield TablePart(
                    f"loop-{source.name}-{which}", _minutes_table(study, source.name, fits, which)
                )
                for error in study.settings.errors:
                    yield _plot(study, source.name, fits.where(error=error), which, error)
    yield from _estimates(study, results)
    yield from _gains(study, results)


def _minutes_table(study: Study[Settings], name: str, results: Results, which: str) -> ScoreTable:
    """Per plan and error rate: minutes needed, and the difference at a third and at half of the time."""
    settings = study.settings
    end = settings.published_minutes
    rows: list[tuple[str, tuple[float, ...]]] = []
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    later = (f"{end // 3} min − target", f"{end // 2} min − target")
    columns = ("target", "minutes", "share", "reached", "mean curve", *later)
    for error in settings.errors:
        published = curves(results.where(plan=PUBLISHED, error=error), which)
        at_end = {seed: curve[end] for seed, curve in published.items()}
        target = float(np.mean(list(at_end.values())))
        for plan in (PUBLISHED, *settings.plans):
            by_seed = curves(results.where(plan=plan, error=error), which)
            row = f"{plan}, {error:.0%} errors"
            first = next(iter(by_seed.values()))
            needed, low, high = mean_interval([reached(curve, target) for curve in by_seed.values()])
            successes = [max(curve.values()) >= target for curve in by_seed.values()]
            middle = {
                minute: float(np.mean([curve[minute] for curve in by_seed.values()])) for minute in first
            }
            values = [target, needed, needed / end, float(np.mean(successes)), reached(middle, target)]
            intervals[row, "minutes"] = (low, high)
            for minute, column in zip((end // 3, end // 2), later, strict=True):
                gaps = [value_at(curve, minute) - at_end[seed] for seed, curve in by_seed.items()]
                gap, *ends = mean_interval(gaps)
                values.append(gap)
                intervals[row, column] = (ends[0], ends[1])
            rows.append((row, tuple(values)))
    note = (
        f"{name}: {which}. Target: what the published strategy (heap, top {settings.k} of all documents, "
        f"queries in random order) reaches in {end} minutes. Minutes: until the mean over folds reaches "
        f"the target, mean of {len(study.seeds)} seeds and its 95 % interval; reached: the share of "
        f"seeds that reach it; the others count as the last minute measured; mean curve: the minutes "
        f"until the mean over seeds reaches it. Differences are paired by seed"
    )
    return ScoreTable(columns, tuple(rows), (note,), intervals=intervals, bold=False)


def _plot(study: Study[Settings], name: str, results: Results, which: str, error: float) -> PlotPart:
    lines: dict[str, list[tuple[float, float]]] = {}
    bands: dict[str, list[tuple[float, float]]] = {}
    for plan in (PUBLISHED, *study.settings.plans):
        by_seed = curves(results.where(plan=plan), which)
        minutes = sorted(next(iter(by_seed.values())))
        spread = [mean_interval([curve[minute] for curve in by_seed.values()]) for minute in minutes]
        lines[plan] = [(minute, mean) for minute, (mean, _, _) in zip(minutes, spread, strict=True)]
        bands[plan] = [(low, high) for _, low, high in spread]
    return PlotPart(
        f"loop-{name}-{which}-{error:g}",
        paths(lines, "assessor minutes", which, bands=bands),
        f"{name}, {error:.0%} errors: {which} against assessor minutes, with 95 % intervals over seeds.",
    )


def _estimates(study: Study[Settings], results: Results) -> Iterator[Part]:
    """How often the interval of the unbiased estimate contains the true value."""
    rows = []
    for title, facts in _loops_with(study, results, "estimate"):
        covered = [fact["estimate"][1] <= fact["truth"] <= fact["estimate"][2] for fact in facts]
        values = (
            float(len(facts)),
            float(np.mean([fact["checks"] for fact in facts])),
            float(np.mean([fact["estimate"][0] for fact in facts])),
            float(np.mean([fact["truth"] for fact in facts])),
            float(np.mean([fact["estimate"][2] - fact["estimate"][1] for fact in facts])),
            float(np.mean(covered)),
        )
        rows.append((title, values))
    if not rows:
        return
    yield Heading("The unbiased estimate")
    note = (
        "The estimate at the end of each loop: the share of random pairs of random queries that the ranker "
        "orders as the judges do. True value: the same on the validation and test parts, computed exactly. "
        "Covered: the share of loops whose 95 % interval contains the true value"
    )
    columns = ("loops", "checks", "estimate", "true value", "width", "covered")
    yield TablePart("loop-estimates", ScoreTable(columns, tuple(rows), (note,), bold=False, decimals=3))
    total = sum(values[0] for _, values in rows)
    hits = sum(values[0] * values[-1] for _, values in rows)
    yield Paragraph(f"The interval contains the true value in {hits:.0f} of {total:.0f} loops.")


def _gains(study: Study[Settings], results: Results) -> Iterator[Part]:
    """The gain of the last hour that the loops expected, and what they gained."""
    rows = []
    for title, facts in _loops_with(study, results, "gain"):
        gained = [fact["truth"] - fact["before"] for fact in facts]
        inside = [
            fact["gain"][1] <= gain <= fact["gain"][2] for fact, gain in zip(facts, gained, strict=True)
        ]
        expected = float(np.mean([fact["gain"][0] for fact in facts]))
        rows.append((title, (float(len(facts)), expected, float(np.mean(gained)), float(np.mean(inside)))))
    if not rows:
        return
    yield Heading("When to stop")
    note = (
        "The gain in agreement with the judges that the loops expected of their last hour, and the gain on "
        "fresh queries; inside: the share of loops whose interval contains it"
    )
    columns = ("loops", "expected", "gained", "inside")
    yield TablePart("loop-gains", ScoreTable(columns, tuple(rows), (note,), bold=False))


def _loops_with(
    study: Study[Settings], results: Results, fact: str
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The title of each data set and error rate, and the facts of its loops that have this fact."""
    for source in study.data:
        for error in study.settings.errors:
            of_source = results.where(data=source.name, error=error)
            facts = [outcome.facts for _, outcome in of_source if fact in outcome.facts]
            if facts:
                yield f"{source.name}, {error:.0%} errors", facts


def curves(results: Results, which: str) -> Mapping[int, Curve]:
    """Seed → minutes → mean over the folds."""
    by_seed: dict[int, dict[int, float]] = {}
    for (seed, minutes), value in results.mean(which, "seed", "minutes").items():
        by_seed.setdefault(seed, {})[minutes] = value
    return by_seed


def reached(curve: Curve, target: float) -> float:
    """The first minute at which a curve reaches a value, by linear interpolation; the last minute if never.

    >>> reached({10: 0.5, 20: 0.7, 30: 0.6}, 0.6), reached({10: 0.5, 20: 0.55}, 0.6)
    (15.0, 20.0)
    """
    points = sorted(curve.items())
    if points[0][1] >= target:
        return float(points[0][0])
    for (before, low), (after, high) in pairwise(points):
        if low < target <= high:
            return before + (after - before) * (target - low) / (high - low)
    return float(points[-1][0])


def value_at(curve: Curve, minute: int) -> float:
    """The value at the last measurement up to a minute; the first one if there is none before."""
    minutes: Sequence[int] = sorted(curve)
    return curve[max((m for m in minutes if m <= minute), default=minutes[0])]
