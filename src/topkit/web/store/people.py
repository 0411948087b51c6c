"""People, their sessions and invitations."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web.names import MODEL_MARK, likeness, looks_like_model
from topkit.web.schema import invitation, meta, person, session
from topkit.web.store.engine import insert_one

ROLES = ("admin", "assessor")


@dataclass(frozen=True)
class Person:
    """A person with an account."""

    id: int
    name: str
    role: str
    active: bool


@dataclass(frozen=True)
class Visit:
    """The session of a signed-in person, with the CSRF token that every change must contain."""

    person: Person
    csrf: str
    expires: float


_COLUMNS = (person.c.id, person.c.name, person.c.role, person.c.active)


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.role, row.active)


def everyone(connection: Connection) -> list[Person]:
    """All people, sorted by name."""
    return [_person(row) for row in connection.execute(sa.select(*_COLUMNS).order_by(person.c.name))]


def find_person(connection: Connection, name: str) -> tuple[Person, str | None] | None:
    """The person with this name, and the hash of their password."""
    row = connection.execute(sa.select(*_COLUMNS, person.c.password).where(person.c.name == name)).first()
    return None if row is None else (_person(row), row.password)


def get_person(connection: Connection, number: int) -> Person | None:
    """The person with this id."""
    row = connection.execute(sa.select(*_COLUMNS).where(person.c.id == number)).first()
    return None if row is None else _person(row)


def add_person(connection: Connection, name: str, role: str, password: str | None = None) -> Person:
    """Add a person. ``password`` is already hashed; without one, the person cannot sign in."""
    _check_role(role)
    _check_is_for_people(name)
    return _add(connection, name, role, password)


def model_account(connection: Connection, name: str) -> Person:
    """The account of a model, which can judge but never sign in; it is added if it does not exist."""
    if not name.startswith(MODEL_MARK):
        raise InputError(f"invalid name {name!r} of a model", f"start it with {MODEL_MARK!r}")
    account = find_person(connection, name)
    return account[0] if account is not None else _add(connection, name, "assessor", None)


def _add(connection: Connection, name: str, role: str, password: str | None) -> Person:
    _check_name_is_free(connection, name)
    values = {"name": name, "role": role, "password": password, "active": True, "created": time.time()}
    number = insert_one(connection, person, values)
    return Person(number, name, role, True)


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise InputError(f"invalid role {role!r}", f"choose from {', '.join(ROLES)}")


def _check_is_for_people(name: str) -> None:
    if looks_like_model(name):
        problem = f"the name {name!r} is for models: people could not be told from models by their names"
        raise InputError(problem, f"choose a name that does not start with {MODEL_MARK!r}")


def _check_name_is_free(connection: Connection, name: str) -> None:
    if find_person(connection, name) is not None:
        raise InputError(f"the name {name!r} is already taken", "choose another name")
    looks = likeness(name)
    alike = next(
        (taken for taken in connection.scalars(sa.select(person.c.name)) if likeness(taken) & looks), None
    )
    if alike is not None:
        raise InputError(f"the name {name!r} looks like {alike!r}, which is taken", "choose another name")


def change_person(connection: Connection, number: int, *, role: str, active: bool) -> None:
    """Set the role, and whether the person may sign in; at least one active admin must remain."""
    account = get_person(connection, number)
    if role == "admin" and account is not None:
        _check_is_for_people(account.name)
    connection.execute(person.update().where(person.c.id == number).values(role=role, active=active))
    note_access_change(connection)
    admins = sa.select(sa.func.count()).where(person.c.role == "admin", person.c.active)
    if not connection.scalar(admins):
        raise InputError("no active admin would remain", "make somebody else an admin first")
    if not active:
        revoke_access(connection, number)


def revoke_access(connection: Connection, number: int) -> None:
    """End all sessions of a person, and withdraw the links with which they could set a password."""
    connection.execute(session.delete().where(session.c.person == number))
    note_access_change(connection)
    unused = (invitation.c.person == number, invitation.c.used.is_(None))
    connection.execute(invitation.delete().where(*unused))


def set_password(connection: Connection, number: int, password: str) -> None:
    """Set a new (hashed) password; all sessions and links of the person end. It does not unblock anybody."""
    account = get_person(connection, number)
    if account is not None:
        _check_is_for_people(account.name)
    connection.execute(person.update().where(person.c.id == number).values(password=password))
    revoke_access(connection, number)


# -- sessions ----------------------------------------------------------------------------------------------
def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def start_session(connection: Connection, owner: Person, hours: float) -> tuple[str, Visit]:
    """Start a session; returns the token for the cookie, and the session. Models cannot sign in."""
    _check_is_for_people(owner.name)
    token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    now = time.time()
    visit = Visit(owner, csrf, now + 3600 * hours)
    row = {
        "token": _hashed(token),
        "person": owner.id,
        "csrf": csrf,
        "created": now,
        "expires": visit.expires,
    }
    connection.execute(session.delete().where(session.c.expires < now))
    connection.execute(session.insert().values(row))
    return token, visit


def find_session(connection: Connection, token: str) -> Visit | None:
    """The session of a cookie, if it has not expired."""
    row = connection.execute(
        sa.select(*_COLUMNS, session.c.csrf, session.c.expires)
        .join_from(session, person)
        .where(session.c.token == _hashed(token), session.c.expires > time.time(), person.c.active)
    ).first()
    return None if row is None else Visit(_person(row), row.csrf, row.expires)


def end_session(connection: Connection, token: str) -> None:
    """Delete a session."""
    connection.execute(session.delete().where(session.c.token == _hashed(token)))
    note_access_change(connection)


_ACCESS = meta.c.name == "access"


def access_version(connection: Connection) -> str:
    """Changes whenever a session ended early or somebody's access changed."""
    return connection.scalar(sa.select(meta.c.value).where(_ACCESS)) or ""


def note_access_change(connection: Connection) -> None:
    """Tell all processes to look at the database again, instead of believing the sessions in memory."""
    connection.execute(meta.update().where(_ACCESS).values(value=secrets.token_hex(8)))


# -- invitations -------------------------------------------------------------------------------------------
def add_invitation(
    connection: Connection, name: str, role: str, hours: float, *, number: int | None = None
) -> RowMapping:
    """Invite somebody to join as ``name``; with ``number``, let that person set a new password."""
    _check_role(role)
    _check_is_for_people(name)
    if number is None and name:
        _check_name_is_free(connection, name)
    now = time.time()
    values = {"name": name, "role": role, "person": number, "created": now, "expires": now + 3600 * hours}
    invitation_id = insert_one(connection, invitation, values)
    query = sa.select(invitation).where(invitation.c.id == invitation_id)
    return connection.execute(query).mappings().one()


def open_invitations(connection: Connection) -> list[RowMapping]:
    """Invitations that can still be accepted."""
    query = sa.select(invitation).where(*_is_open()).order_by(invitation.c.id)
    return list(connection.execute(query).mappings())


def _is_open() -> tuple[sa.ColumnElement[bool], ...]:
    return invitation.c.used.is_(None), invitation.c.expires > time.time()


def get_invitation(connection: Connection, number: int) -> RowMapping | None:
    """The invitation with this id, if it can still be accepted."""
    return next((row for row in open_invitations(connection) if row["id"] == number), None)


def use_invitation(connection: Connection, number: int) -> bool:
    """Mark as used; False if it was used, withdrawn or expired, so that a link works only once."""
    update = invitation.update().where(*_is_open(), invitation.c.id == number).values(used=time.time())
    return connection.execute(update).rowcount == 1


def withdraw_invitation(connection: Connection, number: int) -> bool:
    """Delete an unused invitation, so that its link no longer works."""
    unused = (invitation.c.used.is_(None), invitation.c.id == number)
    return connection.execute(invitation.delete().where(*unused)).rowcount == 1
