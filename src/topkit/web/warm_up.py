"""What FastAPI and Jinja otherwise build at the first request, built in a thread when the server starts."""

from __future__ import annotations

from threading import Thread

from fastapi import FastAPI

from topkit.web.pages.render import compile_templates


def start_warm_up(app: FastAPI) -> None:
    """Prepare the pages for their first visit. Requests are answered meanwhile."""
    Thread(target=warm_up, args=(app,), name="warm-up", daemon=True).start()


def warm_up(app: FastAPI) -> None:
    """Build the routes and compile the templates."""
    scope = {"type": "http", "method": "GET", "path": "/-", "root_path": "", "headers": []}
    for route in app.router.routes:  # FastAPI builds the routes of a router when it is asked for a match
        route.matches(scope)
    compile_templates()
