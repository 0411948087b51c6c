"""Progress and pace: how much is done, by whom, and how long judgments take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from topkit.data.judgments import Grade, Preference
from topkit.labelling.agreement.timing import timing
from topkit.web.dashboard.numbers import number_or_none
from topkit.web.gold import is_gold
from topkit.web.judging import Tool, standing_answers
from topkit.web.records import Record, judgments_of
from topkit.web.standings import Standing

BINS = (2, 5, 10, 15, 20, 30, 45, 60, 90, 120)
"""Upper ends, in seconds, of the histogram of judgment times; the last bin has no upper end."""


@dataclass(frozen=True)
class LabellingProgress:
    """One labelling: judgments so far, expected number of remaining ones, active minutes."""

    labelling: int
    topic: int
    topic_key: str
    query: str
    assessor: str
    tool: Tool
    asked: int
    likely: float
    share: float
    done: bool
    minutes: float


@dataclass(frozen=True)
class Summary:
    """The progress of one topic or of one assessor."""

    name: str
    done: int
    total: int
    asked: int
    share: float


@dataclass(frozen=True)
class ToolPace:
    """How long judgments with a tool take, as in Table 1 of the paper, and a histogram of their times."""

    judgments: int
    seconds: float | None
    median_seconds: float | None
    judgments_per_query: float | None
    minutes_per_query: float | None
    histogram: list[int]


@dataclass(frozen=True)
class AssessorPace:
    """How fast an assessor works with a tool."""

    assessor: str
    tool: Tool
    judgments: int
    median: float
    """Active seconds per judgment."""
    minutes: float
    """Active minutes in total."""


@dataclass(frozen=True)
class Pace:
    """How long judgments take, by tool and by assessor."""

    bins: tuple[int, ...]
    tools: dict[Tool, ToolPace]
    assessors: list[AssessorPace]


def progress(records: list[Record]) -> list[LabellingProgress]:
    """The progress of every labelling."""
    return [
        LabellingProgress(
            labelling=record.row["id"],
            topic=record.topic_id,
            topic_key=record.topic,
            query=record.row["query"],
            assessor=record.assessor,
            tool=record.tool,
            asked=record.standing.progress.asked,
            likely=round(record.standing.progress.likely, 1),
            share=round(record.standing.progress.share, 4),
            done=record.standing.done,
            minutes=round(_active_seconds(record) / 60, 2),
        )
        for record in records
    ]


def _active_seconds(record: Record) -> float:
    answers = standing_answers(record.log)
    return sum(answer.seconds for answer in answers if not is_gold(answer.answer))


def summary(records: list[Record], by: Literal["topic_key", "assessor"]) -> list[Summary]:
    """Progress by topic or by assessor: how many labellings are complete, and the share of the work done."""
    groups: dict[str, list[Standing]] = {}
    for record in records:
        name = record.topic if by == "topic_key" else record.assessor
        groups.setdefault(name, []).append(record.standing)
    summaries = []
    for name, standings in groups.items():
        asked = sum(standing.progress.asked for standing in standings)
        total = asked + sum(standing.progress.likely for standing in standings)
        complete = sum(standing.done for standing in standings)
        summaries.append(Summary(name, complete, len(standings), asked, asked / total if total else 1.0))
    return summaries


def pace(records: list[Record]) -> Pace:
    """Times as in Table 1 of the paper for each tool, and the median of each assessor."""
    judgments = judgments_of(records)
    rows_by_tool: dict[Tool, Sequence[Grade | Preference]] = {
        "pairs": judgments.preferences,
        "grades": judgments.grades,
    }
    tools: dict[Tool, ToolPace] = {}
    seconds_by_person: dict[tuple[str, Tool], list[float]] = {}
    for tool, rows in rows_by_tool.items():
        if not rows:
            continue
        tools[tool] = _tool_pace(rows)
        for row in rows:
            seconds_by_person.setdefault((row.assessor, tool), []).append(row.seconds)
    assessors = [
        AssessorPace(assessor, tool, len(seconds), median(seconds), sum(seconds) / 60)
        for (assessor, tool), seconds in sorted(seconds_by_person.items())
    ]
    return Pace(BINS, tools, assessors)


def _tool_pace(rows: Sequence[Grade | Preference]) -> ToolPace:
    counts = Counter(sum(row.seconds > end for end in BINS) for row in rows)
    seconds, median_seconds, minutes, judgments_per_query, judgments = timing(rows)
    return ToolPace(
        judgments=judgments,
        seconds=number_or_none(seconds),
        median_seconds=number_or_none(median_seconds),
        judgments_per_query=number_or_none(judgments_per_query),
        minutes_per_query=number_or_none(minutes),
        histogram=[counts[i] for i in range(len(BINS) + 1)],
    )
