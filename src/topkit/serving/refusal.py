"""How the service says no: an HTTP status and a reason that a caller can act on."""

from __future__ import annotations

from dataclasses import dataclass


class RefusedError(Exception):
    """A request that cannot be served; the reason goes to the caller."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def at_most(limit: int, count: int, what: str) -> None:
    """Refuse more of something than a limit."""
    if count > limit:
        raise RefusedError(413, f"{count} {what} are more than the limit of {limit} a request")


@dataclass(frozen=True)
class Limits:
    """What one request may ask for at most."""

    bytes: int = 32 << 20
    candidates: int = 100_000
    """Documents of all queries of a request."""
    queries: int = 10_000
    """Queries of a batch."""
