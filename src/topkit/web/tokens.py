"""API tokens: programs sign in with ``Authorization: Bearer …`` instead of a cookie.

A token belongs to a person and can do at most what the person may do, limited further by its scopes. The
database contains only a hash. A token never creates other tokens.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import Literal, get_args

import sqlalchemy as sa
from fastapi import HTTPException, Request
from sqlalchemy.engine import Connection, RowMapping
from starlette.concurrency import run_in_threadpool

from topkit.web.schema import api_token, person
from topkit.web.store import Store
from topkit.web.store.engine import insert_one
from topkit.web.store.people import Person, Visit

Scope = Literal["read", "label", "manage"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""Read everything that the person may see; answer questions; change anything that the person may change."""
PREFIX = "topkit_"
USED_EVERY = 60.0
"""Seconds; the time of the last use is stored at most this often."""


def new_token(
    connection: Connection, owner: int, name: str, scopes: list[Scope], days: float | None
) -> tuple[int, str]:
    """Create a token; its text is returned once and never stored."""
    text = PREFIX + secrets.token_urlsafe(32)
    now = time.time()
    values = {
        "person": owner,
        "name": name,
        "hash": _hashed(text),
        "scopes": " ".join(scope for scope in SCOPES if scope in scopes),
        "created": now,
        "expires": None if days is None else now + 86_400 * days,
    }
    return insert_one(connection, api_token, values), text


def tokens_of(connection: Connection, owner: int) -> list[RowMapping]:
    """The tokens of a person, without their hashes."""
    columns = [column for column in api_token.c if column.name != "hash"]
    query = sa.select(*columns).where(api_token.c.person == owner).order_by(api_token.c.id)
    return list(connection.execute(query).mappings())


def remove_token(connection: Connection, owner: int, number: int) -> bool:
    """Remove a token, so that it no longer works."""
    delete = api_token.delete().where(api_token.c.id == number, api_token.c.person == owner)
    return connection.execute(delete).rowcount == 1


def needed_scope(method: str, path: str) -> Scope:
    """The scope that a request needs.

    >>> needed_scope("GET", "/api/projects"), needed_scope("POST", "/api/labellings/7/answers")
    ('read', 'label')
    """
    if method in ("GET", "HEAD", "OPTIONS"):
        return "read"
    is_work = path.startswith("/api/labellings/") and method == "POST"
    return "label" if is_work else "manage"


async def visit_by_token(request: Request, store: Store) -> Visit | None:
    """The visit of a request with a token; None if the token is invalid, 403 if its scopes do not suffice."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text.startswith(PREFIX):
        return None
    token = await run_in_threadpool(_find, store, text)
    if token is None:
        return None
    visit, scopes = token
    scope = needed_scope(request.method, request.url.path)
    if scope not in scopes:
        raise HTTPException(403, f"The token does not have the scope {scope!r}.")
    if request.url.path.startswith(("/api/tokens", "/api/session")) and request.method != "GET":
        raise HTTPException(403, "Sign in with your password to do this.")
    return visit


def _find(store: Store, text: str) -> tuple[Visit, list[str]] | None:
    now = time.time()
    with store.read() as connection:
        query = (
            sa.select(api_token, person.c.name.label("owner"), person.c.role, person.c.active)
            .join(person, person.c.id == api_token.c.person)
            .where(api_token.c.hash == _hashed(text))
        )
        row = connection.execute(query).first()
    if row is None or not row.active or (row.expires is not None and row.expires < now):
        return None
    if row.used is None or row.used < now - USED_EVERY:
        with store.write() as connection:
            connection.execute(api_token.update().where(api_token.c.id == row.id).values(used=now))
    # Without a CSRF token: browsers do not send this header by themselves.
    return Visit(Person(row.person, row.owner, row.role, True), "", now + USED_EVERY), row.scopes.split()


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
