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
from topkit.web.judging import Tool
from topkit.web.records import Record, judgments_of

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
            labelling=record.task.id,
            topic=record.task.topic,
            topic_key=record.topic,
            query=record.row["query"],
            assessor=record.assessor,
            tool=record.task.tool,
            asked=record.lab.progress.asked,
            likely=round(record.lab.progress.likely, 1),
            share=round(record.lab.progress.share, 4),
            done=record.lab.question is None,
            minutes=round(sum(answer.seconds or 0.0 for answer in record.lab.answers) / 60, 2),
        )
        for record in records
    ]


def summary(records: list[Record], by: Literal["topic_key", "assessor"]) -> list[Summary]:
    """Progress by topic or by assessor: how many labellings are complete, and the share of the work done."""
    groups: dict[str, list[LabellingProgress]] = {}
    for row in progress(records):
        groups.setdefault(getattr(row, by), []).append(row)
    summaries = []
    for name, rows in groups.items():
        asked, likely = sum(row.asked for row in rows), sum(row.likely for row in rows)
        share = asked / (asked + likely) if asked + likely else 1.0
        summaries.append(Summary(name, sum(row.done for row in rows), len(rows), asked, share))
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
