"""One stopping rule for everything here that iterates: it keeps the objective's trace and tells the truth."""

from __future__ import annotations

import warnings
from collections.abc import Callable


class NotConverged(UserWarning):
    """An iteration reached its last step before its objective settled."""


Progress = Callable[[int, int], None]
"""Called with (steps done, steps at most)."""


def iterate(
    step: Callable[[], float],
    *,
    tolerance: float,
    max_steps: int,
    what: str,
    progress: Progress | None = None,
) -> tuple[tuple[float, ...], bool]:
    """Repeat ``step``, which returns the objective, until that settles → (its trace, whether it did).

    It has settled when a step changes it by at most ``tolerance · max(1, |objective|)``. Otherwise
    :class:`NotConverged` is warned of after ``max_steps``.

    >>> x = [1.0]
    >>> def halve():
    ...     x[0] /= 2
    ...     return x[0]
    >>> iterate(halve, tolerance=0.1, max_steps=10, what="halving")
    ((0.5, 0.25, 0.125, 0.0625), True)
    """
    if max_steps < 1:
        raise ValueError("max_steps must be at least 1")
    trace: list[float] = []
    for done in range(1, max_steps + 1):
        trace.append(step())
        if progress is not None:
            progress(done, max_steps)
        if done > 1 and abs(trace[-1] - trace[-2]) <= tolerance * max(1.0, abs(trace[-1])):
            return tuple(trace), True
    message = f"{what} did not converge in {max_steps} steps; allow more or a larger tolerance"
    warnings.warn(message, NotConverged, stacklevel=3)
    return tuple(trace), False
