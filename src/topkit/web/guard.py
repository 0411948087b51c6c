"""Authorisation: the dependencies that every route declares, and the sessions behind them."""

from __future__ import annotations

import hmac
import time
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from topkit.web import audit_log
from topkit.web.journal import Journal
from topkit.web.settings import Settings
from topkit.web.standings import LabellingCache
from topkit.web.store import Store
from topkit.web.store.people import Person, Visit, access_version, find_session
from topkit.web.tokens import visit_by_token

COOKIE = "topkit_session"
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
CACHED_SESSIONS = 10_000
CHECK_SECONDS = 0.5
"""How often a process asks whether another one changed somebody's access."""

SCHEME = {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by POST /api/session."}
"""How to sign in, for the OpenAPI description."""


class Sessions:
    """Sessions by cookie, kept in memory for some seconds, so that a judgment needs no database query.

    Whoever signs somebody out or changes their access raises a version number in the database. Every process
    looks at it twice per second, and forgets all sessions if it changed.
    """

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._cache: dict[str, tuple[Visit, float]] = {}
        self._version = ""
        self._checked = 0.0

    async def find(self, token: str) -> Visit | None:
        """The session of a cookie, or None."""
        now = time.monotonic()
        if now - self._checked > CHECK_SECONDS:
            self._checked = now
            version = await run_in_threadpool(self._load_version)
            if version != self._version:
                self._cache.clear()
                self._version = version
        cached = self._cache.get(token)
        if cached is not None and cached[1] > now and cached[0].expires > time.time():
            return cached[0]
        visit = await run_in_threadpool(self._load, token)
        if visit is None:
            self._cache.pop(token, None)
            return None
        if len(self._cache) > CACHED_SESSIONS:
            self._cache.clear()
        self._cache[token] = visit, now + self._seconds
        return visit

    def _load(self, token: str) -> Visit | None:
        with self._store.read() as connection:
            return find_session(connection, token)

    def _load_version(self) -> str:
        with self._store.read() as connection:
            return access_version(connection)

    def forget(self) -> None:
        """Call this after somebody signed out or a person was changed."""
        self._cache.clear()


# These dependencies are async functions because FastAPI runs plain functions in a thread, which costs more
# than the lookup itself.
async def store_of(request: Request) -> Store:
    """The database."""
    return store_of_request(request)


def store_of_request(request: Request) -> Store:
    """The database."""
    store: Store = request.app.state.store
    return store


async def cache_of(request: Request) -> LabellingCache:
    """Labellings that were replayed before."""
    cache: LabellingCache = request.app.state.cache
    return cache


def journal_of(request: Request) -> Journal:
    """The writer of judgments."""
    journal: Journal = request.app.state.journal
    return journal


def sessions_of(request: Request) -> Sessions:
    """The sessions of people who are signed in."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def settings_of(request: Request) -> Settings:
    """The settings of the server."""
    settings: Settings = request.app.state.settings
    return settings


async def visit_of(request: Request) -> Visit | None:
    """The session of the request, or None."""
    if "authorization" in request.headers:
        return await visit_by_token(request, request.app.state.store)
    token = request.cookies.get(COOKIE)
    return await sessions_of(request).find(token) if token else None


async def signed_in(request: Request) -> Visit:
    """Any signed-in person. A request that changes something needs the CSRF token, which other sites do not
    know."""
    visit = await _entitled(request)
    if request.method not in SAFE_METHODS:
        await audit_log.announce(request, visit.person.name)
    return visit


async def check_upload(request: Request) -> None:
    """Status 401 or 403 unless an admin sends the request; its body is not read."""
    _check_admin(await _entitled(request))


async def _entitled(request: Request) -> Visit:
    visit = await visit_of(request)
    if visit is None:
        raise HTTPException(401, "Sign in first.")
    request.state.person = visit.person.id  # for the log
    if request.method not in SAFE_METHODS:
        check_csrf(visit, request.headers.get(CSRF_HEADER, ""))
    return visit


def check_csrf(visit: Visit, token: str) -> None:
    """Status 403 if this is not the CSRF token of the session."""
    if not hmac.compare_digest(token.encode(), visit.csrf.encode()):
        raise HTTPException(403, f"The header {CSRF_HEADER} is missing or wrong. Reload the page.")


async def admin_visit(request: Request) -> Visit:
    """Admins only."""
    visit = await signed_in(request)
    _check_admin(visit)
    return visit


def _check_admin(visit: Visit) -> None:
    if visit.person.role != "admin":
        raise HTTPException(403, "Only admins may do this.")


# One dependency per route and not a chain: resolving each costs as much as the check itself.
async def someone(request: Request) -> Person:
    """Any signed-in person."""
    return (await signed_in(request)).person


async def admin(request: Request) -> Person:
    """Admins only."""
    return (await admin_visit(request)).person


Stored = Annotated[Store, Depends(store_of)]
Cached = Annotated[LabellingCache, Depends(cache_of)]
Someone = Annotated[Person, Depends(someone)]
Admin = Annotated[Person, Depends(admin)]
SomeoneVisit = Annotated[Visit, Depends(signed_in)]
AdminVisit = Annotated[Visit, Depends(admin_visit)]
