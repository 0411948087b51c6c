"""Passwords by Argon2, and invitation links that are signed with the store's own secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from topkit.data.errors import InputError

LEAST = 10
MOST = 1000  # characters; a longer one only costs time
_hasher = PasswordHasher()
_few = BoundedSemaphore(4)  # a hash takes 64 MB: many at once must not fill the memory


def hash_password(password: str) -> str:
    """The Argon2id hash of a password that is long enough."""
    if not LEAST <= len(password) <= MOST:
        raise InputError(
            f"a password has {LEAST} to {MOST} characters", "choose a longer one; words are fine"
        )
    with _few:
        return _hasher.hash(password)


@cache
def _nobody() -> str:
    return _hasher.hash("the password of nobody")


def password_fits(password: str, hashed: str | None) -> bool:
    """Whether it is the right one. Takes as long for people who do not exist, so that time tells nothing."""
    try:
        with _few:
            return _hasher.verify(hashed or _nobody(), password[:MOST]) and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


def sign_invitation(secret: bytes, number: int, expires: float) -> str:
    """The token of a link: the invitation's number and its signature.

    >>> token = sign_invitation(b"secret", 7, 1e9)
    >>> invitation_number(token), is_signed(b"secret", token, 1e9), is_signed(b"other", token, 1e9)
    (7, True, False)
    """
    message = f"topkit invitation {number} {expires:.3f}".encode()
    digest = hmac.new(secret, message, hashlib.sha256).digest()
    return f"{number}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def invitation_number(token: str) -> int | None:
    """The invitation that a token speaks of, whether or not it is signed."""
    number, _, _ = token.partition(".")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else None


def is_signed(secret: bytes, token: str, expires: float) -> bool:
    """Whether the token was made with the secret."""
    number = invitation_number(token)
    if number is None:
        return False
    return hmac.compare_digest(sign_invitation(secret, number, expires).encode(), token.encode())
