"""Checks of settings, and the ranges that a search over settings may draw from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from topkit.data import InputError


@dataclass(frozen=True)
class Span:
    """A range of numbers for a search: even steps or, with ``log``, even factors; ``whole`` numbers only."""

    low: float
    high: float
    log: bool = False
    whole: bool = False


Space = Mapping[str, "Span | tuple[object, ...]"]
"""Setting → the range or the choices that a search may try."""


def check(fine: bool, name: str, value: object, wanted: str) -> None:
    """Raise unless a setting is fine, saying what it should be."""
    if not fine:
        raise InputError(f"{name} must be {wanted}, not {value!r}")
