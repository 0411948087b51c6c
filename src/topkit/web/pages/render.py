"""Renders templates with the values that all pages share."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates
from jinja2.ext import Extension

from topkit.version import __version__
from topkit.web.exports import EXPORTS
from topkit.web.lookup import project_of
from topkit.web.managed import ManagedProject
from topkit.web.pages.translate import ENGLISH, environment, language_of
from topkit.web.store.people import Visit

NEEDS_SCRIPT = "/script-needed"
"""Where a form goes that only works with a script, if there is none."""


class _Paths(Extension):
    """Adds what every template needs when it is compiled, so that templates are written as if the app were at
    the root of its host: the root of the app before each path, and what a form does without a script.

    A form that the script sends and that names no ``action`` goes to a page that says that nothing was
    changed. Such forms are always posted: otherwise the browser would put a password into the URL when the
    script is blocked.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        source = re.sub(
            r"<form(?=[^>]*\sdata-url=)(?![^>]*\saction=)", f'<form action="{NEEDS_SCRIPT}"', source
        )
        source = re.sub(r"<form(?![^>]*\smethod=)", '<form method="post"', source)
        return re.sub(r'\b(href|src|action)="/', r'\1="{{ root }}/', source)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _moment(seconds: float) -> str:
    """A point in time, in UTC: the server does not know the time zone of the reader."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


@cache
def _templates(language: str) -> Jinja2Templates:
    env = environment(language)
    env.add_extension(_Paths)
    env.filters.update(percent=_percent, moment=_moment)
    env.globals.update(version=__version__, exports=EXPORTS)
    return Jinja2Templates(env=env)


def compile_templates() -> None:
    """Compile all English templates, so that nobody waits for it."""
    env = _templates(ENGLISH).env
    for name in env.list_templates():
        env.get_template(name)


def page(request: Request, name: str, visit: Visit | None, status: int = 200, **values: Any) -> Response:
    """Render a template in the language of the person."""
    csrf = "" if visit is None else visit.csrf
    me = None if visit is None else visit.person
    templates = _templates(language_of(request).code)
    shared = {"me": me, "csrf": csrf, "root": request.scope.get("root_path", "")}
    return templates.TemplateResponse(request, name, {**shared, **values}, status)


def project_page(request: Request, name: str, project: ManagedProject, **values: Any) -> Response:
    """Render a page about a project; its row is the value ``project``. Status 404 if it does not exist."""
    with project.store.read() as connection:
        row = project_of(connection, project.number)
    return page(request, name, project.visit, project=row, **values)


def redirect(request: Request, path: str) -> Response:
    """Send the browser to another page of the app."""
    return RedirectResponse(request.scope.get("root_path", "") + path, 303)


def own_path(path: str) -> str:
    """The path if it is one of this site, else the start page: a link must not lead to another site.

    >>> own_path("/label/7"), own_path("//evil.example"), own_path("https://evil.example")
    ('/label/7', '/', '/')
    """
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own and "\\" not in path else "/"


def error_page(request: Request, status: int, detail: str) -> Response:
    """A page that explains a problem; without a session, a redirect to the sign-in form."""
    if status == 401:
        asked = request.url.path.removeprefix(request.scope.get("root_path", ""))
        asked += f"?{request.url.query}" if request.url.query else ""
        return redirect(request, "/login" if asked == "/" else f"/login?{urlencode({'next': asked})}")
    return page(request, "error.html", None, status, detail=language_of(request).text(detail))
