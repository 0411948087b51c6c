"""Pages with the results of a project: progress, and agreement."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web import dashboard
from topkit.web.exports import EXPORTS
from topkit.web.guard import AdminVisit, Cached, Stored
from topkit.web.lookup import project_of, project_records
from topkit.web.pages.charts import bars, histogram
from topkit.web.pages.lists import listed
from topkit.web.pages.render import page
from topkit.web.shapes import Id
from topkit.web.store import projects, quality

router = APIRouter()


@router.get("/projects/{number}")
def project(request: Request, number: Id, visit: AdminVisit, store: Stored, cache: Cached) -> Response:
    """The dashboard of a project: progress and pace with plots."""
    records = project_records(store, number, cache)
    with store.read() as connection:
        row = project_of(connection, number)
        topics = projects.topics_of(connection, number)
        total_documents, _ = projects.documents_of(connection, number, 0, 1)
    pace = dashboard.pace(records)
    plots = {
        "topics": bars(dashboard.summary(records, "topic_key")),
        "assessors": bars(dashboard.summary(records, "assessor")),
        "pace": {tool: histogram(pace.bins, table.histogram) for tool, table in pace.tools.items()},
    }
    labellings = listed(
        request,
        dashboard.progress(records),
        search=lambda row: f"{row.topic_key} {row.query} {row.assessor} {'complete' if row.done else 'open'}",
        sorts={
            "topic": lambda row: row.topic_key,
            "assessor": lambda row: row.assessor,
            "judgments": lambda row: row.asked,
            "left": lambda row: row.likely,
            "status": lambda row: row.done,
        },
    )
    return page(
        request,
        "project.html",
        visit,
        project=row,
        topics=topics,
        total_documents=total_documents,
        pace=pace,
        plots=plots,
        progress=labellings,
        exports=EXPORTS,
        card=dashboard.glance(records),
    )


@router.get("/projects/{number}/agreement")
def agreement(request: Request, number: Id, visit: AdminVisit, store: Stored, cache: Cached) -> Response:
    """How far assessors agree: in total, on each topic, and every two of them."""
    records = project_records(store, number, cache)
    with store.read() as connection:
        row = project_of(connection, number)
        decisions = quality.adjudications_of(connection, number)
    contested = dashboard.disagreements(records, decisions)
    sorts = {
        "name": lambda group: group.name,
        "compared": lambda group: group.compared,
        "agreement": lambda group: -1.0 if group.agreement is None else group.agreement,
    }
    by_topic, by_assessors = (
        listed(request, groups, name=name, search=lambda group: group.name, sorts=sorts)
        for name, groups in (
            ("topics-", dashboard.agreement_by_topic(records)),
            ("people-", dashboard.agreement_by_assessors(records)),
        )
    )
    return page(
        request,
        "agreement.html",
        visit,
        project=row,
        report=dashboard.agreement_report(records),
        by_topic=by_topic,
        by_assessors=by_assessors,
        contested=len(contested),
        unsettled=sum(pair.settled is None for pair in contested),
    )
