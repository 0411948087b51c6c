"""The scoring service: read a body within the limits, score it, and reply in the same format."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from topkit.serving import arrow_bodies, json_bodies
from topkit.serving.candidates import Candidates
from topkit.serving.describe import BATCH, SCORE
from topkit.serving.metrics import ServiceMetrics
from topkit.serving.refusal import Limits, RefusedError
from topkit.serving.served import ModelFile, Served
from topkit.version import __version__

SMALL_BODY = 1 << 19
"""Largest body, in bytes, that is scored on the event loop. A larger one would delay other requests, so it is
scored in a thread."""

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

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Watch the model file while the app runs."""
        watcher = asyncio.create_task(self._watch())
        yield
        watcher.cancel()

    async def _watch(self) -> None:
        """Check the model file regularly; it is loaded in a thread, so requests continue meanwhile."""
        while True:
            await asyncio.sleep(self.poll_seconds)
            await asyncio.to_thread(self.file.refresh)

    async def respond(self, request: Request, endpoint: Endpoint) -> Response:
        """Score the candidates of a request, or return the reason why that is not possible."""
        start = time.perf_counter()
        try:
            content_type = _content_type(request)
            body = await _body(request, self.limits)
            start = time.perf_counter()
            served = self.file.current  # read once, so that a reload does not affect this request

            def score() -> tuple[bytes, int]:
                return _score(endpoint, content_type, body, served, self.limits)

            content, count = score() if len(body) <= SMALL_BODY else await asyncio.to_thread(score)
        except RefusedError as error:
            self.metrics.count(endpoint.name, error.status, time.perf_counter() - start, 0)
            return JSONResponse({"error": error.reason}, status_code=error.status)
        self.metrics.count(endpoint.name, 200, time.perf_counter() - start, count)
        return Response(content, media_type=content_type)

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


async def _body(request: Request, limits: Limits) -> bytes:
    """The whole body. A body that is too long is rejected without reading the rest of it."""
    declared = request.headers.get("content-length", "0")
    too_long = RefusedError(413, f"the body is longer than the limit of {limits.bytes} bytes")
    if declared.isdigit() and int(declared) > limits.bytes:
        raise too_long
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > limits.bytes:
            raise too_long
        pieces.append(piece)
    return b"".join(pieces)
