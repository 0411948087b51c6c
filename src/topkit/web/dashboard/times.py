"""Judgments that were unusually fast or slow for their assessor."""

from __future__ import annotations

from dataclasses import dataclass

from topkit.data.judgments import Preference
from topkit.labelling.agreement.outliers import time_outliers
from topkit.web.records import Record, judgments_of


@dataclass(frozen=True)
class UnusualTime:
    """A judgment with an unusual time; a negative score means fast."""

    assessor: str
    topic_key: str
    documents: list[str]
    seconds: float
    median: float
    score: float
    time: float


def unusual_times(records: list[Record]) -> list[UnusualTime]:
    """The judgments of a project with unusual times, the most unusual first."""
    judgments = judgments_of(records)
    rows = []
    for judgment, median, score in time_outliers((*judgments.preferences, *judgments.grades)):
        documents = [judgment.a, judgment.b] if isinstance(judgment, Preference) else [judgment.doc]
        shown = (judgment.assessor, judgment.query, documents, judgment.seconds)
        rows.append(UnusualTime(*shown, round(median, 2), round(score, 2), judgment.time))
    return rows
