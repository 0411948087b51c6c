"""φ of the margin m of a pair, for the kernels of the pairwise losses: (φ, −φ′, curvature).

Each φ is a module-level function under ``register_jitable``, so a kernel compiled for it can be cached on
disk: the key of a closure in Numba's cache contains the pickled contents of the closure, and a module-level
Python function is pickled by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numba.extending import register_jitable

from topkit.losses.kernels import INLINED, exp

Phi = Callable[[float], tuple[float, float, float]]
"""Margin → φ, −φ′ and the curvature of one pair."""
EXPONENT_LIMIT = 300.0
"""Scores are clipped to this distance from the middle of their query's range before e^s is taken."""


@register_jitable(**INLINED)
def hinge(margin: float) -> tuple[float, float, float]:
    """max(0, 1 − m); the curvature counts active pairs."""
    active = 1.0 if margin < 1.0 else 0.0
    return max(1.0 - margin, 0.0), active, active


@register_jitable(**INLINED)
def squared_hinge(margin: float) -> tuple[float, float, float]:
    """max(0, 1 − m)²."""
    gap = max(1.0 - margin, 0.0)
    return gap * gap, 2.0 * gap, 2.0 if gap > 0.0 else 0.0


@register_jitable(**INLINED)
def exponential(margin: float) -> tuple[float, float, float]:
    """e^−m, clipped where it would overflow."""
    power = exp(min(-margin, 2.0 * EXPONENT_LIMIT))
    return power, power, power


@register_jitable(**INLINED)
def logistic(margin: float) -> tuple[float, float, float]:
    """log(1 + e^−m)."""
    power = exp(-abs(margin))
    inverse = 1.0 / (1.0 + power)
    wrong = (power if margin >= 0.0 else 1.0) * inverse
    return max(-margin, 0.0) + math.log1p(power), wrong, power * inverse * inverse


@register_jitable(**INLINED)
def sigmoid(margin: float) -> tuple[float, float, float]:
    """1 − σ(m); the curvature is the positive substitute σ(1 − σ)."""
    power = exp(-abs(margin))
    inverse = 1.0 / (1.0 + power)
    force = power * inverse * inverse
    return (power if margin >= 0.0 else 1.0) * inverse, force, force


@register_jitable(**INLINED)
def fidelity(margin: float) -> tuple[float, float, float]:
    """1 − √σ(m); the curvature is the size of the slope."""
    power = exp(-abs(margin))
    inverse = 1.0 / (1.0 + power)
    root = math.sqrt((1.0 if margin >= 0.0 else power) * inverse)
    wrong = (power if margin >= 0.0 else 1.0) * inverse
    force = 0.5 * root * wrong
    return wrong / (1.0 + root), force, force
