"""How long judgments take, and how many a query needs."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, nan
from statistics import fmean, median
from typing import NamedTuple

from topkit.data.judgments import Grade, Preference


class Timing(NamedTuple):
    """The columns of Table 1 of the top-k labelling paper. Times are NaN if none were recorded."""

    seconds: float
    """Mean seconds per judgment."""
    median_seconds: float
    minutes_per_query: float
    """Mean over (assessor, query)."""
    judgments_per_query: float
    """Mean over (assessor, query)."""
    judgments: int


def timing(records: Iterable[Grade | Preference]) -> Timing:
    """Times of judgments; the work of an assessor on a query is one session.

    >>> timing([Preference("q", "x", "y", "a", "ann", 4.0), Preference("q", "x", "z", "a", "ann", 8.0)])
    Timing(seconds=6.0, median_seconds=6.0, minutes_per_query=0.2, judgments_per_query=2.0, judgments=2)
    """
    sessions: dict[tuple[str, str], list[float]] = {}
    for record in records:
        sessions.setdefault((record.assessor, record.query), []).append(record.seconds)
    judgments = sum(map(len, sessions.values()))
    times = [seconds for session in sessions.values() for seconds in session if not isnan(seconds)]
    totals = [sum(known) for session in sessions.values() if (known := [s for s in session if not isnan(s)])]
    return Timing(
        fmean(times) if times else nan,
        median(times) if times else nan,
        fmean(totals) / 60 if totals else nan,
        judgments / len(sessions) if sessions else nan,
        judgments,
    )
