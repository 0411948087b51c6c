"""Rejected requests: an HTTP status and a reason that the caller can act on."""

from __future__ import annotations

from dataclasses import dataclass


class RefusedError(Exception):
    """A request that cannot be answered; the reason is sent to the caller."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def at_most(limit: int, count: int, what: str) -> None:
    """Raise if ``count`` exceeds the limit."""
    if count > limit:
        raise RefusedError(413, f"{count} {what} exceed the limit of {limit} per request")


@dataclass(frozen=True)
class Limits:
    """The largest request that is accepted, and how long it may take to arrive."""

    bytes: int = 16 << 20
    candidates: int = 100_000
    """Documents of all queries of a request."""
    queries: int = 10_000
    """Queries of a batch."""
    features: int = 10_000
    """Features of a candidate."""
    seconds: float = 30.0
    """For the header of a request, and again for its body."""
    waiting_bytes: int = 128 << 20
    """Bodies that are received or scored at the same time, together."""
