"""L-BFGS: known minima, about as many evaluations as SciPy's, and how it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from topkit.compute import Floats
from topkit.scorers.lbfgs import Point, minimise


class Counted:
    """A function that counts its evaluations."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        self.calls += 1
        return float(rosen(x)), np.asarray(rosen_der(x))


def flat(point: Point) -> bool:
    return bool(np.abs(point.gradient).max() < 1e-8)


@pytest.mark.parametrize("dimensions", [2, 10, 50])
def test_the_minimum_of_a_curved_valley(dimensions: int) -> None:
    ours, theirs, start = Counted(), Counted(), np.full(dimensions, -1.2)
    point, reason = minimise(ours, start, 1000, flat)
    assert reason == "accepted"
    np.testing.assert_allclose(point.x, 1.0, atol=1e-6)
    options: Any = {"gtol": 1e-8, "ftol": 0.0, "maxcor": 20, "maxiter": 1000}
    minimize(theirs, start, jac=True, method="L-BFGS-B", options=options)
    assert ours.calls <= 1.3 * theirs.calls


def test_a_gradient_that_jumps() -> None:
    """|x − 1| + 3·|y + 2| is 0 at (1, −2), where it has no gradient."""
    weights, centre = np.array([1.0, 3.0]), np.array([1.0, -2.0])

    def corner(x: Floats) -> tuple[float, Floats]:
        return float(weights @ np.abs(x - centre)), weights * np.sign(x - centre)

    point, _ = minimise(corner, np.array([5.0, 7.0]), 200, lambda point: point.value < 1e-6)
    np.testing.assert_allclose(point.x, centre, atol=1e-4)


def test_infinite_values_shorten_the_step() -> None:
    """x − log x is infinite for x ≤ 0 and smallest at 1; from 40, a step goes to −272 and is shortened."""

    def barrier(x: Floats) -> tuple[float, Floats]:
        if x[0] <= 0:
            return np.inf, np.array([np.nan])
        return float(x[0] - np.log(x[0])), 1 - 1 / x

    for start in (1e-3, 0.5, 40.0):
        point, reason = minimise(barrier, np.array([start]), 100, flat)
        assert reason == "accepted"
        assert point.x[0] == pytest.approx(1, abs=1e-7)


def test_how_it_ends() -> None:
    assert minimise(Counted(), np.full(4, -1.2), 3, flat)[1] == "step limit"
    point, reason = minimise(Counted(), np.full(4, -1.2), 1000, lambda point: False)
    assert reason == "rounding"
    assert point.value < 1e-20
    assert minimise(Counted(), np.ones(4), 10, flat)[1] == "rounding", "the gradient is 0 at the start"
