"""Pages for admins: projects, people, the dashboard."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from topkit.labelling.strategies import STRATEGIES
from topkit.web import dashboard
from topkit.web.api.projects import found
from topkit.web.api.results import Folded, load
from topkit.web.api.session import link_of
from topkit.web.exports import EXPORTS
from topkit.web.guard import Stored, signed_in
from topkit.web.pages.charts import bars, histogram
from topkit.web.pages.render import page
from topkit.web.shapes import Id
from topkit.web.store import people, projects
from topkit.web.store.people import Visit


async def _admin(visit: Annotated[Visit, Depends(signed_in)]) -> Visit:
    if visit.person.role != "admin":
        raise HTTPException(403, "Only admins may see this.")
    return visit


router = APIRouter()
Visiting = Annotated[Visit, Depends(_admin)]


@router.get("/people")
def everybody(request: Request, visit: Visiting, store: Stored) -> Response:
    """People and invitations."""
    with store.read() as connection:
        there, rows = people.everyone(connection), people.open_invitations(connection)
    base = str(request.base_url).rstrip("/")
    invitations = [{**row, "link": base + link_of(store, row["id"], row["expires"])} for row in rows]
    return page(request, "people.html", visit, people=there, invitations=invitations)


@router.get("/projects/new")
def new(request: Request, visit: Visiting) -> Response:
    """The form of a new project."""
    strategies = [name for name in STRATEGIES if name != "graded"]
    return page(request, "project_new.html", visit, strategies=strategies)


@router.get("/projects/{number}")
def project(request: Request, number: Id, visit: Visiting, store: Stored, folds: Folded) -> Response:
    """The dashboard of a project: progress and pace with plots."""
    records = load(store, number, folds)
    with store.read() as connection:
        row = found(connection, number)
        topics = projects.topics_of(connection, number)
        documents, _ = projects.documents_of(connection, number, 0, 1)
    pace = dashboard.pace(records)
    plots = {
        "topics": bars(dashboard.summary(records, "topic_key")),
        "assessors": bars(dashboard.summary(records, "assessor")),
        "pace": {tool: histogram(pace["bins"], one["histogram"]) for tool, one in pace["tools"].items()},
    }
    values: dict[str, Any] = {
        "project": row,
        "topics": topics,
        "documents": documents,
        "pace": pace,
        "plots": plots,
    }
    return page(
        request, "project.html", visit, **values, progress=dashboard.progress(records), exports=EXPORTS
    )


@router.get("/projects/{number}/material")
def material(request: Request, number: Id, visit: Visiting, store: Stored) -> Response:
    """Import topics, documents and a run; assign."""
    with store.read() as connection:
        row, topics = found(connection, number), projects.topics_of(connection, number)
        documents, some = projects.documents_of(connection, number, 0, 20)
        assessors = [person for person in people.everyone(connection) if person.active]
    values: dict[str, Any] = {"project": row, "topics": topics, "documents": documents, "some": some}
    return page(request, "material.html", visit, **values, assessors=assessors)


@router.get("/projects/{number}/agreement")
def agreement(request: Request, number: Id, visit: Visiting, store: Stored, folds: Folded) -> Response:
    """How far assessors agree, and where they do not."""
    records = load(store, number, folds)
    with store.read() as connection:
        row = found(connection, number)
    tables = dashboard.agreement_tables(records)
    against = dashboard.disagreements(records)
    return page(request, "agreement.html", visit, project=row, tables=tables, disagreements=against)


@router.get("/projects/{number}/topics/{topic}")
def topic(request: Request, number: Id, topic: Id, visit: Visiting, store: Stored, folds: Folded) -> Response:
    """The present top k of a topic with its evidence."""
    records = [record for record in load(store, number, folds) if record.task.topic == topic]
    with store.read() as connection:
        row, words = found(connection, number), projects.get_topic(connection, topic)
    if words is None or words["project"] != number:
        raise HTTPException(404, "There is no such topic.")
    told: dict[str, Any] = {"evidence": dashboard.evidence(records), "progress": dashboard.progress(records)}
    return page(request, "topic.html", visit, project=row, topic=words, **told)
