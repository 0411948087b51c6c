"""Significance marks: ▲ means significantly better, ▼ significantly worse, whichever way a measure points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from topkit.data.words import counted
from topkit.metrics import TESTS, Comparison, Evaluation, compare, metric
from topkit.metrics.comparison import LEVEL

BETTER, WORSE = "▲", "▼"
NEAR = "°"
"""Within one standard deviation of the mean of the best value."""


def mark(direction: float) -> str:
    """``▲`` for a positive direction (better), ``▼`` for a negative one (worse), else an empty string.

    >>> mark(1), mark(-1), mark(0)
    ('▲', '▼', '')
    """
    return BETTER if direction > 0 else WORSE if direction < 0 else ""


def interval_direction(low: float, high: float, greater_is_better: bool = True) -> int:
    """The direction of a difference from its confidence interval; 0 if the interval contains 0."""
    sign = (low > 0) - (high < 0)
    return sign if greater_is_better else -sign


def marks_of(comparison: Comparison, baseline: str, level: float = LEVEL) -> dict[str, str]:
    """System → its mark against the baseline; systems that do not differ significantly are left out."""
    directions = {system: pair.direction(level) for system, pair in comparison.against(baseline).items()}
    return {system: mark(direction) for system, direction in directions.items() if direction}


def near_best_marks(
    evaluations: Mapping[str, Evaluation], metrics: Sequence[str]
) -> tuple[dict[tuple[str, str], str], str]:
    """Marks of the best system and of those within one σ of it, by (system, metric), and their note.

    σ is the standard deviation of the best system's mean: that of its values per query over √queries. The
    mark is not a test: it ignores that the systems were measured on the same queries.
    """
    marks: dict[tuple[str, str], str] = {}
    for column in metrics:
        sign = 1 if metric(column).measure.greater_is_better else -1
        best = max(evaluations, key=lambda system: sign * evaluations[system].mean[column])
        values = evaluations[best].per_query[column]
        sigma = float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0
        limit = sign * evaluations[best].mean[column] - sigma
        near = [name for name, result in evaluations.items() if sign * result.mean[column] >= limit]
        marks |= {(name, column): NEAR for name in near}
    return marks, f"{NEAR}: the best value, or within one standard deviation of its mean (not a test)"


class Significance(NamedTuple):
    """Differences of systems to a baseline; the keys are (system, metric)."""

    marks: dict[tuple[str, str], str]
    note: str
    """What the marks mean."""
    p_values: dict[tuple[str, str], tuple[float, float]]
    """The p-value before and after correction."""


def significance(
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[str],
    *,
    baseline: str,
    test: str = "t",
    correction: str | None = "holm",
    seed: int = 0,
) -> Significance:
    """Every system against the baseline, for each metric."""
    marks: dict[tuple[str, str], str] = {}
    p_values: dict[tuple[str, str], tuple[float, float]] = {}
    for column in metrics:
        comparison = compare(evaluations, column, test, correction, baseline, seed)
        marks |= {(system, column): symbol for system, symbol in marks_of(comparison, baseline).items()}
        p_values |= {
            (system, column): (pair.p, pair.corrected)
            for system, pair in comparison.against(baseline).items()
        }
    return Significance(marks, _note(baseline, test, correction, len(evaluations) - 1), p_values)


def significance_marks(
    evaluations: Mapping[str, Evaluation], metrics: Sequence[str], **options: Any
) -> tuple[dict[tuple[str, str], str], str]:
    """The marks and the note of :func:`significance`, which takes the same options."""
    result = significance(evaluations, metrics, **options)
    return result.marks, result.note


def _note(baseline: str, test: str, correction: str | None, comparisons: int) -> str:
    if test == "tukey":
        corrected = "corrected for all pairs"
    elif correction is None:
        corrected = "not corrected"
    else:
        corrected = f"{correction.title()} correction for {counted(comparisons, 'comparison')}"
    return f"{BETTER} {WORSE}: better or worse than {baseline}, p < {LEVEL:g}, {TESTS[test]}, {corrected}"
