"""Bytes by name, and where tokens of a line begin and end."""

from __future__ import annotations

from numba import njit

SPACE, TAB, RETURN, NEWLINE, HASH, COLON = 32, 9, 13, 10, 35, 58
PLUS, MINUS, DOT, ZERO, NINE, EQUALS = 43, 45, 46, 48, 57, 61


@njit(cache=True, nogil=True, inline="always")
def is_blank(c):  # type: ignore[no-untyped-def]
    """What separates fields within a line: a space, tab, vertical tab, form feed or carriage return."""
    return c == SPACE or (TAB <= c <= RETURN and c != NEWLINE)


@njit(cache=True, nogil=True, inline="always")
def ends_token(c):  # type: ignore[no-untyped-def]
    return c == SPACE or TAB <= c <= RETURN


@njit(cache=True, nogil=True, inline="always")
def ends_field(c):  # type: ignore[no-untyped-def]
    """In LETOR lines a comment may follow a field without a space."""
    return TAB <= c <= RETURN or c in (SPACE, HASH)


@njit(cache=True, nogil=True, inline="always")
def field_end(text, i):  # type: ignore[no-untyped-def]
    while not ends_field(text[i]):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def skip_blanks(text, i, end):  # type: ignore[no-untyped-def]
    while i < end and is_blank(text[i]):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def token_end(text, i, end):  # type: ignore[no-untyped-def]
    while i < end and not is_blank(text[i]):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def same(text, a, b, length):  # type: ignore[no-untyped-def]
    for i in range(length):  # noqa: SIM110 (compiled: a loop is what it becomes)
        if text[a + i] != text[b + i]:
            return False
    return True
