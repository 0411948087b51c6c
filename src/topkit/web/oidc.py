"""Sign-in with OpenID Connect: authorization code with PKCE, and an ID token that is checked completely.

Settings are environment variables, because a client secret does not belong on a command line:

- ``TOPKIT_OIDC_ISSUER``: the URL of the provider; its configuration is read from /.well-known.
- ``TOPKIT_OIDC_CLIENT`` and ``TOPKIT_OIDC_SECRET``: the client as registered there, with the redirect URL
  ``https://your-host/oidc/callback``.
- ``TOPKIT_OIDC_CLAIM``: the claim that contains the person's name here; by default ``email``. Choose one that
  people cannot change themselves. An email address counts only if the provider has verified it.
- ``TOPKIT_OIDC_CREATE=yes``: create an assessor for a name that does not exist. By default only people with
  an account may sign in.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa
from itsdangerous import BadData, URLSafeTimedSerializer
from sqlalchemy.engine import Connection

from topkit.compute.extras import require
from topkit.data.errors import InputError
from topkit.web.names import looks_like_model
from topkit.web.schema import identity
from topkit.web.store import people
from topkit.web.store.people import Person

MINUTES = 10
"""How long a person may take at the provider."""
CONFIGURATION_SECONDS = 3600.0
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
"""Signatures with a public key only; "none" and shared secrets are never accepted."""


@dataclass(frozen=True)
class Client:
    """The app as a client of a provider."""

    issuer: str
    client: str
    secret: str
    claim: str = "email"
    """Which claim of the provider is the name of the account."""
    create: bool = False
    """Whether people without an account get one when they first sign in."""

    @classmethod
    def from_environment(cls, values: Mapping[str, str] | None = None) -> Client | None:
        """The client that the environment describes, or None."""
        values = os.environ if values is None else values
        issuer = values.get("TOPKIT_OIDC_ISSUER", "").rstrip("/")
        if not issuer:
            return None
        missing = [name for name in ("TOPKIT_OIDC_CLIENT", "TOPKIT_OIDC_SECRET") if not values.get(name)]
        if missing:
            raise InputError(f"{missing[0]} is not set", "set it, or unset TOPKIT_OIDC_ISSUER")
        return cls(
            issuer,
            values["TOPKIT_OIDC_CLIENT"],
            values["TOPKIT_OIDC_SECRET"],
            values.get("TOPKIT_OIDC_CLAIM", "email"),
            values.get("TOPKIT_OIDC_CREATE", "").lower() in ("1", "yes", "true"),
        )


class SignInError(Exception):
    """The provider or its answer cannot be trusted, or the person has no account here."""


class Provider:
    """A provider with its configuration and keys, which are read when they are needed."""

    def __init__(self, client: Client, secret: bytes) -> None:
        self.client = client
        self._signer = URLSafeTimedSerializer(secret, salt="topkit oidc")
        self._lock = threading.Lock()
        self._configuration: tuple[float, dict[str, Any], Any] | None = None

    def start(self, redirect: str, after: str) -> tuple[str, str]:
        """The URL at the provider, and the value of the cookie that the callback needs."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self.client.client,
            "redirect_uri": redirect,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        values, _ = self._configured()
        cookie = self._signer.dumps([state, nonce, verifier, after])
        return f"{values['authorization_endpoint']}?{urlencode(query)}", str(cookie)

    def finish(self, code: str, state: str, cookie: str, redirect: str) -> tuple[dict[str, Any], str]:
        """The claims of the person, and the page to open; a SignInError if anything does not fit."""
        try:
            expected, nonce, verifier, after = self._signer.loads(cookie, max_age=60 * MINUTES)
        except BadData:
            raise SignInError("The sign-in took too long or started in another browser. Try again.") from None
        if not secrets.compare_digest(str(expected), state):
            raise SignInError("The sign-in does not belong to this browser. Try again.")
        claims = self._claims(self._exchange(code, verifier, redirect))
        if not secrets.compare_digest(str(claims.get("nonce", "")), str(nonce)):
            raise SignInError("The provider answered another sign-in. Try again.")
        return claims, str(after)

    def _exchange(self, code: str, verifier: str, redirect: str) -> str:
        values, _ = self._configured()
        httpx = require("httpx", "oidc")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        login = (self.client.client, self.client.secret)
        try:
            reply = httpx.post(values["token_endpoint"], data=form, auth=login, timeout=10)
            token = reply.json().get("id_token") if reply.status_code == 200 else None
        except (httpx.HTTPError, ValueError):
            token = None
        if not isinstance(token, str):
            raise SignInError("The provider did not accept the sign-in. Try again.")
        return token

    def _claims(self, token: str) -> dict[str, Any]:
        """The claims of an ID token whose signature, issuer, audience and times are right."""
        jwt = require("jwt", "oidc")
        values, keys = self._configured()
        try:
            key = _signing_key(jwt, keys, token)
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=ALGORITHMS,
                audience=self.client.client,
                issuer=values["issuer"],
                leeway=30,
                options={"require": ["exp", "iat", "sub", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise SignInError(f"The provider's answer is invalid ({type(error).__name__}).") from None
        return claims

    def _configured(self) -> tuple[dict[str, Any], Any]:
        """The provider's configuration, and its keys."""
        with self._lock:
            now = time.monotonic()
            if self._configuration is None or self._configuration[0] < now:
                values = self._read_configuration()
                keys = require("jwt", "oidc").PyJWKClient(values["jwks_uri"], timeout=10)
                self._configuration = now + CONFIGURATION_SECONDS, values, keys
            return self._configuration[1], self._configuration[2]

    def _read_configuration(self) -> dict[str, Any]:
        httpx = require("httpx", "oidc")
        address = f"{self.client.issuer}/.well-known/openid-configuration"
        try:
            reply = httpx.get(address, timeout=10)
            values: dict[str, Any] = reply.json() if reply.status_code == 200 else {}
        except (httpx.HTTPError, ValueError):
            values = {}
        needed = ("authorization_endpoint", "token_endpoint", "jwks_uri", "issuer")
        if not all(isinstance(values.get(name), str) for name in needed):
            raise SignInError("The sign-in provider cannot be reached. Use your password, or try later.")
        if values["issuer"].rstrip("/") != self.client.issuer:
            raise SignInError("The sign-in provider names another issuer.")
        return values


def _signing_key(jwt: Any, keys: Any, token: str) -> Any:
    """The key that the token names; a provider with a single key need not name it."""
    if "kid" in jwt.get_unverified_header(token):
        return keys.get_signing_key_from_jwt(token)
    (only, *others) = keys.get_jwk_set().keys
    if others:
        raise jwt.PyJWKClientError("the token does not name its key")
    return only


def person_of(connection: Connection, client: Client, claims: Mapping[str, Any]) -> Person:
    """The person who signed in: linked before, or with the name in the claim; otherwise a SignInError."""
    subject = str(claims["sub"])
    linked = (identity.c.issuer == client.issuer, identity.c.subject == subject)
    number = connection.scalar(sa.select(identity.c.person).where(*linked))
    person = None if number is None else people.get_person(connection, number)
    if person is None:
        person = _first_time(connection, client, claims)
        values = {"issuer": client.issuer, "subject": subject, "person": person.id}
        connection.execute(identity.insert().values(values))
    if not person.active:
        raise SignInError("Your account is stopped. Ask an admin.")
    return person


def _first_time(connection: Connection, client: Client, claims: Mapping[str, Any]) -> Person:
    name = str(claims.get(client.claim, "")).strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise SignInError(f"The provider gives no usable {client.claim!r}.")
    if client.claim == "email" and claims.get("email_verified") is not True:
        raise SignInError("The provider has not verified your email address.")
    if looks_like_model(name):
        raise SignInError(f"The name {name} is for models. Ask an admin for an invitation with another name.")
    known = people.find_person(connection, name)
    if known is not None:
        return known[0]
    if not client.create:
        raise SignInError(f"There is no account for {name}. Ask an admin for an invitation with this name.")
    return people.add_person(connection, name, "assessor")
