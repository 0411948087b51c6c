"""Cutting planes with one slack for any convex loss of a linear model; the duality gap bounds the error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from topkit.compute import Floats, Trace

Risk = Callable[[Floats], tuple[float, Floats]]
"""Weights → value and subgradient of a convex loss that is not negative."""

IDLE = 30
"""A plane that no solution touched for this many steps is dropped."""
SOFTNESSES = (1e-9, 1e-7, 1e-5)
"""Curvature added to the slack, to make the small problem strictly convex; the gap accounts for it."""


@dataclass
class Planes:
    """Lower bounds slope·w + height ≤ risk(w); they hold for every penalty."""

    slopes: list[Floats] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)

    def add(self, slope: Floats, height: float) -> None:
        self.slopes.append(slope)
        self.heights.append(height)
        self.idle.append(0)

    def drop_idle(self, shares: Floats) -> None:
        """Drop the planes that have not been part of a solution for a while."""
        self.idle = [0 if share > 0 else idle + 1 for share, idle in zip(shares, self.idle, strict=True)]
        kept = [i for i, idle in enumerate(self.idle) if idle <= IDLE]
        self.slopes = [self.slopes[i] for i in kept]
        self.heights = [self.heights[i] for i in kept]
        self.idle = [self.idle[i] for i in kept]


def cutting_planes(
    risk: Risk, l2: float, start: Floats, planes: Planes, max_steps: int, tolerance: float
) -> tuple[Floats, Trace]:
    """Minimise ½·l2·‖w‖² + risk(w); the best weights, and the trace of the gap relative to the objective.

    Each step minimises the penalty plus the largest of the planes so far (a small quadratic problem, solved
    by quadprog), and adds the risk's tangent there. The dual value of that problem is a lower bound of the
    optimum, so the gap to the best objective bounds the error; the method stops when the gap is at most
    ``tolerance`` times the objective. Joachims, Finley & Yu, Machine Learning 2009; Teo et al., JMLR 2010.
    """

    def add_tangent(w: Floats) -> float:
        value, slope = risk(w)
        planes.add(slope, value - float(slope @ w))
        return 0.5 * l2 * float(w @ w) + value

    best, best_value, bound = start, add_tangent(start), 0.0
    trace = Trace(max_steps)
    going = trace.go_on(1.0)
    while going:
        w, shares = _lowest(planes, l2)
        mix = sum(
            (share * slope for share, slope in zip(shares, planes.slopes, strict=True)), np.zeros_like(w)
        )
        height = float(shares @ np.array(planes.heights))
        bound = max(bound, height - float(mix @ mix) / (2 * l2))
        planes.drop_idle(shares)
        value = add_tangent(w)
        if value < best_value:
            best, best_value = w, value
        gap = (best_value - bound) / max(best_value, 1e-300)
        going = trace.go_on(gap)
        if gap <= tolerance:
            trace.reason, going = "settled", False
    return best, trace


def _lowest(planes: Planes, l2: float) -> tuple[Floats, Floats]:
    """The w that minimises ½·l2·‖w‖² + max(0, planes), and the share of each plane (their sum is ≤ 1)."""
    from quadprog import solve_qp

    slopes, heights = np.array(planes.slopes), np.array(planes.heights)
    root = math.sqrt(l2)
    features = slopes.shape[1]
    # in u = √l2·w: min ½‖u‖² + ξ, with ξ − (slope/√l2)·u ≥ height and ξ ≥ 0
    rows = np.zeros((features + 1, len(slopes) + 1))
    rows[:features, 1:] = slopes.T / -root
    rows[-1] = 1.0
    target = np.zeros(features + 1)
    target[-1] = -1.0
    for softness in SOFTNESSES:
        curvature = np.eye(features + 1)
        curvature[-1, -1] = softness
        try:
            solution = solve_qp(curvature, target, rows, np.append(0.0, heights))
        except ValueError:  # rounding: planes that are almost equal
            continue
        shares = np.maximum(solution[4][1:], 0.0)
        return np.asarray(solution[0][:features], np.float64) / root, shares / max(1.0, float(shares.sum()))
    raise ArithmeticError("the quadratic problem has no solution: its planes are almost equal")
