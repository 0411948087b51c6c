"""Requests to the scoring service: without a network, and through a real server."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn


def ask(app: Any, method: str, path: str, **request: Any) -> httpx.Response:
    """Send one request directly to the application."""

    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return await client.request(method, path, **request)

    return asyncio.run(go())


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Run the application in a real server on a free port; gives its URL."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


def run_topkit(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a command of topkit in another process."""
    command = [sys.executable, "-m", "topkit", *map(str, words)]
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
