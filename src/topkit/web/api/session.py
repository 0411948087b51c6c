"""Sign-in and sign-out, invitations, and people."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy.engine import RowMapping

from topkit.data.errors import InputError
from topkit.web import accounts, auth
from topkit.web.guard import Admin, SomeoneVisit, Stored, sessions_of, settings_of
from topkit.web.lookup import existing
from topkit.web.shapes import PROBLEMS, Body, Id, Message, Name, Password, Token
from topkit.web.store import Store, people
from topkit.web.store.people import Person, Visit

router = APIRouter(prefix="/api", tags=["people"], responses=PROBLEMS)
Role = Literal["admin", "assessor"]


class PersonOut(BaseModel):
    """A person with an account."""

    id: int
    name: str
    role: Role
    active: bool


class SessionOut(BaseModel):
    """Who is signed in. Send ``csrf`` in the header X-CSRF-Token of every request that changes something."""

    person: PersonOut
    csrf: str


class Login(Body):
    """A name and a password."""

    name: Name
    password: Password


class NewPassword(Body):
    """The current password and the new one."""

    password: Password
    new: Password


class Invite(Body):
    """Whom to invite, and the role."""

    name: Name
    role: Role = "assessor"


class Accept(Body):
    """The token of an invitation link, and the password to set."""

    token: Token
    password: Password


class Change(Body):
    """The role of a person, and whether they may sign in."""

    role: Role
    active: bool


class InvitationOut(BaseModel):
    """An open invitation. The link works once."""

    id: int
    name: str
    role: Role
    expires: float
    link: str


def _out(person: Person) -> PersonOut:
    return PersonOut.model_validate(person, from_attributes=True)


def _invitation_out(request: Request, store: Store, row: RowMapping) -> InvitationOut:
    path = auth.invitation_path(store.secret, row["id"], row["expires"])
    return InvitationOut(**row, link=settings_of(request).root + path)


def _signed_in(request: Request, response: Response, session: tuple[str, Visit]) -> SessionOut:
    token, visit = session
    accounts.set_cookie(request, response, token)
    return SessionOut(person=_out(visit.person), csrf=visit.csrf)


@router.post("/session", responses={429: {"description": "Too many wrong passwords; wait a little."}})
def sign_in(body: Login, request: Request, response: Response) -> SessionOut:
    """Sign in; sets the session cookie. After wrong passwords the next attempt has to wait a little."""
    return _signed_in(request, response, accounts.sign_in(request, body.name, body.password))


@router.get("/session")
async def who_am_i(visit: SomeoneVisit) -> SessionOut:
    """Who is signed in."""
    return SessionOut(person=_out(visit.person), csrf=visit.csrf)


@router.delete("/session")
def sign_out(request: Request, response: Response, _: SomeoneVisit) -> Message:
    """Sign out."""
    accounts.sign_out(request, response)
    return Message(message="You are signed out.")


@router.put("/session/password")
def change_password(
    body: NewPassword, request: Request, response: Response, visit: SomeoneVisit
) -> SessionOut:
    """Change your password; your other sessions and open links end."""
    session = accounts.change_password(request, visit.person, body.password, body.new)
    return _signed_in(request, response, session)


# -- invitations -------------------------------------------------------------------------------------------
@router.get("/invitations")
def invitations(request: Request, _: Admin, store: Stored) -> list[InvitationOut]:
    """The open invitations with their links."""
    with store.read() as connection:
        rows = people.open_invitations(connection)
    return [_invitation_out(request, store, row) for row in rows]


@router.post("/invitations", status_code=201)
def invite(body: Invite, request: Request, _: Admin, store: Stored) -> InvitationOut:
    """Invite somebody; give them the link."""
    with store.write() as connection:
        row = people.add_invitation(connection, body.name, body.role, settings_of(request).invitation_hours)
    return _invitation_out(request, store, row)


@router.delete("/invitations/{number}")
def withdraw(number: Id, _: Admin, store: Stored) -> Message:
    """Withdraw an invitation, so that its link no longer works."""
    with store.write() as connection:
        existing(people.withdraw_invitation(connection, number), "invitation")
    return Message(message="The invitation was withdrawn.")


@router.post("/invitations/accept", status_code=201)
def accept(body: Accept, request: Request, response: Response) -> SessionOut:
    """Accept an invitation: set the password and sign in. A link works once."""
    return _signed_in(request, response, accounts.accept_invitation(request, body.token, body.password))


# -- people ------------------------------------------------------------------------------------------------
@router.get("/people")
def everybody(_: Admin, store: Stored) -> list[PersonOut]:
    """Everybody with an account."""
    with store.read() as connection:
        return [_out(person) for person in people.everyone(connection)]


@router.patch("/people/{number}")
def change(number: Id, body: Change, request: Request, _: Admin, store: Stored) -> PersonOut:
    """Change somebody's role, or whether they may sign in."""
    with store.write() as connection:
        existing(people.get_person(connection, number), "person")
        people.change_person(connection, number, role=body.role, active=body.active)
        person = existing(people.get_person(connection, number), "person")
    sessions_of(request).forget()
    return _out(person)


@router.post("/people/{number}/link", status_code=201)
def new_link(number: Id, request: Request, _: Admin, store: Stored) -> InvitationOut:
    """Create a link with which a person sets a new password."""
    with store.write() as connection:
        person = existing(people.get_person(connection, number), "person")
        if not person.active:
            raise InputError(f"{person.name!r} is blocked", "unblock the account first")
        hours = settings_of(request).invitation_hours
        row = people.add_invitation(connection, person.name, person.role, hours, number=number)
    return _invitation_out(request, store, row)
