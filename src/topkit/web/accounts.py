"""Sign in, accept an invitation, change a password, sign out: for the API and for forms without a script."""

from __future__ import annotations

import math

from fastapi import HTTPException, Request, Response

from topkit.data.errors import InputError
from topkit.data.words import counted
from topkit.web import auth
from topkit.web.forwarded import neighbourhood
from topkit.web.guard import COOKIE, sessions_of, settings_of, store_of_request
from topkit.web.lookup import existing, open_invitation
from topkit.web.store import people, sign_ins
from topkit.web.store.people import Person, Visit


def sign_in(request: Request, name: str, password: str) -> tuple[str, Visit]:
    """Start a session; returns the token for the cookie, and the session. Status 401 or 429 if refused."""
    store = store_of_request(request)
    address = _address(request)
    with store.read() as connection:
        account = people.find_person(connection, name)
    person, hashed = account or (None, None)
    _count_attempt(request, name, address)
    if not auth.password_matches(password, hashed) or person is None or not person.active:
        raise HTTPException(401, "The name or the password is wrong.")
    return _start(request, person)


def _address(request: Request) -> str:
    return neighbourhood(request.client.host if request.client else "")


def _count_attempt(request: Request, name: str, address: str) -> None:
    with store_of_request(request).write() as connection:
        wait = math.ceil(sign_ins.begin_attempt(connection, name, address))
    if wait:
        problem = f"Too many wrong passwords. Try again in {counted(wait, 'second')}."
        raise HTTPException(429, problem, {"Retry-After": str(wait)})


def _start(request: Request, person: Person) -> tuple[str, Visit]:
    store = store_of_request(request)
    with store.write() as connection:
        sign_ins.attempt_succeeded(connection, person.name, _address(request))
    with store.write() as connection:
        sign_ins.forget_old_attempts(connection)
        return people.start_session(connection, person, settings_of(request).session_hours)


def accept_invitation(request: Request, token: str, password: str) -> tuple[str, Visit]:
    """Set the password of an invited person and sign in. A link works once, never for a blocked person."""
    store = store_of_request(request)
    row = open_invitation(store, token)
    hashed = auth.hash_password(password, row["name"])
    with store.write() as connection:
        if not people.use_invitation(connection, row["id"]):
            raise HTTPException(404, "This link was used before. Ask for a new one.")
        if row["person"] is None:
            person = people.add_person(connection, row["name"], row["role"], hashed)
        else:
            people.set_password(connection, row["person"], hashed)
            person = existing(people.get_person(connection, row["person"]), "person")
            if not person.active:
                raise HTTPException(404, "This account is blocked. Ask an admin.")
    sessions_of(request).forget()
    return _start(request, person)


def change_password(request: Request, person: Person, password: str, new: str) -> tuple[str, Visit]:
    """Change somebody's own password; their other sessions and their open links end."""
    store = store_of_request(request)
    _count_attempt(request, person.name, _address(request))
    with store.read() as connection:
        account = people.find_person(connection, person.name)
    if account is None or not auth.password_matches(password, account[1]):
        raise InputError("the current password is wrong", "type it again")
    hashed = auth.hash_password(new, person.name)
    with store.write() as connection:
        people.set_password(connection, person.id, hashed)
    sessions_of(request).forget()
    return _start(request, person)


def sign_out(request: Request, response: Response) -> None:
    """End the session of the request."""
    with store_of_request(request).write() as connection:
        people.end_session(connection, request.cookies[COOKIE])
    sessions_of(request).forget()
    response.delete_cookie(COOKIE, path=_cookie_path(request))


def set_cookie(request: Request, response: Response, token: str) -> None:
    """Give the browser the token of a session."""
    settings = settings_of(request)
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(3600 * settings.session_hours),
        path=_cookie_path(request),
        httponly=True,
        secure=settings.secure,
        samesite="lax",
    )


def _cookie_path(request: Request) -> str:
    return settings_of(request).root or "/"
