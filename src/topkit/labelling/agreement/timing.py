"""How long judgments take: a judgment, a query, and how many judgments a query needs."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from statistics import fmean, median
from typing import NamedTuple

from topkit.data.judgments import Grade, Preference


class Timing(NamedTuple):
    """The columns of the paper's Table 1. Times are NaN where none were recorded."""

    seconds: float
    """Mean seconds a judgment."""
    median_seconds: float
    minutes_a_query: float
    """Mean over (assessor, query)."""
    judgments_a_query: float
    """Mean over (assessor, query)."""
    judgments: int


def timing(records: Iterable[Grade | Preference]) -> Timing:
    """Times of judgments; an assessor's work on a query is one session.

    >>> timing([Preference("q", "x", "y", "a", "ann", 4.0), Preference("q", "x", "z", "a", "ann", 8.0)])
    Timing(seconds=6.0, median_seconds=6.0, minutes_a_query=0.2, judgments_a_query=2.0, judgments=2)
    """
    sessions: dict[tuple[str, str], list[float]] = {}
    for record in records:
        sessions.setdefault((record.assessor, record.query), []).append(record.seconds)
    counted = sum(map(len, sessions.values()))
    times = [seconds for session in sessions.values() for seconds in session if not isnan(seconds)]
    totals = [sum(known) for session in sessions.values() if (known := [s for s in session if not isnan(s)])]
    nothing = float("nan")
    return Timing(
        fmean(times) if times else nothing,
        median(times) if times else nothing,
        fmean(totals) / 60 if totals else nothing,
        counted / len(sessions) if sessions else nothing,
        counted,
    )
