"""The service: read a body within the limits, score it with the model of the moment, answer in kind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from topkit.serving import arrow_bodies, json_bodies
from topkit.serving.candidates import Candidates
from topkit.serving.describe import BATCH, SCORE
from topkit.serving.meters import Meters
from topkit.serving.refusal import Limits, RefusedError
from topkit.serving.served import ModelFile
from topkit.version import __version__

SMALL_BODY = 1 << 19
"""Bytes up to which a request is scored between two turns of the event loop; larger ones go to a thread."""

Parse = Callable[[bytes, Limits], Candidates]


@dataclass(frozen=True)
class ServiceSettings:
    """What a service is made of."""

    model: Path
    limits: Limits = field(default_factory=Limits)
    poll_seconds: float = 1.0
    """How often the model file is looked at."""


def create_app(settings: ServiceSettings) -> FastAPI:
    """The service around a model file; the file is watched while the service runs."""
    file = ModelFile(settings.model)
    meters = Meters()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        watcher = asyncio.create_task(_watch(file, settings.poll_seconds))
        yield
        watcher.cancel()

    app = FastAPI(
        title="topkit scoring service",
        version=__version__,
        description="Scores candidate lists with a topkit model.",
        lifespan=lifespan,
    )
    app.state.file = file

    async def serve(request: Request, parse: Mapping[str, Parse], *, batch: bool) -> Response:
        endpoint = "batch" if batch else "score"
        start = time.perf_counter()
        try:
            kind = _content_type(request)
            body = await _body(request, settings.limits)
            start = time.perf_counter()
            served = file.current  # taken once: a swap does not touch this request

            def work() -> tuple[bytes, int]:
                found = parse[kind](body, settings.limits)
                scores = served.score(found)
                if kind == arrow_bodies.TYPE:
                    return arrow_bodies.answer(scores, served.sha256), len(scores)
                return json_bodies.answer(scores, found.ptr, served.sha256, batch=batch), len(scores)

            if len(body) <= SMALL_BODY:
                content, count = work()
            else:
                content, count = await asyncio.to_thread(work)
        except RefusedError as error:
            meters.count(endpoint, error.status, time.perf_counter() - start, 0)
            return _refusal(error)
        meters.count(endpoint, 200, time.perf_counter() - start, count)
        return Response(content, media_type=kind)

    @app.post("/score", summary="Score the candidates of one query", response_class=Response, **SCORE)
    async def score(request: Request) -> Response:
        parse = {json_bodies.TYPE: json_bodies.one_query, arrow_bodies.TYPE: arrow_bodies.one_query}
        return await serve(request, parse, batch=False)

    @app.post("/batch", summary="Score the candidates of many queries", response_class=Response, **BATCH)
    async def batch(request: Request) -> Response:
        parse = {json_bodies.TYPE: json_bodies.many_queries, arrow_bodies.TYPE: arrow_bodies.many_queries}
        return await serve(request, parse, batch=True)

    @app.get("/health", summary="The model in service, and whether its file is the newest")
    async def health() -> dict[str, object]:
        """``fresh`` is false where a newer file could not be loaded; ``problem`` then says why."""
        ranker = file.current.ranker
        return {
            "status": "ok",
            "ranker": ranker.name,
            "model": file.current.sha256,
            "features": file.current.width,
            "feature_names": ranker.preparation.names if ranker.preparation else (),
            "fresh": file.problem is None,
            "problem": file.problem,
        }

    @app.get("/metrics", summary="Counts and times for Prometheus", response_class=Response)
    async def metrics() -> Response:
        text = meters.text(file.reloads, file.failures, file.current.ranker.name, file.current.sha256)
        return Response(text, media_type="text/plain; version=0.0.4")

    return app


async def _watch(file: ModelFile, seconds: float) -> None:
    """Look at the model file now and then; loading happens in a thread, so requests go on."""
    while True:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(file.refresh)


def _content_type(request: Request) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (json_bodies.TYPE, arrow_bodies.TYPE):
        raise RefusedError(
            415, f"the content type {kind!r} is not served; send {json_bodies.TYPE} or {arrow_bodies.TYPE}"
        )
    return kind


async def _body(request: Request, limits: Limits) -> bytes:
    """The whole body; refused as soon as it is known to be too long, without reading the rest."""
    told = request.headers.get("content-length", "0")
    too_long = RefusedError(413, f"the body is longer than the limit of {limits.bytes} bytes")
    if told.isdigit() and int(told) > limits.bytes:
        raise too_long
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > limits.bytes:
            raise too_long
        pieces.append(piece)
    return b"".join(pieces)


def _refusal(error: RefusedError) -> Response:
    return JSONResponse({"error": error.reason}, status_code=error.status)
