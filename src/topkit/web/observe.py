"""What the people who run the server see: one log line per request, and metrics for Prometheus."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topkit.data.errors import InputError
from topkit.web.schema import judgment, person, project, session
from topkit.web.store import Store

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram, in seconds."""
log = logging.getLogger("topkit.web.requests")


class Observer:
    """Counts and logs every request. Paths are logged as their pattern: an invitation link is a secret."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self.app = app
        self._requests = Counter(
            "topkit_label_requests",
            "Requests by method, route and status.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "topkit_label_request_seconds",
            "Seconds until the response is sent; a judgment is on disk by then.",
            ("route",),
            registry=registry,
            buckets=BUCKETS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note_status)
        finally:
            seconds = time.perf_counter() - start
            route = route_of(scope)
            self._requests.labels(scope["method"], route, str(status)).inc()
            self._seconds.labels(route).observe(seconds)
            if log.isEnabledFor(logging.INFO):
                log.info("request", extra={"fields": _fields(scope, route, status, seconds)})


def route_of(scope: Scope) -> str:
    """The pattern of the path, such as ``/label/{number}``; "other" for a path that does not exist."""
    route = getattr(scope.get("route"), "path", None)
    if route is None and "/static/" in scope["path"]:
        return "/static"
    return route or "other"


def _fields(scope: Scope, route: str, status: int, seconds: float) -> dict[str, Any]:
    client = scope.get("client")
    return {
        "method": scope["method"],
        "route": route,
        "status": status,
        "ms": round(1000 * seconds, 1),
        "address": client[0] if client else None,
        "person": scope.get("state", {}).get("person"),
    }


class _Contents(Collector):
    """How much there is in the database, counted whenever Prometheus asks."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        now = time.time()
        counts = {
            "judgments": ("Judgments, including withdrawn ones.", judgment, None),
            "sessions": ("People who are signed in.", session, session.c.expires > now),
            "people": ("People who may sign in.", person, person.c.active),
            "projects": ("Active projects.", project, project.c.state == "active"),
        }
        up = 1
        try:
            with self._store.read() as connection:
                for name, (text, table, condition) in counts.items():
                    query = sa.select(sa.func.count()).select_from(table)
                    value = connection.scalar(query if condition is None else query.where(condition))
                    yield GaugeMetricFamily(f"topkit_label_{name}", text, value=value or 0)
        except sa.exc.SQLAlchemyError:
            up = 0
        yield GaugeMetricFamily("topkit_label_database_up", "1 if the database answers.", value=up)


def make_registry(store: Store) -> CollectorRegistry:
    """The metrics of one app; a process may contain several apps."""
    registry = CollectorRegistry()
    registry.register(_Contents(store))
    return registry


def serve_metrics(registry: CollectorRegistry, address: str) -> None:
    """Serve the metrics on an address of their own, which the proxy in front does not pass on."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise InputError(
            f"invalid address {address!r} for the metrics", "write host:port, such as 127.0.0.1:9101"
        )
    try:
        start_http_server(int(port), host.strip("[]") or "127.0.0.1", registry)
    except OSError as error:
        raise InputError(
            f"cannot serve metrics on {address} ({error.strerror})", "choose another port"
        ) from None


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record with its time in UTC."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        row = {"time": moment, "level": record.levelname.lower(), "logger": record.name}
        row |= {"message": record.getMessage(), **getattr(record, "fields", {})}
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False)


def log_as_json() -> None:
    """Write every request and every warning to standard error as JSON Lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log.setLevel(logging.INFO)
