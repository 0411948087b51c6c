"""Forms that are posted without a script: to sign in and out, to join, to change the password.

All other forms need the script. Without it they come here too, and the page says that nothing was changed.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import Response

from topkit.data.errors import InputError
from topkit.web import accounts
from topkit.web.auth import SHORTEST_PASSWORD
from topkit.web.guard import Stored, check_csrf, visit_of
from topkit.web.lookup import open_invitation
from topkit.web.pages.render import NEEDS_SCRIPT, page, redirect
from topkit.web.shapes import Name, Password
from topkit.web.store.people import Visit

router = APIRouter()
Word = Annotated[Password, Form()]


def _entered(request: Request, session: tuple[str, Visit]) -> Response:
    response = redirect(request, "/")
    accounts.set_cookie(request, response, session[0])
    return response


@router.post("/login")
def sign_in(request: Request, name: Annotated[Name, Form()], password: Word) -> Response:
    """Sign in."""
    try:
        return _entered(request, accounts.sign_in(request, name, password))
    except HTTPException as error:
        response = page(request, "login.html", None, error.status_code, problem=error.detail)
        response.headers.update(error.headers or {})
        return response


@router.post("/invite/{token}")
def join(request: Request, token: str, password: Word, store: Stored) -> Response:
    """Accept an invitation."""
    invitation = open_invitation(store, token)
    try:
        return _entered(request, accounts.accept_invitation(request, token, password))
    except InputError as error:
        values = {"invitation": invitation, "token": token, "shortest": SHORTEST_PASSWORD}
        return page(request, "invite.html", None, 400, problem=str(error), **values)


async def form_visit(request: Request, csrf: Word = "") -> Visit:
    """The session of a posted form, which contains the CSRF token as a field."""
    visit = await visit_of(request)
    if visit is None:
        raise HTTPException(401, "Sign in first.")
    check_csrf(visit, csrf)
    return visit


FormVisit = Annotated[Visit, Depends(form_visit)]


@router.post("/account/password")
def change_password(request: Request, visit: FormVisit, password: Word, new: Word) -> Response:
    """Change the password."""
    try:
        return _entered(request, accounts.change_password(request, visit.person, password, new))
    except InputError as error:
        values = {"shortest": SHORTEST_PASSWORD, "problem": str(error)}
        return page(request, "account.html", visit, 400, **values)


@router.post("/account/sign-out")
def sign_out(request: Request, _: FormVisit) -> Response:
    """Sign out."""
    response = redirect(request, "/login")
    accounts.sign_out(request, response)
    return response


@router.post(NEEDS_SCRIPT)
async def needs_script(request: Request) -> Response:
    """A form that only works with a script."""
    visit = await visit_of(request)
    detail = (
        "Nothing was changed. This form needs JavaScript, which your browser blocks or did not load. "
        "Allow scripts for this site, go back and reload the page."
    )
    return page(request, "error.html", visit, 400, detail=detail)
