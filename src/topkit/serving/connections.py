"""Connections: the server closes those that stall, so that they cannot use up its sockets and memory."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 400
"""More get 503. Below 1,024, the usual limit of open files per process."""
SPARE_CONNECTIONS = 100
"""Connections above the limit that are kept open for a 503; more are closed without a reply."""
HEADER_BYTES = 64 << 10
"""Largest request header, in bytes."""


class PatientProtocol(HttpToolsProtocol):
    """HTTP with limits for clients that stall: one that does not send a request, or not read the response.

    uvicorn closes connections that are idle after a response, but waits for ever for the first request, for
    the rest of a header, and for a client that does not read. Bodies have their own time limit in the app.
    """

    seconds = 30.0
    most = MAX_CONNECTIONS + SPARE_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._header_bytes = 0
        self._running: Any = None
        self._last_check: tuple[Any, int] = (None, 0)
        self._timer: asyncio.TimerHandle | None = None
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._timer = self.loop.call_later(self.seconds, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        # uvicorn marks only the newest request as gone; an earlier pipelined one would use a closed socket
        self.flow.read_paused = False
        if self._running is not None:
            self._running.disconnected = True
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._header_bytes = self._header_bytes + len(data) if self._waits_for_header() else 0
        if self._header_bytes > HEADER_BYTES:
            self.transport.abort()

    def _waits_for_header(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _check(self) -> None:
        """Close the connection if it still waits for the same header, or for the same bytes to be read."""
        state = (self.cycle, self.transport.get_write_buffer_size())
        stalled = self._waits_for_header() or state[1] > 0
        if stalled and state == self._last_check:
            self.transport.abort()
            return
        self._last_check = state
        self._timer = self.loop.call_later(self.seconds, self._check)


def server_config(
    app: Any, *, seconds: float = 30.0, connections: int = MAX_CONNECTIONS, **options: Any
) -> uvicorn.Config:
    """The configuration of a server that closes stalled connections.

    More than ``connections`` connections at a time get 503. ``seconds`` is the time for a request header.
    """
    protocol = type(
        "ServiceProtocol",
        (PatientProtocol,),
        {"seconds": seconds, "most": connections + SPARE_CONNECTIONS},
    )
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        access_log=False,
        limit_concurrency=connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=10,
        **options,
    )
