"""The application factory: settings in, FastAPI app out."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from topkit.data.errors import InputError
from topkit.version import __version__
from topkit.web.api import (
    labellings,
    learning,
    lifecycle,
    material,
    models,
    programs,
    projects,
    quality,
    results,
    session,
)
from topkit.web.background import Background
from topkit.web.guard import SCHEME, Sessions, Someone, Stored
from topkit.web.headers import Shield
from topkit.web.journal import Journal
from topkit.web.judging import ClosedLabellingError, InvalidAnswerError, MissingLabellingError
from topkit.web.learning import Learning
from topkit.web.models import work_for_models
from topkit.web.observe import Observer, make_registry
from topkit.web.oidc import Client, Provider
from topkit.web.pages import error_page, routers
from topkit.web.schedules import write_due
from topkit.web.settings import Settings
from topkit.web.shapes import Problem
from topkit.web.standings import LabellingCache
from topkit.web.store import open_store
from topkit.web.store.engine import database_error
from topkit.web.webhooks import deliver_due

HERE = Path(__file__).parent
log = logging.getLogger(__name__)


class LabellingApp(FastAPI):
    """FastAPI with the session cookie in its description, which is built when it is first asked for."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI description."""
        description = super().openapi()
        components = description.setdefault("components", {})
        components["securitySchemes"] = {"session": SCHEME}
        components.setdefault("schemas", {})[Problem.__name__] = Problem.model_json_schema()
        description["security"] = [{"session": []}]
        return description


def create_app(settings: Settings) -> FastAPI:
    """Create the labelling app; a database that does not exist yet is created."""
    store = open_store(settings)
    journal, cache = Journal(store), LabellingCache()
    jobs: list[Callable[[], object]] = [partial(deliver_due, store)]
    if settings.exports is not None:
        jobs.append(partial(write_due, store, settings.exports, cache))
    if settings.models:
        jobs.append(partial(work_for_models, store, journal))
    background, trainer = Background(jobs), Learning(store, cache)

    @asynccontextmanager
    async def lifespan(started: FastAPI) -> AsyncIterator[None]:
        background.start()
        yield
        background.close()
        trainer.close()
        journal.close()
        store.close()

    app = LabellingApp(
        title="topkit label",
        version=__version__,
        description="Label the top k with few judgments. Sign in with POST /api/session.",
        openapi_url=None,  # the description needs a sign-in, too
        redirect_slashes=False,
        docs_url=None,  # its scripts come from another site, which the content security policy forbids
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.settings, app.state.store, app.state.journal = settings, store, journal
    app.state.sessions, app.state.cache = Sessions(store, settings.session_cache_seconds), cache
    app.state.learning = trainer
    client = Client.from_environment()
    app.state.oidc = None if client is None else Provider(client, store.secret)
    # Judgments first: routes are tried in order.
    parts = (labellings, session, projects, results, quality, lifecycle, material, programs, models, learning)
    for part in parts:
        app.include_router(part.router)
    for router in routers:
        app.include_router(router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=HERE / "static"))
    app.add_exception_handler(InputError, _invalid_input)
    app.add_exception_handler(InvalidAnswerError, _invalid_answer)
    app.add_exception_handler(ClosedLabellingError, _closed_labelling)
    app.add_exception_handler(MissingLabellingError, _missing_labelling)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(sa.exc.IntegrityError, _conflict)
    app.add_exception_handler(sa.exc.DatabaseError, _database_problem)
    app.get("/openapi.json", include_in_schema=False)(_description)
    app.get("/health", include_in_schema=False)(_health)
    app.add_middleware(Shield, settings=settings, paths=frozenset(_paths(app.routes)))
    app.state.registry = make_registry(store)
    app.add_middleware(Observer, registry=app.state.registry)  # outermost: it sees what Shield rejects
    return app


async def _description(request: Request, _: Someone) -> dict[str, Any]:
    """The OpenAPI description."""
    description: dict[str, Any] = request.app.openapi()
    return description


def _health(request: Request, store: Stored) -> Response:
    """Whether the server can serve: for load balancers and container engines."""
    try:
        with store.read() as connection:
            connection.execute(sa.select(1))
    except sa.exc.SQLAlchemyError:
        return JSONResponse({"status": "the database does not answer"}, 503)
    return JSONResponse({"status": "ok", "version": __version__})


def _paths(routes: Sequence[Any]) -> Iterator[str]:
    """The path of every route."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from _paths(included.routes)
        elif getattr(route, "path", None) is not None:
            yield route.path or "/"


def _problem(request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """A response that explains a problem: JSON for the API, a page for people."""
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    if path.startswith("/api/") or path == "/openapi.json":
        return JSONResponse({"detail": detail}, status, headers)
    response = error_page(request, status, detail)
    response.headers.update(headers or {})
    return response


async def _invalid_input(request: Request, error: Exception) -> Response:
    return _problem(request, 400, str(error))


async def _invalid_answer(request: Request, error: Exception) -> Response:
    return _problem(request, 422, str(error))


async def _closed_labelling(request: Request, error: Exception) -> Response:
    return _problem(request, 423, str(error))


async def _missing_labelling(request: Request, _: Exception) -> Response:
    return _problem(request, 404, "There is no such labelling.")


async def _invalid_request(request: Request, error: Exception) -> Response:
    """What is wrong and where. The input is left out: it may contain passwords, or text that is not UTF-8."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type only
    parts = []
    for problem in error.errors():
        where = ".".join(str(place) for place in problem["loc"][1:])
        parts.append(f"{where}: {problem['msg']}" if where else str(problem["msg"]))
    return _problem(request, 422, "; ".join(parts).encode("utf-8", "replace").decode())


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type only
    return _problem(request, error.status_code, str(error.detail), dict(error.headers or {}))


async def _conflict(request: Request, _: Exception) -> Response:
    return _problem(request, 409, "Somebody else changed the same thing at the same time. Reload the page.")


async def _database_problem(request: Request, error: Exception) -> Response:
    """The database cannot be used: it is full, read-only, damaged or not reachable."""
    assert isinstance(error, sa.exc.DatabaseError)  # noqa: S101 - registered for this type only
    if isinstance(error, sa.exc.ProgrammingError | sa.exc.DataError):
        raise error
    problem = database_error(error)
    log.error("%s", problem)
    return _problem(request, 503, f"Nothing was saved: {problem}. Tell your admin; try again later.")
