"""Pages for admins: people, the material of projects, topics."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from topkit.web import dashboard
from topkit.web.auth import invitation_path
from topkit.web.guard import AdminVisit, Cached, Stored
from topkit.web.lookup import project_of, project_records, topic_of
from topkit.web.pages.render import page
from topkit.web.shapes import LARGEST_NUMBER, Id
from topkit.web.store import labellings, people, projects

router = APIRouter()
FIRST_DOCUMENTS = 20
"""Documents listed on the page of the material."""
ROWS = 50
"""Topics or labellings per page."""
First = Annotated[int, Query(ge=0, le=LARGEST_NUMBER)]


@router.get("/people")
def everybody(request: Request, visit: AdminVisit, store: Stored) -> Response:
    """People and invitations."""
    with store.read() as connection:
        persons, rows = people.everyone(connection), people.open_invitations(connection)
    base = str(request.base_url).rstrip("/")
    invitations = [
        {**row, "link": base + invitation_path(store.secret, row["id"], row["expires"])} for row in rows
    ]
    return page(request, "people.html", visit, people=persons, invitations=invitations)


@router.get("/projects/new")
def new(request: Request, visit: AdminVisit) -> Response:
    """The form for a new project."""
    return page(request, "project_new.html", visit, strategies=projects.pair_strategies())


@router.get("/projects/{number}/material")
def material(request: Request, number: Id, visit: AdminVisit, store: Stored, first: First = 0) -> Response:
    """Import topics, documents and a run; assign topics."""
    with store.read() as connection:
        row, topics = project_of(connection, number), projects.topics_of(connection, number)
        total_documents, documents = projects.documents_of(connection, number, 0, FIRST_DOCUMENTS)
        assessors = [person for person in people.everyone(connection) if person.active]
        never_judged = projects.documents_never_judged(connection, number)
    return page(
        request,
        "material.html",
        visit,
        project=row,
        never_judged=never_judged,
        first=first,
        count=ROWS,
        topics=topics,
        total_documents=total_documents,
        documents=documents,
        assessors=assessors,
    )


@router.get("/projects/{number}/settings")
def settings(request: Request, number: Id, visit: AdminVisit, store: Stored, first: First = 0) -> Response:
    """Rename, pause, archive or delete the project; take work back or give it to somebody else."""
    with store.read() as connection:
        row, work = project_of(connection, number), labellings.labellings_of(connection, project_id=number)
        assessors = [person for person in people.everyone(connection) if person.active]
    return page(
        request,
        "project_settings.html",
        visit,
        project=row,
        work=work[first : first + ROWS],
        total=len(work),
        first=first,
        count=ROWS,
        assessors=assessors,
    )


@router.get("/projects/{number}/topics/{topic}")
def topic(
    request: Request, number: Id, topic: Id, visit: AdminVisit, store: Stored, cache: Cached
) -> Response:
    """The present top k of a topic with its evidence."""
    records = project_records(store, number, cache, topic_id=topic)
    with store.read() as connection:
        project_row, topic_row = project_of(connection, number), topic_of(connection, number, topic)
        versions = projects.versions_of(connection, topic)
    return page(
        request,
        "topic.html",
        visit,
        project=project_row,
        topic=topic_row,
        versions=versions,
        evidence=dashboard.evidence(records),
        progress=dashboard.progress(records),
    )
