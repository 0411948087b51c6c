"""Judgments that took an unusually short or long time for their assessor."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, log
from statistics import median
from typing import NamedTuple

from topkit.data.judgments import Grade, Preference

LIMIT = 3.5
"""Modified z-scores beyond this are outliers (Iglewicz and Hoaglin, 1993)."""
FEWEST = 8
"""With fewer judgments by an assessor, a spread cannot be estimated."""
SHORTEST = 0.05
"""Seconds; shorter times are set to this before the logarithm is taken."""


class TimeOutlier(NamedTuple):
    """A judgment, the median of its assessor, and its modified z-score: negative means fast."""

    judgment: Grade | Preference
    median: float
    score: float


def time_outliers(judgments: Sequence[Grade | Preference], limit: float = LIMIT) -> list[TimeOutlier]:
    """The judgments whose time is unusual for their assessor, the most unusual first.

    score = 0.6745·(x − median)/MAD with x = log(seconds), per assessor and kind of judgment. The logarithm
    makes the distribution of times about symmetric. If more than half of the times are equal (MAD = 0), the
    mean absolute deviation replaces it: score = (x − median)/(1.2533·mean deviation).
    """
    groups: dict[tuple[str, type], list[Grade | Preference]] = {}
    for judgment in judgments:
        if not isnan(judgment.seconds):
            groups.setdefault((judgment.assessor, type(judgment)), []).append(judgment)
    outliers = [
        outlier
        for group in groups.values()
        if len(group) >= FEWEST
        for outlier in _scored(group)
        if abs(outlier.score) > limit
    ]
    return sorted(outliers, key=lambda outlier: -abs(outlier.score))


def _scored(group: Sequence[Grade | Preference]) -> list[TimeOutlier]:
    logs = [log(max(judgment.seconds, SHORTEST)) for judgment in group]
    middle = median(logs)
    deviations = [abs(value - middle) for value in logs]
    spread = median(deviations) / 0.6745 or 1.2533 * sum(deviations) / len(deviations)
    if spread == 0:
        return []
    seconds = median(judgment.seconds for judgment in group)
    return [
        TimeOutlier(judgment, seconds, (value - middle) / spread)
        for judgment, value in zip(group, logs, strict=True)
    ]
