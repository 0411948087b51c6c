"""Renders templates with the values that all pages share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates

from topkit.reporting.words import counted
from topkit.version import __version__
from topkit.web.store.people import Visit

templates = Jinja2Templates(directory=Path(__file__).parent.parent / "templates")
TOOL_NAMES = {"pairs": "two documents", "grades": "five grades", "both": "both tools"}


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


templates.env.filters.update(percent=_percent, counted=counted)
templates.env.globals.update(version=__version__, tool_names=TOOL_NAMES)


def page(request: Request, name: str, visit: Visit | None, status: int = 200, **values: Any) -> Response:
    """Render a template."""
    csrf = "" if visit is None else visit.csrf
    me = None if visit is None else visit.person
    return templates.TemplateResponse(request, name, {"me": me, "csrf": csrf, **values}, status)


def error_page(request: Request, status: int, detail: str) -> Response:
    """A page that explains a problem; without a session, a redirect to the sign-in form."""
    if status == 401:
        return RedirectResponse("/login", 303)
    return page(request, "error.html", None, status, detail=detail)
