"""Strengths by penalised maximum likelihood: Plackett–Luce for lists, Bradley–Terry for pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, NotConverged
from topkit.data import InputError

Objective = Callable[[Floats], tuple[float, Floats]]


def plackett_luce_loss(
    items: NDArray[np.int32], ptr: NDArray[np.int64], strength: Floats
) -> tuple[float, Floats]:
    """−log likelihood of top-k lists and its gradient in the log strengths; linear in the pool for each list.

    A list is drawn rank by rank, each time with probability e^s over the sum of the documents not yet drawn;
    documents outside the list were never drawn.
    L = Σ_t [log Σ_{d not before t} e^{s_d} − s_t]. List i is ``items[ptr[i]:ptr[i+1]]``.
    """
    from topkit.fusion.luce import kernels

    gradient = np.zeros(len(strength))
    return float(kernels.plackett_luce_loss(items, ptr, strength, gradient)), gradient


def bradley_terry_loss(wins: NDArray[np.floating], strength: Floats) -> tuple[float, Floats]:
    """−log likelihood of pairwise wins and its gradient in the log strengths.

    ``wins[a, b]`` counts the wins of a over b; a tie is half a win for both.
    L = Σ_{a,b} wins[a, b] · log(1 + e^{s_b − s_a}).
    """
    from topkit.fusion.luce import kernels

    gradient = np.zeros(len(strength))
    return float(kernels.bradley_terry_loss(wins, strength, gradient)), gradient


def fit_strengths(loss: Objective, n: int, *, penalty: float, tolerance: float = 1e-6) -> Floats:
    """Log strengths, mean 0, that minimise ``loss`` + penalty · Σ strength², by L-BFGS.

    It stops when no component of the gradient exceeds ``tolerance`` times the largest one at equal strengths,
    and warns (:class:`NotConverged`) if it does not reach that. A small penalty keeps the strengths finite if
    a document won or lost every time.
    """
    from scipy.optimize import minimize

    if penalty < 0:
        raise InputError(f"penalty must not be negative, got {penalty}")

    def penalised(strength: Floats) -> tuple[float, Floats]:
        value, gradient = loss(strength)
        return value + penalty * float(strength @ strength), gradient + 2 * penalty * strength

    if n == 0:
        return np.zeros(0)
    steepest = float(np.abs(loss(np.zeros(n))[1]).max())
    result = minimize(
        penalised,
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "gtol": tolerance * steepest, "ftol": 0.0, "maxcor": 20},
    )
    if not result.success and np.abs(result.jac).max() > tolerance * steepest:
        message = f"the maximum of the likelihood was not reached ({result.message})"
        warnings.warn(message, NotConverged, stacklevel=2)
    return np.asarray(result.x - result.x.mean(), np.float64)
