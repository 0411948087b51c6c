"""Who may do what: the dependencies that every route names, and the session behind them."""

from __future__ import annotations

import hmac
import time
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from topkit.web.journal import Journal
from topkit.web.settings import Settings
from topkit.web.store import Store
from topkit.web.store.people import Person, Visit, find_session

COOKIE = "topkit_session"
CSRF_HEADER = "x-csrf-token"
SAFE = ("GET", "HEAD", "OPTIONS")
KEPT = 10_000

SCHEME = {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by POST /api/session."}
"""How one signs in, for the OpenAPI."""


class Sessions:
    """Visits by cookie, looked up again after a moment, so that a judgment need not ask the store."""

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._known: dict[str, tuple[Visit, float]] = {}

    async def find(self, token: str) -> Visit | None:
        """The visit of a cookie."""
        now = time.monotonic()
        known = self._known.get(token)
        if known is not None and known[1] > now and known[0].expires > time.time():
            return known[0]
        visit = await run_in_threadpool(self._look, token)
        if visit is None:
            self._known.pop(token, None)
            return None
        if len(self._known) > KEPT:
            self._known.clear()
        self._known[token] = visit, now + self._seconds
        return visit

    def _look(self, token: str) -> Visit | None:
        with self._store.read() as connection:
            return find_session(connection, token)

    def forget(self) -> None:
        """After somebody signed out or was changed."""
        self._known.clear()


async def store_of(request: Request) -> Store:
    """The store. (Not a plain function: FastAPI would send those to a thread.)"""
    store: Store = request.app.state.store
    return store


def journal_of(request: Request) -> Journal:
    """The writer of judgments."""
    journal: Journal = request.app.state.journal
    return journal


def sessions_of(request: Request) -> Sessions:
    """Who is signed in."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def settings_of(request: Request) -> Settings:
    """How the server is set up."""
    settings: Settings = request.app.state.settings
    return settings


async def visit_of(request: Request) -> Visit | None:
    """The visit, if there is one."""
    token = request.cookies.get(COOKIE)
    return await sessions_of(request).find(token) if token else None


async def signed_in(request: Request) -> Visit:
    """Anybody who is signed in; a change must carry the session's token, which other sites cannot know."""
    visit = await visit_of(request)
    if visit is None:
        raise HTTPException(401, "Sign in first.")
    if request.method not in SAFE:
        sent = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(sent.encode(), visit.csrf.encode()):
            raise HTTPException(403, f"The header {CSRF_HEADER} is missing or wrong. Load the page again.")
    return visit


async def someone(request: Request) -> Person:
    """Whoever is signed in. (One dependency, not a chain: each costs as much as the judgment it guards.)"""
    return (await signed_in(request)).person


async def admin(request: Request) -> Person:
    """Admins only."""
    person = await someone(request)
    if person.role != "admin":
        raise HTTPException(403, "Only admins may do this.")
    return person


Stored = Annotated[Store, Depends(store_of)]
Admin = Annotated[Person, Depends(admin)]
Someone = Annotated[Person, Depends(someone)]
