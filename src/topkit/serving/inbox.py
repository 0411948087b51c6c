"""Receives request bodies within limits of size and time, and a limit for all bodies together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import Request

from topkit.serving.refusal import Limits, RefusedError


class Inbox:
    """The bodies that are being received or scored, counted in bytes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bytes = 0
        self.most = max(limits.waiting_bytes, limits.bytes)  # at least one body of the largest size

    @contextmanager
    def receiving(self) -> Iterator[Incoming]:
        """Room for one body, which is free again when the block ends."""
        incoming = Incoming(self)
        try:
            yield incoming
        finally:
            self.bytes -= incoming.bytes


class Incoming:
    """One body on its way."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.bytes = 0

    async def body(self, request: Request) -> bytes:
        """The whole body. One that is too long or too slow is rejected without waiting for the rest."""
        limits = self.inbox.limits
        declared = request.headers.get("content-length", "0")
        if declared.isdecimal():
            self._check(int(declared[:19]))  # enough digits to exceed any limit
        try:
            async with asyncio.timeout(limits.seconds):
                pieces = []
                async for piece in request.stream():
                    self._check(self.bytes + len(piece))
                    self.bytes += len(piece)
                    self.inbox.bytes += len(piece)
                    pieces.append(piece)
        except TimeoutError:
            raise RefusedError(
                408, f"the body did not arrive within {limits.seconds:g} seconds; send it faster or split it"
            ) from None
        return b"".join(pieces)

    def _check(self, size: int) -> None:
        limits = self.inbox.limits
        if size > limits.bytes:
            raise RefusedError(413, f"the body is longer than the limit of {limits.bytes} bytes")
        if self.inbox.bytes - self.bytes + size > self.inbox.most:
            raise RefusedError(503, "too many large requests at the same time; try again in a second")
