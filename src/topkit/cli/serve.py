"""``topkit serve``: score candidate lists over HTTP with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def serve(
    model: Annotated[
        Path, Argument(help="A model file; a newer file of the same name is loaded automatically.")
    ],
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on.")] = 8080,
    max_bytes: Annotated[int, Option(help="Largest request in bytes.")] = 32 << 20,
    max_candidates: Annotated[int, Option(help="Most candidates per request.")] = 100_000,
    max_queries: Annotated[int, Option(help="Most queries per batch.")] = 10_000,
) -> None:
    """Serve a model over HTTP: POST /score and /batch (JSON or Arrow), GET /health, /metrics and /docs.

    Example: `topkit serve focused.model --port 8080`
    """
    from topkit.compute import require
    from topkit.data import InputError

    if min(max_bytes, max_candidates, max_queries) < 1:
        raise InputError("limits must be at least 1")
    uvicorn = require("uvicorn", "serve")
    require("fastapi", "serve")
    from topkit.serving import Limits, ServiceSettings, create_app

    app = create_app(ServiceSettings(model, Limits(max_bytes, max_candidates, max_queries)))
    uvicorn.run(app, host=host, port=port, access_log=False)
