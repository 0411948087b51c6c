"""Truncated Newton for a linear model on the squared hinge of pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.compute import Floats, Trace
from topkit.rankers.pieces import Pieces, score_sums
from topkit.rankers.svm.pairs import hessian_sums

Product = Callable[[Floats], Floats]

FORCING = 0.1
"""Conjugate gradients stop at a residual of this share of the gradient, or of its root if that is less."""
ENOUGH = 1e-4
"""Share of the predicted decrease that a step must achieve."""
SHORTEST = 1e-10
"""The line search stops at this step length."""


def newton(
    pieces: Pieces, count: float, l2: float, start: Floats, max_steps: int, tolerance: float
) -> tuple[Floats, Trace]:
    """Minimise ½·l2·‖w‖² + (mean squared hinge of the pairs) from ``start``; weights and trace.

    The state of each piece is a :class:`~topkit.rankers.svm.pairs.Pairs`; ``count`` is the number of pairs.
    Each step solves the Newton system by conjugate gradients, whose products with the Hessian cost O(n log n)
    per query, and then halves the step until the objective falls. It stops when a step changes the objective
    by at most ``tolerance``. Chapelle & Keerthi, Information Retrieval 2010.
    """
    scale = 1.0 / count

    def evaluate(w: Floats) -> tuple[float, Floats]:
        loss, gradient = pieces.total(score_sums, w)
        return 0.5 * l2 * float(w @ w) + scale * loss, l2 * w + scale * gradient

    def hessian(w: Floats) -> Product:
        return lambda direction: l2 * direction + scale * pieces.total(hessian_sums, w, direction)

    trace = Trace(max_steps, tolerance=tolerance)
    w = start.copy()
    value, gradient = evaluate(w)
    going = trace.go_on(value)
    while going:
        step = _conjugate(hessian(w), gradient)
        predicted = float(gradient @ step)
        length, before = 1.0, value
        while True:
            value, gradient = evaluate(w + length * step)
            if value <= before + ENOUGH * length * predicted or length < SHORTEST:
                break
            length *= 0.5
        w = w + length * step
        going = trace.go_on(value)
    return w, trace


def _conjugate(times: Product, gradient: Floats) -> Floats:
    """The step −H⁻¹g by conjugate gradients; the smaller the gradient, the more exact."""
    size = float(np.linalg.norm(gradient))
    target = min(FORCING, np.sqrt(size)) * size
    step = np.zeros_like(gradient)
    rest = -gradient
    direction = rest.copy()
    square = float(rest @ rest)
    for _ in range(2 * len(gradient) + 10):
        if np.sqrt(square) <= target:
            break
        product = times(direction)
        length = square / float(direction @ product)
        step += length * direction
        rest = rest - length * product
        after = float(rest @ rest)
        direction = rest + (after / square) * direction
        square = after
    return step
