"""Pages for everybody: signing in, one's tasks, the two tools, one's account."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.engine import Connection, RowMapping

from topkit.web import auth
from topkit.web.api.results import Folded
from topkit.web.guard import Stored, signed_in, visit_of
from topkit.web.headers import ADDRESS_POLICY, PAGE_POLICY
from topkit.web.pages.render import page
from topkit.web.records import Folds
from topkit.web.shapes import Id
from topkit.web.store import people, projects, work
from topkit.web.store.people import Visit

router = APIRouter()
Visiting = Annotated[Visit, Depends(signed_in)]


@router.get("/login")
async def login(request: Request) -> Response:
    """The form to sign in."""
    if await visit_of(request) is not None:
        return RedirectResponse("/", 303)
    return page(request, "login.html", None)


@router.get("/invite/{token}")
def invite(request: Request, token: str, store: Stored) -> Response:
    """The form that an invitation link leads to. Looking at it does not use it up."""
    number = auth.invitation_number(token)
    with store.read() as connection:
        row = None if number is None else people.get_invitation(connection, number)
    if row is None or not auth.is_signed(store.secret, token, row["expires"]):
        raise HTTPException(404, "This link is not valid, was used before, or is too old. Ask for a new one.")
    return page(request, "invite.html", None, invitation=row, token=token, least=auth.LEAST)


@router.get("/")
def home(request: Request, visit: Visiting, store: Stored, folds: Folded) -> Response:
    """One's tasks, and for admins the projects."""
    with store.read() as connection:
        tasks = [
            _task(connection, row, folds) for row in work.labellings_of(connection, person_id=visit.person.id)
        ]
        found = projects.all_projects(connection) if visit.person.role == "admin" else []
    return page(request, "home.html", visit, tasks=tasks, projects=found)


def _task(connection: Connection, row: RowMapping, folds: Folds) -> dict[str, Any]:
    """A labelling with how far it is."""
    task = work.get_task(connection, row["id"])
    assert task is not None  # noqa: S101 - its row was just read
    lab = folds.at(task, work.events_after(connection, row["id"]))
    known = lab.progress
    return {
        **row,
        "asked": known.asked,
        "likely": known.likely,
        "share": known.share,
        "done": not lab.question,
    }


@router.get("/account")
def account(request: Request, visit: Visiting) -> Response:
    """Change one's password, sign out."""
    return page(request, "account.html", visit, least=auth.LEAST)


@router.get("/label/{number}")
def label(request: Request, number: Id, visit: Visiting, store: Stored) -> Response:
    """The tool: two documents, or one with five grades."""
    with store.read() as connection:
        task = work.get_task(connection, number)
        if task is None or task.person != visit.person.id:
            raise HTTPException(404, "There is no such labelling in your work.")
        topic, project = (
            projects.get_topic(connection, task.topic),
            projects.get_project(connection, task.project),
        )
    shown = page(request, f"{task.tool}.html", visit, task=task, topic=topic, project=project)
    elsewhere = any(one.kind == "url" for one in task.documents.values())
    shown.headers["content-security-policy"] = ADDRESS_POLICY if elsewhere else PAGE_POLICY
    return shown
