"""Pages for admins: people, the material of projects, topics."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.engine import Connection, RowMapping

from topkit.web import dashboard
from topkit.web.auth import invitation_path
from topkit.web.guard import AdminVisit, Stored
from topkit.web.lookup import topic_of
from topkit.web.managed import Managed
from topkit.web.pages.lists import listed
from topkit.web.pages.render import page, project_page
from topkit.web.shapes import Id
from topkit.web.store import labellings, people, projects
from topkit.web.store.pictures import LARGEST_PICTURE, picture_names
from topkit.web.store.versions import TOPICS, versions_of

router = APIRouter()
FIRST_DOCUMENTS = 20
"""Documents listed on the page of the material."""
ROWS = 50
"""Topics or labellings per page."""


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
def material(request: Request, project: Managed) -> Response:
    """Import topics, documents, pictures and a run; assign topics."""
    topics = project.load(projects.topics_of)
    with project.read() as connection:
        total_documents, documents = projects.documents_of(connection, project.number, 0, FIRST_DOCUMENTS)
        assessors = _active_people(connection)
    return project_page(
        request,
        "material.html",
        project,
        topics=topics,
        listing=listed(request, topics, search=lambda row: f"{row['key']} {row['query']}", size=ROWS),
        total_documents=total_documents,
        documents=documents,
        never_judged=project.load(projects.documents_never_judged),
        pictures=project.load(picture_names),
        largest_picture=LARGEST_PICTURE >> 20,
        assessors=assessors,
    )


@router.get("/projects/{number}/settings")
def settings(request: Request, project: Managed) -> Response:
    """Rename, pause, archive or delete the project; take work back or give it to somebody else."""
    with project.read() as connection:
        rows = labellings.labellings_of(connection, project_id=project.number)
        assessors = _active_people(connection)

    def words(row: RowMapping) -> str:
        return f"{row['topic_key']} {row['query']} {row['assessor']}"

    work = listed(request, rows, search=words, size=ROWS)
    return project_page(request, "project_settings.html", project, work=work, assessors=assessors)


def _active_people(connection: Connection) -> list[people.Person]:
    return [person for person in people.everyone(connection) if person.active]


@router.get("/projects/{number}/topics/{topic}")
def topic(request: Request, project: Managed, topic: Id) -> Response:
    """The present top k of a topic with its evidence."""
    records = project.records(topic_id=topic)
    with project.read() as connection:
        topic_row = topic_of(connection, project.number, topic)
        versions = versions_of(connection, TOPICS, topic)
    return project_page(
        request,
        "topic.html",
        project,
        topic=topic_row,
        versions=versions,
        evidence=dashboard.evidence(records),
        progress=dashboard.progress(records),
    )
