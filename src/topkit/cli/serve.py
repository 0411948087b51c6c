"""``topkit serve``: score candidate lists over HTTP with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    model: Annotated[
        Path, typer.Argument(help="A model file; a newer one in its place is loaded by itself.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8080,
    max_bytes: Annotated[int, typer.Option(help="Bytes of a request at most.")] = 32 << 20,
    max_candidates: Annotated[int, typer.Option(help="Candidates of a request at most.")] = 100_000,
    max_queries: Annotated[int, typer.Option(help="Queries of a batch at most.")] = 10_000,
) -> None:
    """Serve a model over HTTP: POST /score and /batch (JSON or Arrow), GET /health, /metrics and /docs.

    Example: `topkit serve focused.model --port 8080`
    """
    from topkit.data import InputError

    try:
        import uvicorn

        from topkit.serving import Limits, ServiceSettings, create_app
    except ModuleNotFoundError as error:
        raise InputError(
            f"'topkit serve' needs the web parts ({error})", "pip install 'topkit[web]'"
        ) from None
    if min(max_bytes, max_candidates, max_queries) < 1:
        raise InputError("limits must be at least 1")
    made = create_app(ServiceSettings(model, Limits(max_bytes, max_candidates, max_queries)))
    uvicorn.run(made, host=host, port=port, access_log=False)
