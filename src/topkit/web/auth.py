"""Passwords hashed with Argon2, and invitation links signed with the secret of the database."""

from __future__ import annotations

import hashlib
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from itsdangerous import BadData, URLSafeSerializer

from topkit.data.errors import InputError

SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 1000
"""A longer password only costs time."""
_hasher = PasswordHasher()
_few_at_once = BoundedSemaphore(4)
"""One hash takes 64 MB, so only a few are computed at the same time."""


EASY_GUESSES = 10.0**8
"""A password that an attacker finds with fewer guesses is refused."""


def hash_password(password: str, name: str = "") -> str:
    """The Argon2id hash of a password; the password must be long enough and hard to guess for this name."""
    if len(password) < SHORTEST_PASSWORD:
        problem = f"expected a password of at least {SHORTEST_PASSWORD} characters, got {len(password)}"
        raise InputError(problem, "choose a longer one, such as several words")
    if len(password) > LONGEST_PASSWORD:
        raise InputError(f"a password has at most {LONGEST_PASSWORD} characters", "choose a shorter one")
    from zxcvbn import zxcvbn  # its word lists take a while to load, and few requests need them

    guess = zxcvbn(password[:72], user_inputs=[name, *name.split()], max_length=72)
    if guess["guesses"] < EASY_GUESSES:
        reason = (guess["feedback"]["warning"] or "it is common, or close to your name").rstrip(".")
        problem = f"the password is easy to guess: {reason[0].lower()}{reason[1:]}"
        raise InputError(problem, "choose several words that have nothing to do with each other")
    with _few_at_once:
        return _hasher.hash(password)


@cache
def _unknown_person_hash() -> str:
    return _hasher.hash("password of an unknown person")


def password_matches(password: str, hashed: str | None) -> bool:
    """True if the password is correct.

    For an unknown person (``hashed`` is None) a hash is computed too, so that the response time does not
    reveal which names exist.
    """
    try:
        with _few_at_once:
            matches = _hasher.verify(hashed or _unknown_person_hash(), password[:LONGEST_PASSWORD])
            return matches and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


def _signer(secret: bytes) -> URLSafeSerializer:
    options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    return URLSafeSerializer(secret, salt="topkit invitation", signer_kwargs=options)


def invitation_token(secret: bytes, invitation: int, expires: float) -> str:
    """A signed token for an invitation link.

    >>> token = invitation_token(b"secret", 7, 1e9)
    >>> read_invitation_token(b"secret", token), read_invitation_token(b"other", token)
    ((7, 1000000000.0), None)
    """
    return str(_signer(secret).dumps([invitation, expires]))


def read_invitation_token(secret: bytes, token: str) -> tuple[int, float] | None:
    """The invitation and its expiry time, or None if the token was not signed with the secret."""
    try:
        invitation, expires = _signer(secret).loads(token)
    except BadData:
        return None
    return int(invitation), float(expires)


def invitation_path(secret: bytes, invitation: int, expires: float) -> str:
    """The path of an invitation link."""
    return f"/invite/{invitation_token(secret, invitation, expires)}"
