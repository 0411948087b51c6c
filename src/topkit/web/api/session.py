"""Signing in and out, invitations, and people."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import BaseModel

from topkit.data.errors import InputError
from topkit.web import auth
from topkit.web.guard import COOKIE, Admin, Stored, sessions_of, settings_of, signed_in
from topkit.web.settings import Settings
from topkit.web.shapes import PROBLEMS, Body, Id, Name, Password, Said, Token
from topkit.web.store import Store, people
from topkit.web.store.people import Person, Visit

router = APIRouter(prefix="/api", tags=["people"], responses=PROBLEMS)
Role = Literal["admin", "assessor"]


class PersonOut(BaseModel):
    """Someone who may sign in."""

    id: int
    name: str
    role: Role
    active: bool


class SessionOut(BaseModel):
    """Who is signed in; ``csrf`` goes into the header X-CSRF-Token of every change."""

    person: PersonOut
    csrf: str


class Login(Body):
    """A name and its password."""

    name: Name
    password: Password


class NewPassword(Body):
    """The present password and the next."""

    password: Password
    new: Password


class Invite(Body):
    """Whom to invite, as what."""

    name: Name
    role: Role = "assessor"


class Accept(Body):
    """The token of an invitation link, and the password to sign in with from now on."""

    token: Token
    password: Password


class Change(Body):
    """A person's role, and whether they may sign in."""

    role: Role
    active: bool


class InvitationOut(BaseModel):
    """An invitation that is open. The link works once."""

    id: int
    name: str
    role: Role
    expires: float
    link: str


def _out(person: Person) -> PersonOut:
    return PersonOut.model_validate(person, from_attributes=True)


def link_of(store: Store, number: int, expires: float) -> str:
    """The path of an invitation link."""
    return f"/invite/{auth.sign_invitation(store.secret, number, expires)}"


def _begin(response: Response, store: Store, settings: Settings, person: Person) -> SessionOut:
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


@router.post("/session", responses={429: {"description": "Too many wrong passwords; wait."}})
def sign_in(body: Login, request: Request, response: Response, store: Stored) -> SessionOut:
    """Sign in; sets the session's cookie."""
    settings = settings_of(request)
    address = request.client.host if request.client else ""
    with store.read() as connection:
        of_name, of_address = people.wrong_passwords(connection, body.name, address, settings.attempt_minutes)
        found = people.find_person(connection, body.name)
    if of_name >= settings.attempts or of_address >= 4 * settings.attempts:
        wait = {"Retry-After": str(int(60 * settings.attempt_minutes))}
        minutes = f"{settings.attempt_minutes:g} minutes"
        raise HTTPException(429, f"Too many wrong passwords. Try again in {minutes}.", wait)
    person, hashed = found or (None, None)
    if not auth.password_fits(body.password, hashed) or person is None or not person.active:
        with store.write() as connection:
            people.note_wrong_password(connection, body.name, address, settings.attempt_minutes)
        raise HTTPException(401, "The name or the password is wrong.")
    with store.write() as connection:
        people.forget_wrong_passwords(connection, body.name)
    return _begin(response, store, settings, person)


@router.get("/session")
async def who_am_i(visit: Annotated[Visit, Depends(signed_in)]) -> SessionOut:
    """Who is signed in."""
    return SessionOut(person=_out(visit.person), csrf=visit.csrf)


@router.delete("/session")
def sign_out(
    request: Request, response: Response, _: Annotated[Visit, Depends(signed_in)], store: Stored
) -> Said:
    """Sign out."""
    with store.write() as connection:
        people.end_session(connection, request.cookies[COOKIE])
    sessions_of(request).forget()
    response.delete_cookie(COOKIE)
    return Said(message="You are signed out.")


@router.put("/session/password")
def change_password(
    body: NewPassword,
    request: Request,
    response: Response,
    visit: Annotated[Visit, Depends(signed_in)],
    store: Stored,
) -> SessionOut:
    """Change your password; your other sessions end."""
    with store.read() as connection:
        found = people.find_person(connection, visit.person.name)
    if found is None or not auth.password_fits(body.password, found[1]):
        raise InputError("the present password is wrong", "type it again")
    hashed = auth.hash_password(body.new)
    with store.write() as connection:
        people.set_password(connection, visit.person.id, hashed)
    sessions_of(request).forget()
    return _begin(response, store, settings_of(request), visit.person)


# -- invitations -------------------------------------------------------------------------------------------
@router.get("/invitations")
def invitations(_: Admin, store: Stored) -> list[InvitationOut]:
    """The open invitations with their links."""
    with store.read() as connection:
        rows = people.open_invitations(connection)
    return [InvitationOut(**row, link=link_of(store, row["id"], row["expires"])) for row in rows]


@router.post("/invitations", status_code=201)
def invite(body: Invite, request: Request, _: Admin, store: Stored) -> InvitationOut:
    """Invite somebody; hand them the link."""
    with store.write() as connection:
        row = people.add_invitation(connection, body.name, body.role, settings_of(request).invitation_hours)
    return InvitationOut(**row, link=link_of(store, row["id"], row["expires"]))


@router.delete("/invitations/{number}")
def withdraw(number: Id, _: Admin, store: Stored) -> Said:
    """Make an invitation's link worthless."""
    with store.write() as connection:
        if not people.withdraw_invitation(connection, number):
            raise HTTPException(404, "There is no such invitation.")
    return Said(message="The invitation is withdrawn.")


@router.post("/invitations/accept", status_code=201)
def accept(body: Accept, request: Request, response: Response, store: Stored) -> SessionOut:
    """Accept an invitation by its token: sets the password and signs in. A link works once."""
    number = auth.invitation_number(body.token)
    with store.read() as connection:
        row = None if number is None else people.get_invitation(connection, number)
    if row is None or not auth.is_signed(store.secret, body.token, row["expires"]):
        raise HTTPException(404, "This link is not valid, was used before, or is too old. Ask for a new one.")
    hashed = auth.hash_password(body.password)
    with store.write() as connection:
        if not people.use_invitation(connection, row["id"]):
            raise HTTPException(404, "This link was used before. Ask for a new one.")
        if row["person"] is None:
            person = people.add_person(connection, row["name"], row["role"], hashed)
        else:
            people.set_password(connection, row["person"], hashed)
            person = people.get_person(connection, row["person"])  # type: ignore[assignment]
        people.forget_wrong_passwords(connection, person.name)
    sessions_of(request).forget()
    return _begin(response, store, settings_of(request), person)


# -- people ------------------------------------------------------------------------------------------------
@router.get("/people")
def everybody(_: Admin, store: Stored) -> list[PersonOut]:
    """Everybody who may or might sign in."""
    with store.read() as connection:
        return [_out(person) for person in people.everyone(connection)]


@router.patch("/people/{number}")
def change(number: Id, body: Change, request: Request, _: Admin, store: Stored) -> PersonOut:
    """Change somebody's role, or whether they may sign in."""
    with store.write() as connection:
        if people.get_person(connection, number) is None:
            raise HTTPException(404, "There is no such person.")
        people.change_person(connection, number, role=body.role, active=body.active)
        person = people.get_person(connection, number)
    sessions_of(request).forget()
    return _out(person)  # type: ignore[arg-type]


@router.post("/people/{number}/link", status_code=201)
def new_link(number: Id, request: Request, _: Admin, store: Stored) -> InvitationOut:
    """A link by which somebody sets a new password."""
    with store.write() as connection:
        person = people.get_person(connection, number)
        if person is None:
            raise HTTPException(404, "There is no such person.")
        hours = settings_of(request).invitation_hours
        row = people.add_invitation(connection, person.name, person.role, hours, number=number)
    return InvitationOut(**row, link=link_of(store, row["id"], row["expires"]))
