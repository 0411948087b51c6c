"""Sign-in and sign-out, invitations, and people."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel
from sqlalchemy.engine import RowMapping

from topkit.data.errors import InputError
from topkit.web import auth
from topkit.web.guard import COOKIE, Admin, SomeoneVisit, Stored, sessions_of, settings_of
from topkit.web.lookup import existing, open_invitation
from topkit.web.settings import Settings
from topkit.web.shapes import PROBLEMS, Body, Id, Message, Name, Password, Token
from topkit.web.store import Store, people
from topkit.web.store.people import Person

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


def _invitation_out(store: Store, row: RowMapping) -> InvitationOut:
    return InvitationOut(**row, link=auth.invitation_path(store.secret, row["id"], row["expires"]))


def _start_session(response: Response, store: Store, settings: Settings, person: Person) -> SessionOut:
    with store.write() as connection:
        token, visit = people.start_session(connection, person, settings.session_hours)
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(3600 * settings.session_hours),
        httponly=True,
        secure=settings.https,
        samesite="lax",
    )
    return SessionOut(person=_out(person), csrf=visit.csrf)


@router.post("/session", responses={429: {"description": "Too many wrong passwords; try later."}})
def sign_in(body: Login, request: Request, response: Response, store: Stored) -> SessionOut:
    """Sign in; sets the session cookie."""
    settings = settings_of(request)
    address = request.client.host if request.client else ""
    with store.read() as connection:
        by_name, by_address = people.wrong_passwords(connection, body.name, address, settings.attempt_minutes)
        account = people.find_person(connection, body.name)
    if by_name >= settings.attempts or by_address >= 4 * settings.attempts:
        headers = {"Retry-After": str(int(60 * settings.attempt_minutes))}
        minutes = f"{settings.attempt_minutes:g} minutes"
        raise HTTPException(429, f"Too many wrong passwords. Try again in {minutes}.", headers)
    person, hashed = account or (None, None)
    if not auth.password_matches(body.password, hashed) or person is None or not person.active:
        with store.write() as connection:
            people.note_wrong_password(connection, body.name, address, settings.attempt_minutes)
        raise HTTPException(401, "The name or the password is wrong.")
    with store.write() as connection:
        people.forget_wrong_passwords(connection, body.name)
    return _start_session(response, store, settings, person)


@router.get("/session")
async def who_am_i(visit: SomeoneVisit) -> SessionOut:
    """Who is signed in."""
    return SessionOut(person=_out(visit.person), csrf=visit.csrf)


@router.delete("/session")
def sign_out(request: Request, response: Response, _: SomeoneVisit, store: Stored) -> Message:
    """Sign out."""
    with store.write() as connection:
        people.end_session(connection, request.cookies[COOKIE])
    sessions_of(request).forget()
    response.delete_cookie(COOKIE)
    return Message(message="You are signed out.")


@router.put("/session/password")
def change_password(
    body: NewPassword,
    request: Request,
    response: Response,
    visit: SomeoneVisit,
    store: Stored,
) -> SessionOut:
    """Change your password; your other sessions end."""
    with store.read() as connection:
        account = people.find_person(connection, visit.person.name)
    if account is None or not auth.password_matches(body.password, account[1]):
        raise InputError("the current password is wrong", "type it again")
    hashed = auth.hash_password(body.new)
    with store.write() as connection:
        people.set_password(connection, visit.person.id, hashed)
    sessions_of(request).forget()
    return _start_session(response, store, settings_of(request), visit.person)


# -- invitations -------------------------------------------------------------------------------------------
@router.get("/invitations")
def invitations(_: Admin, store: Stored) -> list[InvitationOut]:
    """The open invitations with their links."""
    with store.read() as connection:
        rows = people.open_invitations(connection)
    return [_invitation_out(store, row) for row in rows]


@router.post("/invitations", status_code=201)
def invite(body: Invite, request: Request, _: Admin, store: Stored) -> InvitationOut:
    """Invite somebody; give them the link."""
    with store.write() as connection:
        row = people.add_invitation(connection, body.name, body.role, settings_of(request).invitation_hours)
    return _invitation_out(store, row)


@router.delete("/invitations/{number}")
def withdraw(number: Id, _: Admin, store: Stored) -> Message:
    """Withdraw an invitation, so that its link no longer works."""
    with store.write() as connection:
        existing(people.withdraw_invitation(connection, number), "invitation")
    return Message(message="The invitation was withdrawn.")


@router.post("/invitations/accept", status_code=201)
def accept(body: Accept, request: Request, response: Response, store: Stored) -> SessionOut:
    """Accept an invitation: set the password and sign in. A link works once."""
    row = open_invitation(store, body.token)
    hashed = auth.hash_password(body.password)
    with store.write() as connection:
        if not people.use_invitation(connection, row["id"]):
            raise HTTPException(404, "This link was used before. Ask for a new one.")
        if row["person"] is None:
            person = people.add_person(connection, row["name"], row["role"], hashed)
        else:
            people.set_password(connection, row["person"], hashed)
            person = existing(people.get_person(connection, row["person"]), "person")
        people.forget_wrong_passwords(connection, person.name)
    sessions_of(request).forget()
    return _start_session(response, store, settings_of(request), person)


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
        hours = settings_of(request).invitation_hours
        row = people.add_invitation(connection, person.name, person.role, hours, number=number)
    return _invitation_out(store, row)
