"""A check that is replaced by declared settings."""

from __future__ import annotations

from topkit.data import InputError


def check(fine: bool, name: str, value: object, expected: str) -> None:
    """Raise unless a setting is fine."""
    if not fine:
        raise InputError(f"{name} must be {expected}, got {value!r}")
