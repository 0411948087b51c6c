"""Numbers for JSON, which has no NaN."""

from __future__ import annotations

from math import isnan


def number_or_none(value: float) -> float | None:
    """The number; None instead of NaN."""
    return None if isnan(value) else float(value)
