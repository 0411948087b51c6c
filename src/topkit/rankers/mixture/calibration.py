"""Fitting calibrations: the naive shift, sigmoids with five targets, and regressions on the gain.

Class-probability calibrations (CPC) estimate p(class) and score by the expected gain; regression calibrations
(RBC) estimate the gain itself, or the gain over the ideal DCG of its query.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topkit.compute import Floats, Ints, one_blas_thread
from topkit.data import Dataset, InputError
from topkit.metrics import ideal_dcg
from topkit.rankers.mixture.heads import Head, sigmoid_shares
from topkit.rankers.mixture.regressions import REGRESSIONS, Regression, minimise
from topkit.rankers.mixture.targets import TARGETS, Target, Truth

IDEAL_DEPTH = 10
"""Depth of the ideal DCG that gains are divided by, as published."""
STEEPEST = 20.0
"""Bound on |ln a| for standardised scores: the slope is unbounded if scores separate the classes."""
FARTHEST = 100.0
"""Bound on the centre b of a sigmoid, in deviations of the scores."""
NEARNESS = 1.0
"""Pull of a target without a minimum towards the log-sigmoid fit, in units of its value there."""
WITHOUT_MINIMUM = ("entropy-weighted", "expected-loss")
"""Targets that keep falling as the sigmoid becomes steeper."""

PROBABILITY_CALIBRATIONS = ("shift", *TARGETS)
"""Calibrations of class probabilities."""
REGRESSION_CALIBRATIONS = (*REGRESSIONS, *(f"{name}/ideal" for name in REGRESSIONS))
"""Calibrations by regression; ``/ideal`` divides gains by the ideal DCG@10 of their query."""
CALIBRATIONS = (*PROBABILITY_CALIBRATIONS, *REGRESSION_CALIBRATIONS)
"""All 18 calibrations by name."""


@one_blas_thread()
def calibrate(f: Floats, truth: Truth, names: Sequence[str] = CALIBRATIONS, reach: float = 0.0) -> list[Head]:
    """One head per name, fitted to class scores ``f`` (documents × classes) and their truth.

    Scores with one column come from a ranker: only regressions apply, the other names are skipped. ``reach``
    bounds |f| for the shift; 0 takes the largest |f| of the data.

    >>> f = np.array([[2.0, -1.0], [1.5, -1.0], [-1.0, 1.0], [0.5, 0.2]])
    >>> truth = Truth(np.array([0, 0, 1, 1]), np.array([0.0, 1.0]), np.array([0, 4]), np.full(4, 0.25))
    >>> head = calibrate(f, truth, ["log-sigmoid"])[0]
    >>> head.gain(f, truth.gains).argsort().tolist()
    [0, 1, 3, 2]
    """
    for name in names:
        if name not in CALIBRATIONS:
            raise InputError(f"unknown calibration {name!r}", f"choose from {', '.join(CALIBRATIONS)}")
    has_classes = f.shape[1] > 1
    gains = truth.document_gains
    normalised = gains / _ideal_per_document(truth)
    sigmoids = fit_sigmoids(f, truth, [name for name in names if name in TARGETS]) if has_classes else {}
    heads = []
    for name in names:
        family, _, ideal = name.partition("/")
        if family == "shift" and has_classes:
            bound = reach or float(np.abs(f).max(initial=0.0)) or 1.0
            heads.append(Head(name, "shift", np.array([bound])))
        elif name in sigmoids:
            heads.append(Head(name, "sigmoid", sigmoids[name]))
        elif family in REGRESSIONS:
            target = normalised if ideal else gains
            mean = float(truth.weights @ target)
            scale = float(truth.weights @ gains) / mean if mean > 0 else 1.0
            heads.append(REGRESSIONS[family](name, Regression(f, target, truth.weights, scale)))
    return heads


def _ideal_per_document(truth: Truth) -> Floats:
    """For each document, the ideal DCG@10 of its query; 1 if no document has a gain."""
    ideal = ideal_dcg(truth.document_gains, truth.ptr, IDEAL_DEPTH)
    return np.repeat(np.where(ideal > 0, ideal, 1.0), np.diff(truth.ptr))


def fit_sigmoids(f: Floats, truth: Truth, names: Sequence[str]) -> dict[str, Floats]:
    """(a, b) of p_ℓ ∝ σ(a(f_ℓ − b)), a > 0, for each target; optimised in θ = (ln a, b) of standardised f.

    The log-sigmoid target is minimised first, at θ₁; the others start from there. The entropy-weighted target
    and the expected loss have no finite minimum, so L(θ)/L(θ₁) + ½‖θ − θ₁‖² is minimised instead.
    """
    if not names:
        return {}
    centre, spread = float(f.mean()), float(f.std()) or 1.0
    u = (f - centre) / spread

    def fit(target: Target, start: Floats, pull: float) -> Floats:
        unit = abs(sigmoid_objective(start, u, truth, target)[0]) or 1.0

        def objective(theta: Floats) -> tuple[float, Floats]:
            value, slope = sigmoid_objective(theta, u, truth, target)
            offset = theta - start
            return value / unit + 0.5 * pull * float(offset @ offset), slope / unit + pull * offset

        return minimise(objective, start, ((-STEEPEST, STEEPEST), (-FARTHEST, FARTHEST)))

    first = fit(TARGETS["log-sigmoid"], np.zeros(2), 0.0)
    fitted = {}
    for name in names:
        theta = first
        if name != "log-sigmoid":
            theta = fit(TARGETS[name], first, NEARNESS if name in WITHOUT_MINIMUM else 0.0)
        fitted[name] = np.array([np.exp(theta[0]) / spread, centre + spread * theta[1]])
    return fitted


def sigmoid_objective(theta: Floats, u: Floats, truth: Truth, target: Target) -> tuple[float, Floats]:
    """A target as a function of (ln a, b), with its gradient.

    With s = σ(a(u − b)) and p = s/Σs, ∂L/∂s_m = (g_m − Σ_ℓ g_ℓ p_ℓ)/Σs for g = ∂L/∂p, and s' = s(1 − s).
    """
    a, b = float(np.exp(np.clip(theta[0], -STEEPEST, STEEPEST))), float(theta[1])
    scaled = a * (u - b)
    p, rest = sigmoid_shares(scaled)
    value, g = target(p, truth)
    # s_m(1 − s_m)/Σs = p_m(1 − s_m) avoids a division by a sum that may be tiny.
    flow = (g - (g * p).sum(axis=1, keepdims=True)) * p * rest
    return value, np.array([float((flow * scaled).sum()), -a * float(flow.sum())])


def truth_of(data: Dataset, classes: Ints, gains: Floats, weights: Floats) -> Truth:
    """The truth of calibration data; each document has the weight of its query."""
    per_document = np.repeat(weights, data.lengths)
    return Truth(classes, gains, data.ptr, per_document / per_document.sum())
