"""The two routes of sign-in with OpenID Connect."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from topkit.web import accounts, audit_log
from topkit.web.guard import Stored, settings_of
from topkit.web.oidc import MINUTES, Provider, SignInError, person_of
from topkit.web.pages.render import own_path, redirect
from topkit.web.store import people

router = APIRouter()
STATE_COOKIE = "topkit_oidc"


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.oidc
    if provider is None:
        raise HTTPException(404, "Sign-in with OpenID Connect is not set up.")
    return provider


def _callback(request: Request) -> str:
    """The redirect URL, which must be registered at the provider."""
    return (settings_of(request).public or str(request.base_url)).rstrip("/") + "/oidc/callback"


@router.get("/oidc/start")
def start(request: Request) -> Response:
    """Go to the provider."""
    after = own_path(request.query_params.get("next", ""))
    try:
        url, cookie = _provider(request).start(_callback(request), after)
    except SignInError as error:
        raise HTTPException(502, str(error)) from None
    response = RedirectResponse(url, 303)
    settings = settings_of(request)
    response.set_cookie(
        STATE_COOKIE,
        cookie,
        max_age=60 * MINUTES,
        path=settings.root + "/oidc",
        httponly=True,
        secure=settings.secure,
        samesite="lax",
    )
    return response


@router.get("/oidc/callback")
def callback(request: Request, store: Stored) -> Response:
    """Come back from the provider: check its answer, and start a session."""
    provider, values = _provider(request), request.query_params
    if "error" in values:
        raise HTTPException(403, "The provider refused the sign-in.")
    cookie = request.cookies.get(STATE_COOKIE, "")
    settings = settings_of(request)
    try:
        claims, after = provider.finish(
            values.get("code", ""), values.get("state", ""), cookie, _callback(request)
        )
        with store.write() as connection:
            person = person_of(connection, provider.client, claims)
            token, _ = people.start_session(connection, person, settings.session_hours)
            audit_log.record(connection, person.name, "GET /oidc/callback")
    except SignInError as error:
        raise HTTPException(403, str(error)) from None
    response = redirect(request, own_path(after))
    response.delete_cookie(STATE_COOKIE, path=settings.root + "/oidc")
    accounts.set_cookie(request, response, token)
    return response
