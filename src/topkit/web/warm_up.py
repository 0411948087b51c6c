"""What FastAPI and Jinja otherwise build at the first request, built in a thread when the server starts."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from threading import Event, Thread

from fastapi import FastAPI

from topkit.web.pages.render import compile_templates

log = logging.getLogger(__name__)


class WarmUp:
    """Prepares the pages for their first visit, in a thread of its own. Requests are answered meanwhile."""

    def __init__(self, app: FastAPI) -> None:
        self._app, self._stop = app, Event()
        self._thread = Thread(target=self._run, name="warm-up", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the present step."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            for _ in steps(self._app):
                if self._stop.is_set():
                    return
        except Exception:  # requests build what is missing
            log.exception("the warm-up failed")


def steps(app: FastAPI) -> Iterator[None]:
    """Build the routes and compile the templates, one after the other."""
    scope = {"type": "http", "method": "GET", "path": "/-", "root_path": "", "headers": []}
    for route in app.router.routes:  # FastAPI builds the routes of a router when it is asked for a match
        yield None
        route.matches(scope)
    yield from compile_templates()
