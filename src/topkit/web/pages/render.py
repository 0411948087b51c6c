"""Renders templates with the values that all pages share."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates

from topkit.version import __version__
from topkit.web.pages.translate import environment, language_of
from topkit.web.store.people import Visit


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _moment(seconds: float) -> str:
    """A point in time, in UTC: the server does not know the time zone of the reader."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


@cache
def _templates(language: str) -> Jinja2Templates:
    env = environment(language)
    env.filters.update(percent=_percent, moment=_moment)
    env.globals.update(version=__version__)
    return Jinja2Templates(env=env)


def page(request: Request, name: str, visit: Visit | None, status: int = 200, **values: Any) -> Response:
    """Render a template in the language of the person."""
    csrf = "" if visit is None else visit.csrf
    me = None if visit is None else visit.person
    templates = _templates(language_of(request).code)
    shared = {"me": me, "csrf": csrf, "root": request.scope.get("root_path", "")}
    return templates.TemplateResponse(request, name, {**shared, **values}, status)


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
        asked = request.url.path.removeprefix(request.scope.get("root_path", "")) + (
            f"?{request.url.query}" if request.url.query else ""
        )
        return RedirectResponse("/login" if asked == "/" else f"/login?{urlencode({'next': asked})}", 303)
    return page(request, "error.html", None, status, detail=language_of(request).text(detail))
