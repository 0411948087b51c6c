"""The dashboard of a project: progress, pace, agreement, disagreements, and the top k with its evidence.

The dataclasses here are also the responses of the API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from statistics import median
from typing import Literal

from topkit.data.errors import InputError
from topkit.data.judgments import Grade, Preference
from topkit.labelling.agreement.kappa import beyond_chance
from topkit.labelling.agreement.pairs import (
    FIRST,
    TIE,
    JudgedPairs,
    implied_preferences,
    pairs_by_grades,
    pairs_judged,
)
from topkit.labelling.agreement.quality import assessor_quality
from topkit.labelling.agreement.tables import Agreement, ChiSquare, agreement, chi_square
from topkit.labelling.agreement.timing import timing
from topkit.web.judging import PlacedDocument, ShownDocument, Tool
from topkit.web.records import Record, judgments_of, top_of

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
    minutes: float


@dataclass(frozen=True)
class Pace:
    """How long judgments take, by tool and by assessor."""

    bins: tuple[int, ...]
    tools: dict[Tool, ToolPace]
    assessors: list[AssessorPace]


@dataclass(frozen=True)
class AgreementTable:
    """Counts and shares of the answers A≻B, A∼B and A≺B of one assessor, given the answer of another."""

    counts: list[list[int]]
    rows: list[list[float | None]]
    compared: int
    overall: float | None
    without_ties: float | None
    fleiss: float | None
    krippendorff: float | None


@dataclass(frozen=True)
class AssessorQuality:
    """Agreement of one assessor with the others, and habits: ties, the left side, preference cycles."""

    assessor: str
    judgments: int
    agreement: float | None
    agreement_without_ties: float | None
    ties: float | None
    left: float | None
    circles: int


@dataclass(frozen=True)
class AgreementReport:
    """Agreement on the pairs asked, on all implied preferences, and on preferences inferred from grades."""

    asked: AgreementTable
    implied: AgreementTable
    grades: AgreementTable
    chi_square: ChiSquare | None
    assessors: list[AssessorQuality]


@dataclass(frozen=True)
class View:
    """What an assessor's answers say or imply about a pair; ``prefers`` is None for a tie."""

    assessor: str
    prefers: str | None
    asked: bool


@dataclass(frozen=True)
class Disagreement:
    """Two documents on which assessors disagree."""

    topic_key: str
    documents: list[ShownDocument]
    opposed: int
    views: list[View]


@dataclass(frozen=True)
class TopDocument(PlacedDocument):
    """A document of the top k with its evidence: comparisons won, tied and lost, and grades."""

    won: int
    tied: int
    lost: int
    grades: list[int]
    in_top_of: int


@dataclass(frozen=True)
class Evidence:
    """The top k of a topic; ``complete`` is the number of complete labellings behind it."""

    complete: int
    top: list[TopDocument]
    tied_out: list[str]
    bad: list[str]


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
        seconds=_number(seconds),
        median_seconds=_number(median_seconds),
        judgments_per_query=_number(judgments_per_query),
        minutes_per_query=_number(minutes),
        histogram=[counts[i] for i in range(len(BINS) + 1)],
    )


def agreement_report(records: list[Record]) -> AgreementReport:
    """The tables of the paper for the pairs asked, for all implied preferences, and for grades."""
    judgments = judgments_of(records)
    asked = pairs_judged(judgments.preferences)
    implied = pairs_judged(implied_preferences(judgments.preferences))
    graded = pairs_by_grades(judgments.grades)
    return AgreementReport(
        _table(agreement(asked), asked),
        _table(agreement(implied), implied),
        _table(agreement(graded), graded),
        _chi_square(agreement(implied), agreement(graded)),
        _quality(judgments.preferences),
    )


def _chi_square(preferences: Agreement, grades: Agreement) -> ChiSquare | None:
    try:
        return chi_square(preferences, grades)
    except InputError:  # one of the two has no comparisons yet
        return None


def _quality(preferences: Sequence[Preference]) -> list[AssessorQuality]:
    """Agreement is measured on implied preferences (few pairs are asked twice), the rest on the answers."""
    asked = assessor_quality(preferences)
    implied = assessor_quality(implied_preferences(preferences))
    return [
        AssessorQuality(
            assessor=name,
            judgments=quality.judgments,
            agreement=_number(implied[name].agreement),
            agreement_without_ties=_number(implied[name].agreement_without_ties),
            ties=_number(quality.tie_share),
            left=_number(quality.left_share),
            circles=quality.triads.circles,
        )
        for name, quality in asked.items()
    ]


def _table(table: Agreement, pairs: JudgedPairs) -> AgreementTable:
    corrected = beyond_chance(pairs)
    compared = table.agreed + table.disagreed
    return AgreementTable(
        counts=table.counts.tolist(),
        rows=[[_number(value) for value in row] for row in table.rows.tolist()],
        compared=compared,
        overall=_number(table.overall),
        without_ties=_number(table.without_ties),
        fleiss=_number(corrected.fleiss),
        krippendorff=_number(corrected.ordinal_alpha),
    )


def disagreements(records: list[Record], limit: int = 200) -> list[Disagreement]:
    """Pairs of documents on which assessors disagree, the most contested first, then those asked."""
    judgments = judgments_of(records)
    asked = {(p.query, p.assessor, frozenset((p.a, p.b))) for p in judgments.preferences}
    pairs: JudgedPairs = {}
    for part in (pairs_judged(implied_preferences(judgments.preferences)), pairs_by_grades(judgments.grades)):
        for pair, answers in part.items():
            pairs.setdefault(pair, {}).update(answers)
    documents = {record.topic: record.task.documents for record in records}
    contested: list[Disagreement] = []
    for (query, a, b), answers in pairs.items():
        counts = Counter(answers.values())
        if len(counts) < 2:
            continue
        views = [
            View(
                assessor,
                None if answer == TIE else a if answer == FIRST else b,
                (query, assessor, frozenset((a, b))) in asked,
            )
            for assessor, answer in answers.items()
        ]
        opposed = min(counts[FIRST], len(answers) - counts[FIRST] - counts[TIE])
        contested.append(Disagreement(query, [documents[query][key] for key in (a, b)], opposed, views))
    contested.sort(key=lambda row: (-row.opposed, -sum(view.asked for view in row.views), row.topic_key))
    return contested[:limit]


def evidence(records: list[Record]) -> Evidence:
    """The top k of one topic, and the evidence for each of its documents."""
    top = top_of(records)
    if top is None:
        return Evidence(0, [], [], [])
    documents = records[0].task.documents
    judgments = judgments_of(records)
    results = [record.lab.result for record in records if record.lab.result]
    rows = []
    for place, item in zip(top.places, top.order, strict=True):
        comparisons = [p for p in judgments.preferences if item in (p.a, p.b)]
        rows.append(
            TopDocument(
                **asdict(documents[item]),
                place=place,
                won=sum(p.winner == item for p in comparisons),
                tied=sum(p.winner is None for p in comparisons),
                lost=sum(p.winner is not None and p.winner != item for p in comparisons),
                grades=[int(grade.grade) for grade in judgments.grades if grade.doc == item],
                in_top_of=sum(item in result.order for result in results),
            )
        )
    return Evidence(len(results), rows, list(top.tied_out), sorted(top.bad))


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
