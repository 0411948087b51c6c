"""Calibrations by regression: functions of the class scores fitted to the gain of each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from topkit.compute import Floats
from topkit.rankers.mixture.heads import DEGREE, HIDDEN, Head, monomial_values, monomials

SHRINK = 1e-4
"""Penalty on the weights of standardised scores: too small to matter unless scores are collinear."""
FREE = 1e-12
"""Penalty on the constant: only keeps the system solvable."""
MARGIN = 0.1
"""A polynomial is clipped this many deviations beyond the scores it was fitted to, where it would explode."""
MAX_STEPS = 200
"""L-BFGS steps; these problems have few parameters and converge sooner."""


@dataclass(frozen=True)
class Regression:
    """What a regression is fitted to."""

    f: Floats
    """Class scores: documents × classes."""
    target: Floats
    """The gain of each document, or its gain over the ideal DCG of its query."""
    weights: Floats
    """One per document, summing to 1."""
    scale: float = 1.0
    """Factor from the target back to gains, so that heads of both kinds can be mixed."""

    def standardised(self) -> tuple[Floats, Floats, Floats]:
        """Scores of mean 0 and deviation 1, the means and the deviations."""
        centre = self.weights @ self.f
        deviation = np.sqrt(self.weights @ np.square(self.f - centre))
        spread: Floats = np.where(deviation > 0, deviation, 1.0).astype(np.float64)
        return (self.f - centre) / spread, centre, spread

    def least_squares(self, A: Floats) -> Floats:
        """Weights of the columns of A (the first is constant and free) under a small penalty."""
        penalty = np.full(A.shape[1], SHRINK)
        penalty[0] = FREE
        weighted = A * self.weights[:, None]
        solution = np.linalg.solve(weighted.T @ A + np.diag(penalty), weighted.T @ self.target)
        return np.asarray(solution, np.float64)


def fit_linear(name: str, problem: Regression) -> Head:
    """Least squares on the class scores."""
    u, centre, spread = problem.standardised()
    solution = problem.least_squares(np.hstack([np.ones((len(u), 1)), u]))
    slopes = solution[1:] / spread
    return Head(name, "linear", problem.scale * np.append(slopes, solution[0] - slopes @ centre))


def fit_polynomial(degree: int, name: str, problem: Regression) -> Head:
    """Least squares on all products of at most ``degree`` class scores."""
    u, centre, spread = problem.standardised()
    low, high = u.min(axis=0) - MARGIN, u.max(axis=0) + MARGIN
    degrees = monomials(u.shape[1])[1]
    values = monomial_values(u)[:, degrees <= degree]
    coefficients = np.zeros(len(degrees))
    coefficients[: values.shape[1]] = problem.scale * problem.least_squares(values)
    return Head(name, "polynomial", np.concatenate([centre, spread, low, high, coefficients]))


def fit_logistic(name: str, problem: Regression) -> Head:
    """top·σ(w·f + b), by the cross entropy to target/top, where top is the largest target."""
    u, centre, spread = problem.standardised()
    weights = problem.weights
    A = np.hstack([u, np.ones((len(u), 1))])
    top = float(problem.target.max(initial=0.0)) or 1.0
    share = problem.target / top
    shrink = np.full(A.shape[1], SHRINK)

    def objective(w: Floats) -> tuple[float, Floats]:
        linear = A @ w
        value = weights @ (np.logaddexp(0.0, linear) - share * linear) + 0.5 * shrink @ np.square(w)
        predicted = 1.0 / (1.0 + np.exp(np.clip(-linear, -700.0, 700.0)))
        return float(value), (weights * (predicted - share)) @ A + shrink * w

    w = minimise(objective, np.zeros(A.shape[1]))
    slopes = w[:-1] / spread
    return Head(name, "logistic", np.concatenate([slopes, [w[-1] - slopes @ centre, top * problem.scale]]))


def fit_network(name: str, problem: Regression) -> Head:
    """Least squares by a network with four hidden units (tanh), from a fixed start."""
    u, centre, spread = problem.standardised()
    weights = problem.weights
    A = np.hstack([u, np.ones((len(u), 1))])
    K = u.shape[1]
    cut = HIDDEN * (K + 1)
    scale = float(np.sqrt(weights @ np.square(problem.target))) or 1.0
    shrink = np.full(cut + HIDDEN + 1, SHRINK)
    shrink[-1] = 0.0

    def objective(vector: Floats) -> tuple[float, Floats]:
        inner, outer = vector[:cut].reshape(HIDDEN, K + 1), vector[cut:]
        state = np.tanh(A @ inner.T)
        error = state @ outer[:-1] + outer[-1] - problem.target / scale
        flow = 2 * weights * error
        inner_flow = (flow[:, None] * outer[:-1]) * (1 - np.square(state))
        slope = np.concatenate([(inner_flow.T @ A).ravel(), state.T @ flow, [flow.sum()]])
        value = weights @ np.square(error) + 0.5 * shrink @ np.square(vector)
        return float(value), slope + shrink * vector

    start = np.random.default_rng(0).normal(scale=0.5, size=cut + HIDDEN + 1)
    vector = minimise(objective, start)
    inner = vector[:cut].reshape(HIDDEN, K + 1)
    slopes = inner[:, :K] / spread
    raw = np.hstack([slopes, (inner[:, K] - slopes @ centre)[:, None]])
    return Head(name, "network", np.concatenate([raw.ravel(), problem.scale * scale * vector[cut:]]))


def minimise(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: Sequence[tuple[float, float]] | None = None,
) -> Floats:
    """The minimum of a function with gradient, by L-BFGS within bounds."""
    from scipy.optimize import minimize

    solution = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": MAX_STEPS, "gtol": 1e-6},
    )
    return np.asarray(solution.x, np.float64)


REGRESSIONS: dict[str, Callable[[str, Regression], Head]] = {
    "linear": fit_linear,
    "logistic": fit_logistic,
    **{f"polynomial-{degree}": partial(fit_polynomial, degree) for degree in range(2, DEGREE + 1)},
    "network": fit_network,
}
"""Name → function that fits the regression."""
