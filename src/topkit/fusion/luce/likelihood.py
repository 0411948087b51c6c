"""Worths of documents by penalised maximum likelihood: Plackett–Luce for lists, Bradley–Terry for pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topkit.compute import NotConverged
from topkit.data import InputError

Floats = NDArray[np.float64]
Objective = Callable[[Floats], tuple[float, Floats]]


def plackett_luce_loss(
    items: NDArray[np.int32], ptr: NDArray[np.int64], worth: Floats
) -> tuple[float, Floats]:
    """−log likelihood of top-k lists and its gradient in the log worths, linear in the pool for each list.

    A list is drawn place by place, each time with probability e^{worth} over the sum of those not yet drawn;
    documents that a list does not have were never drawn.
    L = Σ_t [log Σ_{d not before t} e^{worth_d} − worth_t]. List i is ``items[ptr[i]:ptr[i+1]]``.
    """
    from topkit.fusion.luce import kernels

    gradient = np.zeros(len(worth))
    return float(kernels.plackett_luce_loss(items, ptr, worth, gradient)), gradient


def bradley_terry_loss(wins: NDArray[np.floating], worth: Floats) -> tuple[float, Floats]:
    """−log likelihood of pairwise wins and its gradient in the log worths.

    ``wins[a, b]`` is how often a beat b, with half a win to both for a tie;
    L = Σ_{a,b} wins[a, b] · log(1 + e^{worth_b − worth_a}).
    """
    from topkit.fusion.luce import kernels

    gradient = np.zeros(len(worth))
    return float(kernels.bradley_terry_loss(wins, worth, gradient)), gradient


def fit_worths(loss: Objective, n: int, *, penalty: float, tolerance: float = 1e-6) -> Floats:
    """Log worths, mean 0, that minimise ``loss`` + penalty · Σ worth², by L-BFGS.

    It stops when no component of the gradient is above ``tolerance`` times its largest at the start, where
    all are worth the same, and warns (:class:`NotConverged`) when it cannot get there. A small penalty keeps
    the worths finite where a document won or lost every time.
    """
    from scipy.optimize import minimize

    if penalty < 0:
        raise InputError(f"the penalty must not be negative: {penalty}")

    def penalised(worth: Floats) -> tuple[float, Floats]:
        value, gradient = loss(worth)
        return value + penalty * float(worth @ worth), gradient + 2 * penalty * worth

    if n == 0:
        return np.zeros(0)
    steepest = float(np.abs(loss(np.zeros(n))[1]).max())
    found = minimize(
        penalised,
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "gtol": tolerance * steepest, "ftol": 0.0, "maxcor": 20},
    )
    if not found.success and np.abs(found.jac).max() > tolerance * steepest:
        message = f"the likelihood's maximum was not reached ({found.message})"
        warnings.warn(message, NotConverged, stacklevel=2)
    return np.asarray(found.x - found.x.mean(), np.float64)
