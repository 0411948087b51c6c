"""Progress of long computations: they call a function after each step and do not know what it shows."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[str, int, int, float], None]
"""(name of the value, step, maximum number of steps, value): called after each step."""


def silent(what: str, step: int, steps: int, value: float) -> None:
    """A report that prints nothing."""
