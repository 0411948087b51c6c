"""The dashboard of a project: progress, pace, agreement, disagreements, and the top k with its evidence.

The dataclasses here are also the responses of the API.
"""

from topkit.web.dashboard.agreements import (
    AgreementReport,
    GroupAgreement,
    agreement_by_assessors,
    agreement_by_topic,
    agreement_report,
)
from topkit.web.dashboard.disagreements import Disagreement, disagreements
from topkit.web.dashboard.glance import Glance, glance
from topkit.web.dashboard.gold_scores import GoldMistake, GoldScore, gold_scores
from topkit.web.dashboard.times import UnusualTime, unusual_times
from topkit.web.dashboard.top import Evidence, evidence
from topkit.web.dashboard.work import LabellingProgress, Pace, Summary, pace, progress, summary

__all__ = [
    "AgreementReport",
    "Disagreement",
    "Evidence",
    "Glance",
    "GoldMistake",
    "GoldScore",
    "GroupAgreement",
    "LabellingProgress",
    "Pace",
    "Summary",
    "UnusualTime",
    "agreement_by_assessors",
    "agreement_by_topic",
    "agreement_report",
    "disagreements",
    "evidence",
    "glance",
    "gold_scores",
    "pace",
    "progress",
    "summary",
    "unusual_times",
]
