"""Checks of settings that several losses share."""

from __future__ import annotations

from topkit.data import InputError


def at_least_one(name: str, value: int) -> None:
    """Raise unless a whole number is 1 or more."""
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")


def positive(name: str, value: float) -> None:
    """Raise unless a number is above 0."""
    if not value > 0:
        raise InputError(f"{name} must be above 0, not {value!r}")


def between(name: str, value: float, low: float, high: float) -> None:
    """Raise unless low ≤ value ≤ high."""
    if not low <= value <= high:
        raise InputError(f"{name} must lie between {low:g} and {high:g}, not {value!r}")


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise unless a value is among the choices."""
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
