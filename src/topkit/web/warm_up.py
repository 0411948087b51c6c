"""What FastAPI and Jinja otherwise build at the first request; the server builds it before the first one."""

from __future__ import annotations

from fastapi import FastAPI

from topkit.web.pages.render import compile_templates


def warm_up(app: FastAPI) -> None:
    """Build the routes and compile the templates."""
    scope = {"type": "http", "method": "GET", "path": "/-", "root_path": "", "headers": []}
    for route in app.router.routes:  # FastAPI builds the routes of a router when it is asked for a match
        route.matches(scope)
    compile_templates()
