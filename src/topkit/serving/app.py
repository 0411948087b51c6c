"""The scoring service: read a body within the limits, score it, and reply in the same format."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import ClientDisconnect

from topkit.serving import arrow_bodies, json_bodies
from topkit.serving.candidates import Candidates
from topkit.serving.describe import BATCH, SCORE
from topkit.serving.inbox import Inbox
from topkit.serving.metrics import ServiceMetrics
from topkit.serving.refusal import Limits, RefusedError
from topkit.serving.served import ModelFile, Served
from topkit.version import __version__

SMALL_BODY = json_bodies.SMALL_BODY
"""Largest body, in bytes, that is scored on the event loop. A larger one would delay other requests, so it is
scored in a thread."""
LARGE_AT_ONCE = 2
"""Number of larger bodies that are scored at the same time; the others wait."""
CLOSING = (408, 413, 415, 503)
"""Statuses that may be sent before the whole body was received."""
CLIENT_GONE = 499
"""Status in the metrics for clients that closed the connection before the body was complete."""

Parse = Callable[[bytes, Limits], Candidates]


@dataclass(frozen=True)
class ServiceSettings:
    """The settings of a scoring service."""

    model: Path
    limits: Limits = field(default_factory=Limits)
    poll_seconds: float = 1.0
    """How often to check the model file for changes."""


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that scores: its name in the metrics, and a parser for each content type."""

    name: str
    parsers: dict[str, Parse]

    @property
    def batch(self) -> bool:
        """True if a request may contain several queries."""
        return self.name == "batch"


ONE_QUERY = Endpoint(
    "score", {json_bodies.TYPE: json_bodies.one_query, arrow_bodies.TYPE: arrow_bodies.one_query}
)
MANY_QUERIES = Endpoint(
    "batch", {json_bodies.TYPE: json_bodies.many_queries, arrow_bodies.TYPE: arrow_bodies.many_queries}
)


class Service:
    """Answers requests with the model of a file that may be replaced at any time."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.limits = settings.limits
        self.poll_seconds = settings.poll_seconds
        self.file = ModelFile(settings.model)
        self.metrics = ServiceMetrics(self.file)
        self._inbox = Inbox(settings.limits)
        self._large_bodies = asyncio.Semaphore(LARGE_AT_ONCE)

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Watch the model file while the app runs."""
        watcher = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watcher.cancel()

    async def _watch(self) -> None:
        """Check the model file regularly; it is loaded in a thread, so requests continue meanwhile.

        ``refresh`` handles its own errors. Whatever else fails must not end the watcher, because nobody
        would notice that new models are no longer loaded.
        """
        while True:
            await asyncio.sleep(self.poll_seconds)
            try:
                await asyncio.to_thread(self.file.refresh)
            except Exception as error:
                self.file.fail(f"cannot check the model file ({type(error).__name__}: {error})")

    async def respond(self, request: Request, endpoint: Endpoint) -> Response:
        """Score the candidates of a request, or return the reason why that is not possible."""
        start = time.perf_counter()
        try:
            content_type = _content_type(request)
            with self._inbox.receiving() as incoming:
                body = await incoming.body(request)
                start = time.perf_counter()
                content, count = await self._scored(endpoint, content_type, body)
        except RefusedError as error:
            self.metrics.count(endpoint.name, error.status, time.perf_counter() - start, 0)
            # the rest of a body that was not received would be taken for the next request
            headers = {"connection": "close"} if error.status in CLOSING else None
            return JSONResponse({"error": error.reason}, status_code=error.status, headers=headers)
        except ClientDisconnect:
            self.metrics.count(endpoint.name, CLIENT_GONE, time.perf_counter() - start, 0)
            return Response(status_code=CLIENT_GONE)  # nobody receives it
        self.metrics.count(endpoint.name, 200, time.perf_counter() - start, count)
        return Response(content, media_type=content_type)

    async def _scored(self, endpoint: Endpoint, content_type: str, body: bytes) -> tuple[bytes, int]:
        """The response body and the number of candidates. Large bodies are scored in a few threads only,
        because their matrices need memory.
        """
        served = self.file.current  # read once, so that a reload does not affect this request
        if len(body) <= SMALL_BODY:
            return _score(endpoint, content_type, body, served, self.limits)
        async with self._large_bodies:
            return await asyncio.to_thread(_score, endpoint, content_type, body, served, self.limits)

    def health(self) -> dict[str, object]:
        """The model in service and the state of its file."""
        served = self.file.current
        preparation = served.ranker.preparation
        return {
            "status": "ok",
            "ranker": served.ranker.name,
            "model": served.sha256,
            "features": served.width,
            "feature_names": preparation.names if preparation else (),
            "fresh": self.file.problem is None,
            "problem": self.file.problem,
        }


def create_app(settings: ServiceSettings) -> FastAPI:
    """Create the app that serves a model file; the file is watched while the app runs."""
    service = Service(settings)
    app = FastAPI(
        title="topkit scoring service",
        version=__version__,
        description="Scores candidate lists with a topkit model.",
        lifespan=service.lifespan,
    )
    app.state.file = service.file

    @app.post("/score", summary="Score the candidates of one query", response_class=Response, **SCORE)
    async def score(request: Request) -> Response:
        return await service.respond(request, ONE_QUERY)

    @app.post("/batch", summary="Score the candidates of many queries", response_class=Response, **BATCH)
    async def batch(request: Request) -> Response:
        return await service.respond(request, MANY_QUERIES)

    @app.get("/health", summary="The model in service, and whether it is the newest file")
    async def health() -> dict[str, object]:
        """``fresh`` is false if a newer file could not be loaded; ``problem`` then gives the reason."""
        return service.health()

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    @app.get("/", include_in_schema=False)
    async def start() -> Response:
        return RedirectResponse("docs")  # relative, so that it works behind a proxy with a path

    return app


def _score(
    endpoint: Endpoint, content_type: str, body: bytes, served: Served, limits: Limits
) -> tuple[bytes, int]:
    """The response body and the number of candidates."""
    candidates = endpoint.parsers[content_type](body, limits)
    scores = served.score(candidates)
    if content_type == arrow_bodies.TYPE:
        return arrow_bodies.answer(scores, served.sha256), len(scores)
    content = json_bodies.answer(scores, candidates.ptr, served.sha256, batch=endpoint.batch)
    return content, len(scores)


def _content_type(request: Request) -> str:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in (json_bodies.TYPE, arrow_bodies.TYPE):
        raise RefusedError(
            415,
            f"unsupported content type {content_type!r}; send {json_bodies.TYPE} or {arrow_bodies.TYPE}",
        )
    return content_type
