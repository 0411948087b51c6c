"""Quality: gold questions, adjudication, unusual times, remarks of assessors, and the audit log."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, UploadFile
from pydantic import BaseModel, Field

from topkit.web import audit_log, dashboard
from topkit.web.api.material import uploaded
from topkit.web.gold_files import read_gold
from topkit.web.guard import Admin, Stored
from topkit.web.lookup import existing, topic_of
from topkit.web.managed import Managed
from topkit.web.shapes import LARGEST_NUMBER, PROBLEMS, Body, Id, Key, LongText, Message
from topkit.web.store import quality
from topkit.web.store.quality import GoldRow
from topkit.web.webhooks import enqueue

router = APIRouter(prefix="/api", tags=["quality"], responses=PROBLEMS)


class GoldIn(Body):
    """A question with a known answer; without ``b``, the answer is the grade of document ``a``."""

    topic: Key
    a: Key
    b: Key | None = None
    answer: Annotated[str, Field(max_length=20, description="a, b or tie; or a grade.")]
    note: LongText = ""


class GoldOut(GoldIn):
    """A gold question."""

    id: int
    person: str
    created: float


class Rate(Body):
    """Which share of the questions are gold questions; 0 turns them off."""

    rate: float = Field(ge=0, le=0.5)


class GoldReport(BaseModel):
    """The accuracy of each assessor on gold questions, and the wrong answers."""

    scores: list[dashboard.GoldScore]
    mistakes: list[dashboard.GoldMistake]


class DecisionIn(Body):
    """How a pair is settled. "open" withdraws the decision. ``gold``: use the pair as a gold question too."""

    a: Key
    b: Key
    verdict: Literal["a", "b", "tie", "open"]
    reason: LongText = ""
    gold: bool = False


class DecisionOut(BaseModel):
    """A decision about a pair: by whom, when and why."""

    id: int
    topic_key: str
    a: str
    b: str
    verdict: str
    reason: str
    person: str
    time: float


class RemarkOut(BaseModel):
    """A flag or a comment of an assessor."""

    id: int
    topic_key: str
    assessor: str
    a: str
    b: str | None
    flagged: bool
    text: str
    time: float
    resolved: float | None
    resolver: str | None


class AuditEntry(BaseModel):
    """A change: who, when, what."""

    id: int
    time: float
    person: str
    action: str
    project: int | None
    detail: dict[str, Any]


class AuditOut(BaseModel):
    """A part of the audit log, the newest entry first."""

    total: int
    entries: list[AuditEntry]


# -- gold questions ----------------------------------------------------------------------------------------
@router.get("/projects/{number}/gold")
def gold_questions(project: Managed) -> list[GoldOut]:
    """The gold questions of a project."""
    rows = project.load(quality.gold_of)
    names = set(GoldOut.model_fields) - {"topic"}
    return [GoldOut(topic=row["topic_key"], **{name: row[name] for name in names}) for row in rows]


@router.post("/projects/{number}/gold", status_code=201)
def add_gold(project: Managed, body: GoldIn) -> Message:
    """Add a gold question. One with the same documents gets the new answer."""
    with project.write() as connection:
        quality.add_gold(connection, project.number, [GoldRow(**body.model_dump())], project.admin)
    return Message(message="The gold question was saved.")


@router.post("/projects/{number}/gold/import", status_code=201)
def import_gold(project: Managed, file: UploadFile) -> Message:
    """Import gold questions: CSV with the columns topic, a, b, answer and, optionally, note."""
    with uploaded(file) as path:
        rows = read_gold(path)
        with project.write() as connection:
            new = quality.add_gold(connection, project.number, rows, project.admin)
    return Message(message=f"Gold questions: {new} new, {len(rows) - new} changed.")


@router.delete("/projects/{number}/gold/{gold}")
def remove_gold(project: Managed, gold: Id) -> Message:
    """Remove a gold question. Answers to it no longer count for accuracy."""
    return project.remove(quality.remove_gold, gold, "gold question")


@router.put("/projects/{number}/gold-rate")
def set_rate(project: Managed, body: Rate) -> Message:
    """Set which share of the questions are gold questions."""
    with project.write() as connection:
        quality.set_gold_rate(connection, project.number, body.rate)
    return Message(message=f"{100 * body.rate:g} % of the questions are gold questions.")


@router.get("/projects/{number}/gold-scores")
def gold_scores(project: Managed) -> GoldReport:
    """The accuracy of each assessor on gold questions over time, and the wrong answers."""
    scores, mistakes = dashboard.gold_scores(project.records(), project.load(quality.gold_by_topic))
    return GoldReport(scores=scores, mistakes=mistakes)


# -- adjudication ------------------------------------------------------------------------------------------
@router.get("/projects/{number}/decisions")
def decisions(project: Managed) -> list[DecisionOut]:
    """All decisions, also those that were replaced or withdrawn later."""
    return [DecisionOut(**row) for row in project.load(quality.adjudications_of)]


@router.post("/projects/{number}/topics/{topic}/decisions", status_code=201)
def decide(project: Managed, topic: Id, body: DecisionIn) -> Message:
    """Settle a pair of documents. The top k of the topic follows the decision."""
    with project.write() as connection:
        row = topic_of(connection, project.number, topic)
        pair, why = (body.a, body.b), (project.admin, body.reason.strip())
        quality.adjudicate(connection, topic, pair, body.verdict, why)
        content = {"topic": row["key"], "documents": list(pair), "verdict": body.verdict}
        content |= {"person": project.admin, "reason": body.reason.strip()}
        enqueue(connection, project.number, "decision.made", content)
        if body.gold and body.verdict != "open":
            question = GoldRow(row["key"], body.a, body.b, body.verdict, body.reason.strip())
            quality.add_gold(connection, project.number, [question], project.admin)
    return Message(
        message="The decision was withdrawn." if body.verdict == "open" else "The pair is settled."
    )


# -- times and remarks -------------------------------------------------------------------------------------
@router.get("/projects/{number}/outliers")
def outliers(project: Managed) -> list[dashboard.UnusualTime]:
    """Judgments that were unusually fast or slow for their assessor, the most unusual first."""
    return dashboard.unusual_times(project.records())


@router.get("/projects/{number}/remarks")
def remarks(project: Managed) -> list[RemarkOut]:
    """The flags and comments of assessors, open ones first."""
    return [RemarkOut(**row) for row in project.load(quality.remarks_of)]


@router.post("/projects/{number}/remarks/{remark}/resolve")
def resolve(project: Managed, remark: Id) -> Message:
    """Mark a remark as dealt with."""
    with project.write() as connection:
        existing(quality.resolve_remark(connection, project.number, remark, project.admin), "open remark")
    return Message(message="The remark was marked as dealt with.")


# -- audit log ---------------------------------------------------------------------------------------------
@router.get("/audit")
def audit(
    _: Admin,
    store: Stored,
    project: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None,
    q: Annotated[str, Query(max_length=200)] = "",
    first: Annotated[int, Query(ge=0, le=LARGEST_NUMBER)] = 0,
    count: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> AuditOut:
    """The audit log: every change except judgments, which are a log themselves."""
    with store.read() as connection:
        total, rows = audit_log.entries(connection, project, q, first, count)
    entries = [AuditEntry(**{**row, "detail": json.loads(row["detail"])}) for row in rows]
    return AuditOut(total=total, entries=entries)
