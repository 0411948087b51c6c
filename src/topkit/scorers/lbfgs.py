"""L-BFGS: a quasi-Newton method that remembers the last steps and the changes of the gradient on them.

SciPy has it too, but importing scipy.optimize takes half a second, longer than most fits of linear rankers.
Nocedal & Wright, Numerical Optimization, algorithms 7.4 and 7.5. The line search is that of Lewis & Overton
(Mathematical Programming 2013), which also works where the gradient jumps, with cubic interpolation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from topkit.compute import Floats

Function = Callable[[Floats], tuple[float, Floats]]
"""A point → the value and the gradient there."""
Reason = Literal["accepted", "step limit", "rounding"]

MEMORY = 20
"""Steps that are remembered."""
DECREASE, CURVATURE = 1e-4, 0.9
"""A step is long enough if the value falls by this share of what the slope promises, and if this share of
the slope at most is left; the constants of Nocedal & Wright."""
TRIALS = 20
"""Evaluations of a line search, which about doubles or halves the step with each."""
ROUNDING = 1e-14
"""Relative change of a value that may be a rounding error."""


class Point(NamedTuple):
    """A point with the value and the gradient there."""

    x: Floats
    value: float
    gradient: Floats


def minimise(
    function: Function, start: Floats, max_steps: int, accept: Callable[[Point], bool]
) -> tuple[Point, Reason]:
    """The last point and why it is the last; ``accept`` is asked after every step.

    The first step has length 1. It stops at ``accept``, after ``max_steps``, or if rounding errors hide any
    further decrease.

    >>> bowl = lambda x: (float(x @ x), 2.0 * x)
    >>> minimise(bowl, np.array([3.0, 4.0]), 50, lambda point: point.value < 1e-12)[1]
    'accepted'
    """
    point = Point(start, *function(start))
    moves: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    for _ in range(max_steps):
        direction = -_times_inverse_hessian(point.gradient, moves)
        slope = float(direction @ point.gradient)
        if not slope < 0.0:  # the gradient is 0, or the memory is useless
            if not moves:
                return point, "rounding"
            moves.clear()
            continue
        first = 1.0 if moves else 1.0 / float(np.linalg.norm(direction))
        following = _search(function, point, direction, slope, first)
        if following is None:
            if not moves:
                return point, "rounding"
            moves.clear()  # try the steepest descent before giving up
            continue
        move, change = following.x - point.x, following.gradient - point.gradient
        if float(move @ change) > 0.0:
            moves.append((move, change))
        point = following
        if accept(point):
            return point, "accepted"
    return point, "step limit"


def _times_inverse_hessian(gradient: Floats, moves: deque[tuple[Floats, Floats]]) -> Floats:
    """The product of the approximate inverse Hessian and a gradient (the two-loop recursion)."""
    product = gradient.copy()
    shares = []
    for move, change in reversed(moves):
        shares.append(float(move @ product) / float(move @ change))
        product -= shares[-1] * change
    if moves:
        move, change = moves[-1]
        product *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(moves, reversed(shares), strict=True):
        product += (share - float(change @ product) / float(move @ change)) * move
    return product


def _search(function: Function, point: Point, direction: Floats, slope: float, first: float) -> Point | None:
    """A point on the line with the conditions of Wolfe; None if rounding errors hide any decrease."""
    low, high = (0.0, point.value, slope), None
    noise = ROUNDING * abs(point.value)
    length = first
    for _ in range(TRIALS):
        x = point.x + length * direction
        if np.array_equal(x, point.x):
            return None
        value, gradient = function(x)
        steep = float(gradient @ direction)
        if not value <= point.value + DECREASE * length * slope + noise:
            high = (length, value, steep)
        elif steep < CURVATURE * slope:
            low = (length, value, steep)
        elif value < point.value or abs(steep) < abs(slope):
            return Point(x, value, gradient)
        else:  # no lower value and no flatter slope: nothing but noise
            return None
        length = 2.0 * length if high is None else _between(low, high)
    return None


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """The minimum of the cubic through two (length, value, slope), kept away from both ends."""
    (a, value_a, slope_a), (b, value_b, slope_b) = low, high
    width = b - a
    theta = slope_a + slope_b - 3.0 * (value_b - value_a) / width
    inside = theta * theta - slope_a * slope_b
    root = inside**0.5 if inside >= 0.0 else np.nan  # the value at ``high`` may be infinite or NaN
    bend = slope_b - slope_a + 2.0 * root
    share = 1.0 - (slope_b + root - theta) / bend if bend > 0.0 else np.nan
    return a + width * (min(max(share, 0.1), 0.9) if np.isfinite(share) else 0.5)
