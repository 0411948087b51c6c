"""Every iteration (descent, boosting, EM, cutting planes): when it stops, its trace of values, its report."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

Report = Callable[[str, int, int, float], None]
"""(name of the value, step, maximum number of steps, value): called after each step; what it shows is up to
the caller."""


def silent(what: str, step: int, steps: int, value: float) -> None:
    """A report that prints nothing."""


class NotConverged(UserWarning):
    """An iteration ended at its step limit before it converged."""


@dataclass
class Trace:
    """Decides after each step whether to continue, and keeps the value of every step.

    The iteration stops when a step changes the value by at most ``tolerance`` · max(1, |value|) (settled),
    when none of the last ``patience`` steps was the best so far (patience), or after ``max_steps``.

    >>> trace = Trace(max_steps=50, tolerance=1e-3)
    >>> x = 1.0
    >>> while trace.go_on(x):
    ...     x = 0.5 * (x + 2 / x)
    >>> trace.reason, trace.steps, round(x, 3)
    ('settled', 4, 1.414)
    """

    max_steps: int
    tolerance: float | None = None
    patience: int | None = None
    larger_is_better: bool = False
    values: list[float] = field(default_factory=list)
    """The value before the first step, then after each step."""
    best_step: int = 0
    reason: str = ""
    """Why it stopped: ``settled``, ``patience`` or ``step limit``. Empty while it runs."""

    def __post_init__(self) -> None:
        if self.max_steps < 0:
            raise ValueError(f"max_steps must be at least 0, got {self.max_steps}")

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return max(len(self.values) - 1, 0)

    @property
    def best(self) -> float:
        """The best value so far."""
        return self.values[self.best_step]

    @property
    def converged(self) -> bool:
        """Whether it stopped for a reason other than the step limit."""
        return self.reason not in ("", "step limit")

    def go_on(self, value: float) -> bool:
        """Record the value of the latest step; True if another step should follow."""
        if not math.isfinite(value):
            raise ArithmeticError(f"the objective became {value} after {len(self.values)} steps")
        last = self.values[-1] if self.values else None
        self.values.append(float(value))
        gain = value - self.best if self.larger_is_better else self.best - value
        if gain > 0:
            self.best_step = self.steps
        if last is not None and self.tolerance is not None:
            change = abs(value - last)
            if change <= self.tolerance * max(1.0, abs(value)):
                self.reason = "settled"
        if not self.reason and self.patience is not None and self.steps - self.best_step >= self.patience:
            self.reason = "patience"
        if not self.reason and self.steps >= self.max_steps:
            self.reason = "step limit"
        return not self.reason

    def warn_unless_converged(self, what: str) -> None:
        """Warn with :class:`NotConverged` if it stopped at the step limit."""
        if self.reason == "step limit":
            warnings.warn(
                f"{what} did not converge in {self.max_steps} steps; the last value was {self.values[-1]:g}",
                NotConverged,
                stacklevel=3,
            )
