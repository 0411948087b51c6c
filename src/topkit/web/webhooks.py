"""Webhooks: another server is told when something happens in a project.

An event is stored in the same transaction as what it reports (an outbox), so it is neither lost nor invented.
A background thread delivers it, signed with the secret of the webhook, and tries again later if that fails.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.compute.extras import require
from topkit.data.errors import InputError
from topkit.web.schema import delivery, labelling, person, topic, webhook
from topkit.web.store import Store
from topkit.web.store.engine import insert_one

Event = Literal["labelling.completed", "remark.created", "decision.made"]
EVENTS: tuple[Event, ...] = get_args(Event)
ATTEMPTS = 8
FIRST_WAIT = 10.0
"""Seconds before the second attempt; each further wait is three times as long (6 hours in total)."""
LEASE = 60.0
"""Seconds for which a process that delivers an event keeps others from doing so."""
TIMEOUT = 10.0


class Response(NamedTuple):
    """The status of a reply, or 0 and the reason why there is none."""

    status: int
    problem: str = ""


Post = Callable[[str, bytes, dict[str, str]], Response]


def add_webhook(connection: Connection, project: int, url: str, events: Sequence[Event]) -> tuple[int, str]:
    """Create a webhook; returns its id and the secret that signs its events."""
    _check_url(url)
    secret = secrets.token_hex(32)
    values = {"project": project, "url": url, "secret": secret, "events": " ".join(events)}
    return insert_one(connection, webhook, {**values, "created": time.time()}), secret


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"invalid URL {url[:80]!r}", "write https://…")
    try:
        is_local = ip_address(host).is_link_local
    except ValueError:
        is_local = False
    if is_local:  # where clouds serve the credentials of machines
        raise InputError(f"{host} is a link-local address", "give the address of your server")


def webhooks_of(connection: Connection, project: int) -> list[RowMapping]:
    """The webhooks of a project (without their secrets), with how many deliveries wait or were given up."""
    waiting, failed = (
        sa.select(sa.func.count()).where(delivery.c.webhook == webhook.c.id, condition).scalar_subquery()
        for condition in (_waits(), sa.and_(delivery.c.done.is_(None), delivery.c.attempts >= ATTEMPTS))
    )
    last = sa.select(sa.func.max(delivery.c.done)).where(delivery.c.webhook == webhook.c.id).scalar_subquery()
    columns = (webhook.c.id, webhook.c.url, webhook.c.events, webhook.c.created)
    query = sa.select(*columns, waiting.label("waiting"), failed.label("failed"), last.label("last"))
    return list(connection.execute(query.where(webhook.c.project == project)).mappings())


def remove_webhook(connection: Connection, project: int, number: int) -> bool:
    """Remove a webhook and what waits for it."""
    delete = webhook.delete().where(webhook.c.id == number, webhook.c.project == project)
    return connection.execute(delete).rowcount == 1


# -- the outbox --------------------------------------------------------------------------------------------
def enqueue(connection: Connection, project: int, event: Event, content: dict[str, Any]) -> None:
    """Store an event for every webhook of the project that wants it."""
    now = time.time()
    body = json.dumps({"event": event, "project": project, "time": now, **content}, ensure_ascii=False)
    hooks = connection.execute(sa.select(webhook.c.id, webhook.c.events).where(webhook.c.project == project))
    rows = [
        {"webhook": hook.id, "event": event, "body": body, "created": now, "attempts": 0, "next": now}
        for hook in hooks
        if event in hook.events.split()
    ]
    if rows:
        connection.execute(delivery.insert(), rows)


def enqueue_completed(connection: Connection, labellings: Sequence[int]) -> None:
    """Store the events of labellings that have just been completed."""
    if not labellings or connection.scalar(sa.select(webhook.c.id).limit(1)) is None:
        return
    query = (
        sa.select(labelling.c.id, labelling.c.project, labelling.c.tool, topic.c.key, person.c.name)
        .join(topic, topic.c.id == labelling.c.topic)
        .join(person, person.c.id == labelling.c.person)
        .where(labelling.c.id.in_(labellings))
    )
    for row in connection.execute(query).all():
        content = {"labelling": row.id, "topic": row.key, "assessor": row.name, "tool": row.tool}
        enqueue(connection, row.project, "labelling.completed", content)


def _waits() -> sa.ColumnElement[bool]:
    return sa.and_(delivery.c.done.is_(None), delivery.c.attempts < ATTEMPTS)


def deliver_due(store: Store, post: Post | None = None, now: float | None = None) -> int:
    """Deliver the events that are due; returns how many were accepted."""
    now = time.time() if now is None else now
    with store.read() as connection:
        query = (
            sa.select(delivery, webhook.c.url, webhook.c.secret)
            .join(webhook, webhook.c.id == delivery.c.webhook)
            .where(_waits(), delivery.c.next <= now)
            .order_by(delivery.c.id)
            .limit(100)
        )
        rows = connection.execute(query).all()
    accepted = 0
    for row in rows:
        if _claim(store, row, now):
            response = (post or _post)(row.url, row.body.encode(), headers_of(row, now))
            accepted += _note(store, row, response, now)
    return accepted


def _claim(store: Store, row: Any, now: float) -> bool:
    """True if this process delivers the event: no other one changed the row since it was read."""
    update = delivery.update().where(delivery.c.id == row.id, delivery.c.next == row.next)
    with store.write() as connection:
        values = {"next": now + LEASE, "attempts": row.attempts + 1}
        return connection.execute(update.values(values)).rowcount == 1


def _note(store: Store, row: Any, response: Response, now: float) -> bool:
    accepted = 200 <= response.status < 300
    wait = FIRST_WAIT * 3**row.attempts
    values = {"status": response.status, "problem": response.problem[:300], "next": now + wait}
    with store.write() as connection:
        done = {"done": now} if accepted else {}
        connection.execute(delivery.update().where(delivery.c.id == row.id).values({**values, **done}))
    return accepted


def headers_of(row: Any, now: float) -> dict[str, str]:
    """The headers of a delivery. The signature covers the time, so that an old event cannot be sent again."""
    stamp = str(int(now))
    return {
        "content-type": "application/json",
        "x-topkit-event": row.event,
        "x-topkit-delivery": str(row.id),
        "x-topkit-time": stamp,
        "x-topkit-signature": signature(row.secret, stamp, row.body),
    }


def signature(secret: str, stamp: str, body: str) -> str:
    """sha256=HMAC-SHA256(secret, time + "." + body), as the receiver should compute it."""
    digest = hmac.new(secret.encode(), f"{stamp}.{body}".encode(), hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


def _post(url: str, body: bytes, headers: dict[str, str]) -> Response:
    httpx = require("httpx", "judge")
    try:
        reply = httpx.post(url, content=body, headers=headers, timeout=TIMEOUT, follow_redirects=False)
    except httpx.HTTPError as error:
        return Response(0, f"{type(error).__name__}: {error}")
    return Response(int(reply.status_code))
