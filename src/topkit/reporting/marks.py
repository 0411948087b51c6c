"""Significance marks: ▲ means significantly better, ▼ significantly worse, whichever way a measure points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from topkit.metrics import TESTS, Comparison, Evaluation, compare
from topkit.reporting.words import counted

BETTER, WORSE = "▲", "▼"
LEVEL = 0.05
"""The usual significance level; a smaller p-value gives a mark."""


def mark(direction: float) -> str:
    """``▲`` for a positive direction (better), ``▼`` for a negative one (worse), else an empty string.

    >>> mark(1), mark(-1), mark(0)
    ('▲', '▼', '')
    """
    return BETTER if direction > 0 else WORSE if direction < 0 else ""


def direction(difference: float, greater_is_better: bool = True) -> int:
    """1 if this difference is an improvement, −1 if it is a decline, 0 if there is none.

    >>> direction(0.1), direction(0.1, greater_is_better=False)
    (1, -1)
    """
    sign = (difference > 0) - (difference < 0)
    return sign if greater_is_better else -sign


def interval_direction(low: float, high: float, greater_is_better: bool = True) -> int:
    """The direction of a difference from its confidence interval; 0 if the interval contains 0."""
    nearest_to_zero = max(low, 0.0) + min(high, 0.0)
    return direction(nearest_to_zero, greater_is_better)


def marks_of(comparison: Comparison, baseline: str, level: float = LEVEL) -> dict[str, str]:
    """System → its mark against the baseline; systems that do not differ significantly are left out."""
    greater = comparison.metric.measure.greater_is_better
    marks = {}
    for pair in comparison.pairs:
        if pair.corrected < level and baseline in (pair.a, pair.b):
            system, gain = (pair.b, -pair.difference) if pair.a == baseline else (pair.a, pair.difference)
            marks[system] = mark(direction(gain, greater))
    return marks


def significance_marks(
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[str],
    *,
    baseline: str,
    test: str = "t",
    correction: str | None = "holm",
    seed: int = 0,
) -> tuple[dict[tuple[str, str], str], str]:
    """Marks of every system against the baseline by (system, metric), and the note that explains them."""
    marks = {
        (system, column): symbol
        for column in metrics
        for system, symbol in marks_of(
            compare(evaluations, column, test, correction, baseline, seed), baseline
        ).items()
    }
    return marks, _note(baseline, test, correction, len(evaluations) - 1)


def _note(baseline: str, test: str, correction: str | None, comparisons: int) -> str:
    if test == "tukey":
        corrected = "corrected for all pairs"
    elif correction is None:
        corrected = "not corrected"
    else:
        corrected = f"{correction.title()} correction for {counted(comparisons, 'comparison')}"
    return f"{BETTER} {WORSE}: better or worse than {baseline}, p < {LEVEL:g}, {TESTS[test]}, {corrected}"
