"""Runs the server, and creates the one-time link of the first admin."""

from __future__ import annotations

import socket
from collections.abc import Callable

import sqlalchemy as sa
import uvicorn

from topkit.data.errors import InputError
from topkit.web.app import create_app
from topkit.web.auth import invitation_path
from topkit.web.observe import log_as_json, serve_metrics
from topkit.web.schema import person
from topkit.web.settings import Settings
from topkit.web.store import Store, people
from topkit.web.warm_up import warm_up


def admin_link(store: Store, name: str, hours: float) -> str | None:
    """The link path for the first admin, or None if there is an admin. An open link is returned again."""
    with store.write() as connection:
        admins = sa.select(sa.func.count()).where(person.c.role == "admin", person.c.password.is_not(None))
        if connection.scalar(admins):
            return None
        open_links = [
            row
            for row in people.open_invitations(connection)
            if row["role"] == "admin" and row["person"] is None
        ]
        row = open_links[0] if open_links else people.add_invitation(connection, name, "admin", hours)
    return invitation_path(store.secret, row["id"], row["expires"])


def serve(
    settings: Settings,
    host: str,
    port: int,
    admin: str,
    tell: Callable[[str], None],
    *,
    metrics: str | None = None,
    json_log: bool = False,
) -> None:
    """Serve until stopped; ``metrics`` is the address for Prometheus.

    The event loop is uvloop if it is installed, else asyncio.
    """
    listener = _listen(host, port)
    if json_log:
        log_as_json()
    app = create_app(settings)
    if metrics is not None:
        serve_metrics(app.state.registry, metrics)
    shown_host = f"[{host}]" if ":" in host else host
    local = f"http://{shown_host}:{listener.getsockname()[1]}"
    url = (settings.public or local).rstrip("/")
    reached = f", reached at {url}" if settings.public else ""
    tell(f"labels are stored in {settings.file or 'PostgreSQL'}; serving on {local}{reached}")
    link = admin_link(app.state.store, admin, settings.invitation_hours)
    if link is not None:
        tell(f"open this link to become the admin (it works once): {url}{link}")
    warm_up(app)
    config = uvicorn.Config(
        app,
        loop="auto",
        access_log=False,
        log_level="warning",
        log_config=None if json_log else uvicorn.config.LOGGING_CONFIG,
        server_header=False,
        proxy_headers=False,  # believed only from the proxies in the settings
        timeout_graceful_shutdown=10,
    )
    try:
        app.state.server = uvicorn.Server(config)  # streams end when it stops
        app.state.server.run(sockets=[listener])
    finally:
        listener.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror})", "choose another --port"
        ) from None
    return listener
