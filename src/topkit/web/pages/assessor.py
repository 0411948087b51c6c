"""Pages for everybody: sign-in, tasks, the two labelling tools, the account."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from markupsafe import Markup

from topkit.web.auth import SHORTEST_PASSWORD
from topkit.web.guard import Cached, SomeoneVisit, Stored, settings_of, visit_of
from topkit.web.headers import PAGE_POLICY, URL_POLICY
from topkit.web.lookup import open_invitation
from topkit.web.pages.lists import Listing, listed
from topkit.web.pages.render import own_path, page, redirect
from topkit.web.pages.translate import COOKIE as LANGUAGE_COOKIE
from topkit.web.pages.translate import languages
from topkit.web.records import standings_of
from topkit.web.shapes import Id
from topkit.web.store import labellings, projects
from topkit.web.store.models import models_of
from topkit.web.store.pictures import pictures_of
from topkit.web.viewing import markdown_html

router = APIRouter()


@router.get("/login")
async def login(request: Request) -> Response:
    """The sign-in form."""
    after = own_path(request.query_params.get("next", ""))
    if await visit_of(request) is not None:
        return redirect(request, after)
    return page(request, "login.html", None, next=after, oidc=request.app.state.oidc)


@router.get("/language/{code}")
async def choose_language(request: Request, code: str) -> Response:
    """Choose the language of the pages."""
    response = redirect(request, "/")
    if code in languages():
        response.set_cookie(
            LANGUAGE_COOKIE,
            code,
            max_age=365 * 86_400,
            path=settings_of(request).root or "/",
            httponly=True,
            samesite="lax",
        )
    return response


@router.get("/invite/{token}")
def invite(request: Request, token: str, store: Stored) -> Response:
    """The form behind an invitation link. Opening it does not use the link up."""
    invitation = open_invitation(store, token)
    return page(request, "invite.html", None, invitation=invitation, token=token, shortest=SHORTEST_PASSWORD)


@router.get("/")
def home(request: Request, visit: SomeoneVisit, store: Stored, cache: Cached) -> Response:
    """The person's tasks, and the projects for admins. Only what is shown is computed."""
    with store.read() as connection:
        rows = labellings.labellings_of(connection, person_id=visit.person.id)
        listing: Listing[Any] = listed(
            request, rows, name="work-", search=lambda row: f"{row['query']} {row['project_name']}"
        )
        standings = standings_of(connection, listing.rows, cache)
        pairs = zip(listing.rows, standings, strict=True)
        tasks = replace(listing, rows=[{**row, **standing._asdict()} for row, standing in pairs])
        all_projects = projects.all_projects(connection) if visit.person.role == "admin" else []
    shown = listed(request, all_projects, search=lambda row: str(row["name"]), size=12)
    return page(request, "home.html", visit, tasks=tasks, projects=shown)


@router.get("/account")
def account(request: Request, visit: SomeoneVisit) -> Response:
    """Change the password, sign out."""
    return page(request, "account.html", visit, shortest=SHORTEST_PASSWORD)


@router.get("/label/{number}")
def label(request: Request, number: Id, visit: SomeoneVisit, store: Stored) -> Response:
    """The tool: two documents, or one document with five grades."""
    with store.read() as connection:
        task = labellings.get_task(connection, number)
        if task is None or task.person != visit.person.id:
            raise HTTPException(404, "There is no such labelling in your work.")
        topic = projects.get_topic(connection, task.topic)
        project = projects.get_project(connection, task.project)
        suggests = any(row["suggest"] for row in models_of(connection, task.project))
        instructions = "" if project is None else str(project["instructions"])
        guide = Markup(markdown_html(instructions, pictures_of(connection, task.project)))  # noqa: S704 - safe HTML
    response = page(
        request,
        f"{task.tool}.html",
        visit,
        task=task,
        topic=topic,
        project=project,
        guide=guide,
        suggests=suggests,
    )
    has_urls = any(document.kind == "url" for document in task.documents.values())
    response.headers["content-security-policy"] = URL_POLICY if has_urls else PAGE_POLICY
    return response
