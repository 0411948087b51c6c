"""Fitting calibrations: the naive shift, sigmoids to five targets, and regressions on the gain.

Class-probability calibrations (CPC) estimate p(class) and score by the expected gain; regression calibrations
(RBC) estimate the gain itself, or the gain over the ideal DCG of its query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from topkit.compute import one_blas_thread
from topkit.data import Dataset, InputError
from topkit.metrics.conventions import discounts
from topkit.rankers.ensemble.heads import DEGREE, HIDDEN, Head, monomial_values, monomials, sigmoid_shares
from topkit.rankers.ensemble.targets import TARGETS, Target, Truth
from topkit.scorers import Floats

Ints = NDArray[np.int64]

IDEAL_DEPTH = 10
"""Depth of the ideal DCG that gains are divided by."""
RIDGE = 1e-3
"""Pull of the log-sigmoid fit to slope 1 and centre 0 of standardised scores, if classes part perfectly."""
NEARNESS = 1.0
"""Pull of the other targets to the log-sigmoid fit, in units of the target there. The entropy-weighted target
and the expected loss want certainty at any price: without it their slope would grow for ever."""
SHRINK = 1e-4
"""Penalty on the weights of regressions of standardised scores."""
FURTHER = 0.1
"""Beyond the scores it was fitted to, a polynomial goes on for this many deviations, then stays."""
STEPS = 200

PROBABILITY_CALIBRATIONS = ("shift", *TARGETS)
REGRESSIONS = ("linear", "logistic", *(f"polynomial-{degree}" for degree in range(2, DEGREE + 1)), "network")
REGRESSION_CALIBRATIONS = (*REGRESSIONS, *(f"{name}/ideal" for name in REGRESSIONS))
CALIBRATIONS = (*PROBABILITY_CALIBRATIONS, *REGRESSION_CALIBRATIONS)
"""All 18 by name; ``/ideal`` divides gains by the ideal DCG@10 of their query."""


def check_calibrations(names: Sequence[str]) -> None:
    """Raise if a calibration is not known."""
    for name in names:
        if name not in CALIBRATIONS:
            raise InputError(f"there is no calibration {name!r}", f"choose from {', '.join(CALIBRATIONS)}")


@one_blas_thread()
def calibrate(f: Floats, truth: Truth, names: Sequence[str] = CALIBRATIONS, reach: float = 0.0) -> list[Head]:
    """A head for each name, fitted to class scores ``f`` (documents × classes) and the truth about them.

    Scores of one column are a ranker's; there, only regressions make sense and others are left out.
    ``reach`` bounds |f| for the shift; 0 takes the largest one seen.

    >>> f = np.array([[2.0, -1.0], [1.5, -1.0], [-1.0, 1.0], [0.5, 0.2]])
    >>> truth = Truth(np.array([0, 0, 1, 1]), np.array([0.0, 1.0]), np.array([0, 4]), np.full(4, 0.25))
    >>> head = calibrate(f, truth, ["log-sigmoid"])[0]
    >>> head.gain(f, truth.gains).argsort().tolist()
    [0, 1, 3, 2]
    """
    check_calibrations(names)
    classes = f.shape[1] > 1
    gains = truth.gains[truth.own]
    ideal = gains / ideal_dcg(gains, truth.ptr)
    wanted_targets = [name for name in names if name in TARGETS and classes]
    sigmoids = fit_sigmoids(f, truth, wanted_targets) if wanted_targets else {}
    heads = []
    for name in names:
        kind, _, scale = name.partition("/")
        if kind == "shift" and classes:
            largest = reach or float(np.abs(f).max(initial=0.0)) or 1.0
            heads.append(Head(name, "shift", np.array([largest])))
        elif name in sigmoids:
            heads.append(Head(name, "sigmoid", sigmoids[name]))
        elif kind in REGRESSIONS:
            wanted = ideal if scale else gains
            # back on the scale of gains, so that heads of both kinds can be mixed
            back = _ratio(float(truth.weights @ gains), float(truth.weights @ wanted))
            heads.append(_FITS[kind](name, f, wanted, truth.weights, back))
    return heads


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else 1.0


def ideal_dcg(gains: Floats, ptr: Ints) -> Floats:
    """For each document, the ideal DCG@10 of its query; 1 where nothing has a gain.

    >>> ideal_dcg(np.array([0.0, 3.0, 0.0]), np.array([0, 2, 3]))
    array([3., 3., 1.])
    """
    lengths = np.diff(ptr)
    query = np.repeat(np.arange(len(lengths)), lengths)
    best_first = gains[np.lexsort((-gains, query))]
    place = np.arange(len(gains)) - np.repeat(ptr[:-1], lengths)
    counted = np.where(place < IDEAL_DEPTH, place, 0)
    worth = np.where(place < IDEAL_DEPTH, best_first * discounts("log2(1+r)", IDEAL_DEPTH)[counted], 0.0)
    total = np.bincount(query, weights=worth, minlength=len(lengths))
    return np.repeat(np.where(total > 0, total, 1.0), lengths)


def fit_sigmoids(f: Floats, truth: Truth, names: Sequence[str]) -> dict[str, Floats]:
    """(a, b) of p_ℓ ∝ σ(a(f_ℓ − b)), a > 0, for each target; found in θ = (ln a, b) of standardised f.

    The log-sigmoid target is minimised first; each other one, L, as L(θ)/L(θ₁) + ½‖θ − θ₁‖² from there.
    """
    centre, spread = float(f.mean()), float(f.std()) or 1.0
    u = (f - centre) / spread

    def fit(target: Target, around: Floats, pull: float, unit: float) -> Floats:
        def objective(theta: Floats) -> tuple[float, Floats]:
            value, slope = sigmoid_objective(theta, u, truth, target)
            off = theta - around
            return value / unit + 0.5 * pull * float(off @ off), slope / unit + pull * off

        return _minimise(objective, around)

    first = fit(TARGETS["log-sigmoid"], np.zeros(2), RIDGE, 1.0)
    found = {}
    for name in names:
        theta = first
        if name != "log-sigmoid":
            unit = abs(sigmoid_objective(first, u, truth, TARGETS[name])[0]) or 1.0
            theta = fit(TARGETS[name], first, NEARNESS, unit)
        found[name] = np.array([np.exp(theta[0]) / spread, centre + spread * theta[1]])
    return found


def sigmoid_objective(theta: Floats, u: Floats, truth: Truth, target: Target) -> tuple[float, Floats]:
    """A target as a function of (ln a, b), with its gradient.

    With s = σ(a(u − b)) and p = s/Σs, ∂L/∂s_m = (g_m − Σ_ℓ g_ℓ p_ℓ)/Σs for g = ∂L/∂p, and s' = s(1 − s).
    """
    a, b = float(np.exp(np.clip(theta[0], -20.0, 20.0))), float(theta[1])
    raised = a * (u - b)
    p, rest = sigmoid_shares(raised)
    value, g = target(p, truth)
    # s_m(1 − s_m)/Σs = p_m(1 − s_m): no division by a sum that may be tiny
    flow = (g - (g * p).sum(axis=1, keepdims=True)) * p * rest
    return value, np.array([float((flow * raised).sum()), -a * float(flow.sum())])


def _standardised(f: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    centre = weights @ f
    deviation = np.sqrt(weights @ np.square(f - centre))
    spread: Floats = np.where(deviation > 0, deviation, 1.0).astype(np.float64)
    return (f - centre) / spread, centre, spread


def _least_squares(A: Floats, wanted: Floats, weights: Floats) -> Floats:
    """Weights of the columns of A (the first is constant and free) under a small penalty."""
    penalty = np.full(A.shape[1], SHRINK)
    penalty[0] = 1e-12
    heavy = A * weights[:, None]
    return np.asarray(np.linalg.solve(heavy.T @ A + np.diag(penalty), heavy.T @ wanted), np.float64)


def fit_linear(name: str, f: Floats, wanted: Floats, weights: Floats, back: float) -> Head:
    """Least squares on the class scores."""
    u, centre, spread = _standardised(f, weights)
    solved = _least_squares(np.hstack([np.ones((len(f), 1)), u]), wanted, weights)
    slopes = solved[1:] / spread
    return Head(name, "linear", back * np.append(slopes, solved[0] - slopes @ centre))


def fit_polynomial(degree: int, name: str, f: Floats, wanted: Floats, weights: Floats, back: float) -> Head:
    """Least squares on all products of at most ``degree`` class scores."""
    u, centre, spread = _standardised(f, weights)
    low, high = u.min(axis=0) - FURTHER, u.max(axis=0) + FURTHER
    degrees = monomials(f.shape[1])[1]
    values = monomial_values(u)[:, degrees <= degree]
    coefficients = np.zeros(len(degrees))
    coefficients[: values.shape[1]] = back * _least_squares(values, wanted, weights)
    return Head(name, "polynomial", np.concatenate([centre, spread, low, high, coefficients]))


def fit_logistic(name: str, f: Floats, wanted: Floats, weights: Floats, back: float) -> Head:
    """top·σ(w·f + b), by the cross entropy to wanted/top, top the largest wanted value."""
    u, centre, spread = _standardised(f, weights)
    A = np.hstack([u, np.ones((len(f), 1))])
    top = float(wanted.max(initial=0.0)) or 1.0
    share = wanted / top
    shrink = np.append(np.full(u.shape[1], SHRINK), SHRINK)

    def objective(w: Floats) -> tuple[float, Floats]:
        raised = A @ w
        value = weights @ (np.logaddexp(0.0, raised) - share * raised) + 0.5 * shrink @ np.square(w)
        given = 1.0 / (1.0 + np.exp(np.clip(-raised, -700.0, 700.0)))
        return float(value), (weights * (given - share)) @ A + shrink * w

    w = _minimise(objective, np.zeros(A.shape[1]))
    slopes = w[:-1] / spread
    return Head(name, "logistic", np.concatenate([slopes, [w[-1] - slopes @ centre, top * back]]))


def fit_network(name: str, f: Floats, wanted: Floats, weights: Floats, back: float) -> Head:
    """Least squares by a network of four hidden units (tanh), from a fixed start."""
    u, centre, spread = _standardised(f, weights)
    A = np.hstack([u, np.ones((len(f), 1))])
    K = f.shape[1]
    cut = HIDDEN * (K + 1)
    scale = float(np.sqrt(weights @ np.square(wanted))) or 1.0
    shrink = np.full(cut + HIDDEN + 1, SHRINK)
    shrink[-1] = 0.0

    def objective(vector: Floats) -> tuple[float, Floats]:
        inner, outer = vector[:cut].reshape(HIDDEN, K + 1), vector[cut:]
        state = np.tanh(A @ inner.T)
        error = state @ outer[:-1] + outer[-1] - wanted / scale
        flow = 2 * weights * error
        back_flow = (flow[:, None] * outer[:-1]) * (1 - np.square(state))
        slope = np.concatenate([(back_flow.T @ A).ravel(), state.T @ flow, [flow.sum()]])
        value = weights @ np.square(error) + 0.5 * shrink @ np.square(vector)
        return float(value), slope + shrink * vector

    start = np.random.default_rng(0).normal(scale=0.5, size=cut + HIDDEN + 1)
    vector = _minimise(objective, start)
    inner = vector[:cut].reshape(HIDDEN, K + 1)
    slopes = inner[:, :K] / spread
    raw = np.hstack([slopes, (inner[:, K] - slopes @ centre)[:, None]])
    return Head(name, "network", np.concatenate([raw.ravel(), back * scale * vector[cut:]]))


def _minimise(objective: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    from scipy.optimize import minimize

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "gtol": 1e-6})
    return np.asarray(found.x, np.float64)


_FITS: dict[str, Callable[[str, Floats, Floats, Floats, float], Head]] = {
    "linear": fit_linear,
    "logistic": fit_logistic,
    "network": fit_network,
    **{f"polynomial-{degree}": partial(fit_polynomial, degree) for degree in range(2, DEGREE + 1)},
}


def truth_of(data: Dataset, own: Ints, gains: Floats, weights: Floats) -> Truth:
    """The truth of calibration data, with the weight of each query spread over its documents."""
    each = np.repeat(weights, data.lengths)
    return Truth(own, gains, data.ptr, each / each.sum())
