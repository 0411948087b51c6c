"""People, their sessions and invitations, and wrong passwords."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web.schema import invitation, login_attempt, person, session
from topkit.web.store.engine import insert_one

ROLES = ("admin", "assessor")


@dataclass(frozen=True)
class Person:
    """Someone who may sign in."""

    id: int
    name: str
    role: str
    active: bool


@dataclass(frozen=True)
class Visit:
    """A person who is signed in, with the token that every change must carry."""

    person: Person
    csrf: str
    expires: float


_COLUMNS = (person.c.id, person.c.name, person.c.role, person.c.active)


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.role, row.active)


def everyone(connection: Connection) -> list[Person]:
    """All people, by name."""
    return [_person(row) for row in connection.execute(sa.select(*_COLUMNS).order_by(person.c.name))]


def find_person(connection: Connection, name: str) -> tuple[Person, str | None] | None:
    """The person of a name with the hash of their password."""
    row = connection.execute(sa.select(*_COLUMNS, person.c.password).where(person.c.name == name)).first()
    return None if row is None else (_person(row), row.password)


def get_person(connection: Connection, number: int) -> Person | None:
    """The person of an id."""
    row = connection.execute(sa.select(*_COLUMNS).where(person.c.id == number)).first()
    return None if row is None else _person(row)


def add_person(connection: Connection, name: str, role: str, password: str | None = None) -> Person:
    """A new person; ``password`` is already hashed, and without one they cannot sign in."""
    if role not in ROLES:
        raise InputError(f"{role!r} is no role", f"choose from {', '.join(ROLES)}")
    if find_person(connection, name) is not None:
        raise InputError(f"there is somebody called {name!r} already", "choose another name")
    values = {"name": name, "role": role, "password": password, "active": True, "created": time.time()}
    number = insert_one(connection, person, values)
    return Person(number, name, role, True)


def change_person(connection: Connection, number: int, *, role: str, active: bool) -> None:
    """Set role and whether the person may sign in; there is always an admin left who may."""
    connection.execute(person.update().where(person.c.id == number).values(role=role, active=active))
    admins = sa.select(sa.func.count()).where(person.c.role == "admin", person.c.active)
    if not connection.scalar(admins):
        raise InputError("nobody would be left to administer", "make somebody else admin first")
    if not active:
        connection.execute(session.delete().where(session.c.person == number))


def set_password(connection: Connection, number: int, password: str) -> None:
    """Store a new (hashed) password; all sessions of the person end."""
    connection.execute(person.update().where(person.c.id == number).values(password=password, active=True))
    connection.execute(session.delete().where(session.c.person == number))


# -- sessions ----------------------------------------------------------------------------------------------
def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def start_session(connection: Connection, who: Person, hours: float) -> tuple[str, Visit]:
    """A new session: the token of its cookie, and the visit."""
    token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    now = time.time()
    visit = Visit(who, csrf, now + 3600 * hours)
    row = {"token": _hashed(token), "person": who.id, "csrf": csrf, "created": now, "expires": visit.expires}
    connection.execute(session.delete().where(session.c.expires < now))
    connection.execute(session.insert().values(row))
    return token, visit


def find_session(connection: Connection, token: str) -> Visit | None:
    """The visit of a cookie's token, if it is still good."""
    row = connection.execute(
        sa.select(*_COLUMNS, session.c.csrf, session.c.expires)
        .join_from(session, person)
        .where(session.c.token == _hashed(token), session.c.expires > time.time(), person.c.active)
    ).first()
    return None if row is None else Visit(_person(row), row.csrf, row.expires)


def end_session(connection: Connection, token: str) -> None:
    """Forget a session."""
    connection.execute(session.delete().where(session.c.token == _hashed(token)))


# -- invitations -------------------------------------------------------------------------------------------
def add_invitation(
    connection: Connection, name: str, role: str, hours: float, *, number: int | None = None
) -> RowMapping:
    """An invitation to join as ``name``; with ``number``, a link for somebody's new password."""
    if role not in ROLES:
        raise InputError(f"{role!r} is no role", f"choose from {', '.join(ROLES)}")
    if number is None and name and find_person(connection, name) is not None:
        raise InputError(f"there is somebody called {name!r} already", "choose another name")
    now = time.time()
    values = {"name": name, "role": role, "person": number, "created": now, "expires": now + 3600 * hours}
    made = insert_one(connection, invitation, values)
    return connection.execute(sa.select(invitation).where(invitation.c.id == made)).mappings().one()


def open_invitations(connection: Connection) -> list[RowMapping]:
    """Invitations that can still be accepted."""
    good = (invitation.c.used.is_(None), invitation.c.expires > time.time())
    return list(connection.execute(sa.select(invitation).where(*good).order_by(invitation.c.id)).mappings())


def get_invitation(connection: Connection, number: int) -> RowMapping | None:
    """The invitation of an id, if it can still be accepted."""
    return next((row for row in open_invitations(connection) if row["id"] == number), None)


def use_invitation(connection: Connection, number: int) -> bool:
    """Mark as used; False if it was used, withdrawn or too old, so that a link works once only."""
    good = (invitation.c.used.is_(None), invitation.c.expires > time.time(), invitation.c.id == number)
    return connection.execute(invitation.update().where(*good).values(used=time.time())).rowcount == 1


def withdraw_invitation(connection: Connection, number: int) -> bool:
    """Make a link worthless."""
    unused = (invitation.c.used.is_(None), invitation.c.id == number)
    return connection.execute(invitation.delete().where(*unused)).rowcount == 1


# -- wrong passwords ---------------------------------------------------------------------------------------
def wrong_passwords(connection: Connection, name: str, address: str, minutes: float) -> tuple[int, int]:
    """How many there were lately, of this name and from this address."""
    recent = login_attempt.c.time > time.time() - 60 * minutes
    count = sa.select(sa.func.count()).where(recent)
    return (
        connection.scalar(count.where(login_attempt.c.name == name)) or 0,
        connection.scalar(count.where(login_attempt.c.address == address)) or 0,
    )


def note_wrong_password(connection: Connection, name: str, address: str, minutes: float) -> None:
    """Count one more, and forget those that no longer matter."""
    now = time.time()
    connection.execute(login_attempt.delete().where(login_attempt.c.time < now - 60 * minutes))
    connection.execute(login_attempt.insert().values(name=name, address=address, time=now))


def forget_wrong_passwords(connection: Connection, name: str) -> None:
    """After the right one."""
    connection.execute(login_attempt.delete().where(login_attempt.c.name == name))
