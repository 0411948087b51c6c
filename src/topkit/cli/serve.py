"""``topkit serve``: score candidate lists over HTTP with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def serve(
    model: Annotated[
        Path, Argument(help="A model file; a newer file of the same name is loaded automatically.")
    ],
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on.")] = 8080,
    max_bytes: Annotated[int, Option(help="Largest request in bytes.")] = 16 << 20,
    max_candidates: Annotated[int, Option(help="Most candidates per request.")] = 100_000,
    max_queries: Annotated[int, Option(help="Most queries per batch.")] = 10_000,
    max_connections: Annotated[int, Option(help="Most connections; more get 503.")] = 400,
    receive_seconds: Annotated[
        float, Option(help="Time for the header of a request, and again for its body.")
    ] = 30.0,
) -> None:
    """Serve a model over HTTP: POST /score and /batch (JSON or Arrow), GET /health, /metrics and /docs.

    Example: `topkit serve focused.model --port 8080`
    """
    from topkit.compute import require
    from topkit.data import InputError

    if min(max_bytes, max_candidates, max_queries, max_connections) < 1:
        raise InputError("limits must be at least 1")
    if not 0 < receive_seconds < float("inf"):
        raise InputError("--receive-seconds must be a positive number")
    uvicorn = require("uvicorn", "serve")
    require("fastapi", "serve")
    from topkit.serving import Limits, ServiceSettings, create_app
    from topkit.serving.connections import server_config

    limits = Limits(max_bytes, max_candidates, max_queries, seconds=receive_seconds)
    app = create_app(ServiceSettings(model, limits))
    config = server_config(app, seconds=receive_seconds, connections=max_connections, host=host, port=port)
    server = uvicorn.Server(config)
    server.run()
    if not server.started:
        raise typer.Exit(3)
