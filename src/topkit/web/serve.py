"""Running the server, and the one-time link of the first admin."""

from __future__ import annotations

import socket
from collections.abc import Callable

import sqlalchemy as sa
import uvicorn

from topkit.data.errors import InputError
from topkit.web.api.session import link_of
from topkit.web.app import create_app
from topkit.web.schema import person
from topkit.web.settings import Settings
from topkit.web.store import Store, people


def admin_link(store: Store, name: str, hours: float) -> str | None:
    """The path by which the first admin joins; None where there is an admin. An open link is given again."""
    with store.write() as connection:
        admins = sa.select(sa.func.count()).where(person.c.role == "admin", person.c.password.is_not(None))
        if connection.scalar(admins):
            return None
        there = [
            row
            for row in people.open_invitations(connection)
            if row["role"] == "admin" and row["person"] is None
        ]
        row = there[0] if there else people.add_invitation(connection, name, "admin", hours)
    return link_of(store, row["id"], row["expires"])


def serve(
    settings: Settings, host: str, port: int, admin: str, public: str | None, tell: Callable[[str], None]
) -> None:
    """Serve until stopped. ``public`` is the address people use, where a proxy stands in front."""
    listening = _listen(host, port)
    app = create_app(settings)
    shown = f"[{host}]" if ":" in host else host
    address = (public or f"http://{shown}:{listening.getsockname()[1]}").rstrip("/")
    tell(f"labels are kept in {settings.file or 'PostgreSQL'}; serving on {address}")
    link = admin_link(app.state.store, admin, settings.invitation_hours)
    if link is not None:
        tell(f"become the admin with this link, which works once: {address}{link}")
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", server_header=False, timeout_graceful_shutdown=10
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, proto)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror})", "choose another --port"
        ) from None
    return listening
