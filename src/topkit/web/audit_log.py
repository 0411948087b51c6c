"""The audit log: who changed what and when.

Every request that changes something and every command that writes leaves one entry, in the same transaction
as the change: either both are stored or neither. The guard announces a request (:func:`announce`), and the
store writes the entry at the end of the first transaction that follows (:func:`write_entry`). So a new route
is audited without any code of its own. Judgments are not entries: they are a log themselves.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping
from starlette.requests import Request

from topkit.web.schema import audit

SECRETS = ("password", "new", "token", "secret", "key", "csrf")
"""Fields of requests that are never stored."""
JUDGMENTS = ("/api/labellings/{number}/answers", "/api/labellings/{number}/undo")
"""Routes whose changes are rows of the log of judgments."""
LONGEST_VALUE = 300
"""Longer texts are cut in the log."""


@dataclass
class Change:
    """A change that is about to happen."""

    person: str
    action: str
    project: int | None
    detail: dict[str, Any]
    written: bool = False


_change: ContextVar[Change | None] = ContextVar("change", default=None)


async def announce(request: Request, person: str) -> None:
    """Say that this request, by this person, may change something."""
    template = getattr(request.scope.get("route"), "path", request.url.path)
    if template in JUDGMENTS:
        return
    path, body = dict(request.scope.get("path_params", {})), await _body(request)
    project = path.get("number") if template.startswith("/api/projects/{number}") else None
    detail = {**({"path": path} if path else {}), **({"body": body} if body else {})}
    action = f"{request.method} {template}"
    # The path is not checked yet; the route rejects what is not a number.
    number = int(str(project)) if re.fullmatch("[0-9]{1,9}", str(project)) else None
    _change.set(Change(person, action, number, detail))


def announce_command(command: str) -> None:
    """Say that a command on the server may change something."""
    _change.set(Change("command line", command, None, {}))


def write_entry(connection: Connection) -> None:
    """Write the entry of the announced change, once; the store calls this at the end of a transaction."""
    change = _change.get()
    if change is None or change.written:
        return
    change.written = True
    record(connection, change.person, change.action, change.project, change.detail)


def record(
    connection: Connection,
    person: str,
    action: str,
    project: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Write an entry directly."""
    text = json.dumps(detail or {}, ensure_ascii=False)
    values = {"time": time.time(), "person": person, "action": action, "project": project, "detail": text}
    connection.execute(audit.insert().values(values))


def entries(
    connection: Connection, project: int | None = None, search: str = "", first: int = 0, count: int = 50
) -> tuple[int, list[RowMapping]]:
    """The number of entries that match, and some of them, the newest first."""
    conditions = [] if project is None else [audit.c.project == project]
    if search:
        columns = (audit.c.person, audit.c.action, audit.c.detail)
        conditions.append(sa.or_(*(column.icontains(search, autoescape=True) for column in columns)))
    total = connection.scalar(sa.select(sa.func.count()).select_from(audit).where(*conditions)) or 0
    query = sa.select(audit).where(*conditions).order_by(audit.c.id.desc()).offset(first).limit(count)
    return total, list(connection.execute(query).mappings())


async def _body(request: Request) -> dict[str, Any]:
    """The fields of the request; files only by name, secrets not at all."""
    kind = request.headers.get("content-type", "")
    if kind.startswith("multipart/form-data"):
        fields: Mapping[str, Any] = {
            name: getattr(value, "filename", value) for name, value in (await request.form()).items()
        }
    elif await request.body():
        try:
            fields = await request.json()
        except ValueError:  # the route rejects it
            return {}
    else:
        return {}
    return _shortened(fields) if isinstance(fields, Mapping) else {}


def _shortened(fields: Mapping[str, Any]) -> dict[str, Any]:
    shortened: dict[str, Any] = {}
    for name, value in fields.items():
        if name in SECRETS:
            shortened[name] = "…"
        elif isinstance(value, str) and len(value) > LONGEST_VALUE:
            shortened[name] = value[: LONGEST_VALUE - 1] + "…"
        elif isinstance(value, list) and len(value) > 20:
            shortened[name] = f"{len(value)} values"
        else:
            shortened[name] = value
    return shortened
