"""How long work tells of its progress, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[str, int, int, float], None]
"""(what the value is, step, most steps, value): called after every step."""


def silent(what: str, step: int, steps: int, value: float) -> None:
    """A report that prints nothing."""
