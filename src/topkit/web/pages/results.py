"""Pages with the results of a project: progress, and agreement."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from topkit.web import dashboard
from topkit.web.managed import Managed
from topkit.web.pages.charts import bars, histogram
from topkit.web.pages.lists import listed
from topkit.web.pages.quality import disagreements_of
from topkit.web.pages.render import project_page
from topkit.web.store import projects

router = APIRouter()


@router.get("/projects/{number}")
def results(request: Request, project: Managed) -> Response:
    """The dashboard of a project: progress and pace with plots."""
    records = project.records()
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
    return project_page(
        request,
        "project.html",
        project,
        topics=project.load(projects.topics_of),
        total_documents=project.load(projects.count_documents),
        pace=pace,
        plots=plots,
        progress=labellings,
        card=dashboard.glance(records),
    )


@router.get("/projects/{number}/agreement")
def agreement(request: Request, project: Managed) -> Response:
    """How far assessors agree: in total, on each topic, and every two of them."""
    records, contested = project.records(), disagreements_of(project)
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
    return project_page(
        request,
        "agreement.html",
        project,
        report=dashboard.agreement_report(records),
        by_topic=by_topic,
        by_assessors=by_assessors,
        contested=len(contested),
        unsettled=sum(pair.settled is None for pair in contested),
    )
