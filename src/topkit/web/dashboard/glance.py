"""The state of a project at a glance: progress, people, judgments today, agreement, and a forecast."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import fmean

from topkit.labelling.agreement.tables import agreement
from topkit.web.dashboard.agreements import all_pairs
from topkit.web.dashboard.numbers import number_or_none
from topkit.web.judging import standing_answers
from topkit.web.records import Record

DAY = 86_400.0
PACE_DAYS = 7
"""The forecast uses the judgments of the last seven days."""
LONGEST_FORECAST = 3650
"""Days; a later end is not a useful forecast."""


@dataclass(frozen=True)
class Glance:
    """The state of a project in a few numbers."""

    share: float
    """Judgments made, divided by judgments made plus expected ones."""
    complete: int
    labellings: int
    judgments: int
    today: int
    people_today: int
    people: int
    agreement: float | None
    left: int
    """Expected number of remaining judgments."""
    hours_left: float | None
    """Expected hours of work at the mean time per judgment."""
    end: str | None
    """The expected day of the last judgment at the pace of the last seven days, such as 2026-05-31."""


def glance(records: list[Record], now: float | None = None) -> Glance:
    """The state of a project now. A day is a day in UTC."""
    now = time.time() if now is None else now
    midnight = now - now % DAY
    answers = [(record.assessor, judgment) for record in records for judgment in standing_answers(record.log)]
    today = [assessor for assessor, judgment in answers if judgment.time >= midnight]
    progress = [record.standing.progress for record in records]
    asked, left = sum(row.asked for row in progress), sum(row.likely for row in progress)
    hours = left * fmean(judgment.seconds for _, judgment in answers) / 3600 if answers else None
    return Glance(
        share=asked / (asked + left) if asked + left else 0.0,
        complete=sum(record.standing.done for record in records),
        labellings=len(records),
        judgments=len(answers),
        today=len(today),
        people_today=len(set(today)),
        people=len({record.assessor for record in records}),
        agreement=number_or_none(agreement(all_pairs(records)).overall),
        left=round(left),
        hours_left=hours,
        end=_expected_end([judgment.time for _, judgment in answers], left, now),
    )


def _expected_end(times: list[float], left: float, now: float) -> str | None:
    """The day on which the work ends if people go on as in the last seven days."""
    recent = [moment for moment in times if now - PACE_DAYS * DAY <= moment <= now]
    if not recent or left <= 0:
        return None
    days = max(1.0, min(PACE_DAYS, (now - min(recent)) / DAY))
    needed = left * days / len(recent)
    if needed > LONGEST_FORECAST:
        return None
    return (datetime.fromtimestamp(now, UTC) + timedelta(days=needed)).strftime("%Y-%m-%d")
