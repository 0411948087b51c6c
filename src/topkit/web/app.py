"""The application: settings in, a FastAPI app out. The engine is made here and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from topkit.data.errors import InputError
from topkit.version import __version__
from topkit.web.api import labellings, projects, results, session
from topkit.web.guard import SCHEME, Sessions
from topkit.web.headers import Shield
from topkit.web.journal import Journal
from topkit.web.pages import error_page, routers
from topkit.web.records import Folds
from topkit.web.settings import Settings
from topkit.web.store import open_store

HERE = Path(__file__).parent


def create_app(settings: Settings) -> FastAPI:
    """The labelling app on the store that the settings name; the store is made where there is none."""
    store = open_store(settings)
    journal = Journal(store)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        journal.close()
        store.close()

    app = FastAPI(
        title="topkit label",
        version=__version__,
        description="Label the top k with few judgments. Sign in by POST /api/session.",
        docs_url=None,  # its scripts come from elsewhere, which the content policy forbids
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.settings, app.state.store, app.state.journal = settings, store, journal
    app.state.sessions, app.state.folds = Sessions(store, settings.session_cache_seconds), Folds()
    for part in (labellings, session, projects, results):  # routes are tried in order: judgments first
        app.include_router(part.router)
    for router in routers:
        app.include_router(router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=HERE / "static"))
    app.add_exception_handler(InputError, _bad_input)
    app.add_exception_handler(RequestValidationError, _not_as_described)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(sa.exc.IntegrityError, _clash)
    app.add_middleware(Shield, settings=settings)
    description = app.openapi()  # made once and kept by FastAPI
    description.setdefault("components", {})["securitySchemes"] = {"session": SCHEME}
    description["security"] = [{"session": []}]
    return app


def _answer(request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Words about a problem: JSON for the API, a page for people."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": detail}, status, headers)
    return error_page(request, status, detail)


async def _bad_input(request: Request, error: Exception) -> Response:
    return _answer(request, 400, str(error))


async def _not_as_described(request: Request, error: Exception) -> Response:
    """What is wrong and where, without the input: it may hold passwords, or text that JSON cannot carry."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    parts = []
    for one in error.errors():
        where = ".".join(str(place) for place in one["loc"][1:])
        parts.append(f"{where}: {one['msg']}" if where else str(one["msg"]))
    return _answer(request, 422, "; ".join(parts).encode("utf-8", "replace").decode())


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    return _answer(request, error.status_code, str(error.detail), dict(error.headers or {}))


async def _clash(request: Request, _: Exception) -> Response:
    return _answer(request, 409, "Somebody else changed the same thing at this moment. Load the page again.")
