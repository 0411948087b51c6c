"""Propensities from how the clicks of each document divide among its positions, with standard errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topkit.clicks.log import Cells, ClickLog
from topkit.clicks.pairs import totals
from topkit.compute import Floats, Ints
from topkit.data import InputError

STEPS = 100
"""Newton steps; fewer than ten are usual."""
LOWEST = -30.0
"""Smallest logarithm of an examination; below it the likelihood has no maximum."""


@dataclass(frozen=True)
class PositionEffects:
    """ln(examination) of each position relative to the first one with clicks, and the covariance."""

    effect: Floats
    """NaN where the log has no row, and minus infinity where it has no click."""
    covariance: Floats
    """Rows and columns of positions without an estimate, and of the first one, are 0."""

    @property
    def examination(self) -> Floats:
        values: Floats = np.exp(self.effect)
        return values

    @property
    def error(self) -> Floats:
        """Standard errors of ln(examination), that is, relative ones of the examination."""
        values: Floats = np.sqrt(np.diag(self.covariance))
        return values


def conditional(log: ClickLog) -> PositionEffects:
    """The examination that makes the division of each document's clicks among its positions most likely.

    Given its total, the clicks of a document that was shown n_k times at position k fall on k with
    probability n_k·θ_k/Σ_j n_j·θ_j, whatever its relevance. The maximum of this likelihood solves

        Σ_d c_dk = Σ_d C_d·n_dk·θ_k/Σ_j n_dj·θ_j.

    Both sides have the same expectation for any relevance, so the estimate does not suffer from documents
    with few clicks as the maximum likelihood of the position-based model does, which estimates the relevance
    of each. Hausman, Hall & Griliches, Econometrica 1984, for counts; the errors are robust and by document
    (Wooldridge, J. Econometrics 1999), because the clicks of a document are not quite Poisson.
    """
    cells, size = log.cells(), log.n_positions
    clicks = totals(cells.pair, cells.clicks, len(log.pairs))
    shown = totals(cells.bucket, cells.impressions, size)
    clicked = totals(cells.bucket, cells.clicks, size)
    places = np.flatnonzero(clicked > 0)
    effect = np.where(shown > 0, -np.inf, np.nan)
    covariance = np.zeros((size, size))
    if len(places):
        number = np.full(size, -1)
        number[places] = np.arange(len(places))
        kept = (number[cells.bucket] >= 0) & (clicks[cells.pair] > 0)
        chosen = Cells(
            cells.pair[kept], number[cells.bucket[kept]], cells.impressions[kept], cells.clicks[kept]
        )
        effect[places], covariance[np.ix_(places, places)] = _fitted(chosen, clicks, places)
    return PositionEffects(effect, covariance)


def _fitted(cells: Cells, clicks: Floats, places: Ints) -> tuple[Floats, Floats]:
    """Newton's method for the effects of positions that have clicks; the first one is 0."""
    effect, covariance = np.zeros(len(places)), np.zeros((len(places), len(places)))
    share, value = _shares(cells, clicks, effect)
    for _ in range(STEPS):
        gradient, curvature = _derivatives(cells, clicks, share, len(places))
        step = np.linalg.lstsq(curvature[1:, 1:], gradient[1:], rcond=None)[0]
        length = 1.0
        while True:  # the likelihood is concave, so a short enough step raises it
            following = effect.copy()
            following[1:] += length * step
            share, ahead = _shares(cells, clicks, following)
            if ahead >= value - 1e-12 * abs(value) or length < 1e-6:
                break
            length /= 2.0
        effect, value = following, ahead
        if effect.min() < LOWEST or effect.max() > -LOWEST:
            place = int(places[np.argmax(np.abs(effect))]) + 1
            raise InputError(
                f"the clicks at position {place} cannot be compared with those at other positions: no "
                "document was clicked at both",
                "use a longer log, shorter pages, or the method pbm",
            )
        if len(step) == 0 or float(np.abs(step).max()) * length < 1e-10:
            break
    gradient, curvature = _derivatives(cells, clicks, share, len(places))
    inverse = np.linalg.pinv(curvature[1:, 1:])
    covariance[1:, 1:] = inverse @ _scatter(cells, clicks, share, len(places))[1:, 1:] @ inverse
    return effect, covariance


def _shares(cells: Cells, clicks: Floats, effect: Floats) -> tuple[Floats, float]:
    """P(a click on the document of each cell falls on the position of the cell), and the log-likelihood."""
    exposure = cells.impressions * np.exp(effect[cells.bucket])
    share: Floats = exposure / totals(cells.pair, exposure, len(clicks))[cells.pair]
    hit = cells.clicks > 0
    return share, float(cells.clicks[hit] @ np.log(share[hit]))


def _derivatives(cells: Cells, clicks: Floats, share: Floats, places: int) -> tuple[Floats, Floats]:
    """Gradient and negative Hessian of the log-likelihood."""
    of_cell = clicks[cells.pair] * share
    expected = totals(cells.bucket, of_cell, places)
    both = (_by_document(cells, of_cell, places).T @ _by_document(cells, share, places)).toarray()
    return totals(cells.bucket, cells.clicks, places) - expected, np.diag(expected) - both


def _scatter(cells: Cells, clicks: Floats, share: Floats, places: int) -> Floats:
    """Σ over documents of the outer product of observed minus expected clicks."""
    surprise = _by_document(cells, cells.clicks - clicks[cells.pair] * share, places)
    product: Floats = (surprise.T @ surprise).toarray()
    return product


def _by_document(cells: Cells, values: Floats, places: int) -> Any:
    """A sparse matrix with a row per document and a column per position."""
    from scipy.sparse import csr_array

    documents = int(cells.pair.max()) + 1
    return csr_array((values, (cells.pair, cells.bucket)), (documents, places))


def drawn_to_power(effects: PositionEffects) -> PositionEffects:
    """The effects drawn to −η·ln(position): the larger their errors, the more.

    ln θ_k = −η·ln k + ε_k with ε_k of variance τ²; η and τ² are those that the estimates and their covariance
    suggest (generalised least squares, and the moment of Paule & Mandel, J. Res. NBS 1982), and the result is
    the mean of ln θ given the estimates. A long log has small errors and keeps its own shape.
    """
    known = np.flatnonzero(np.isfinite(effects.effect))[1:]
    if len(known) < 2:
        return effects
    base = np.flatnonzero(np.isfinite(effects.effect))[0] + 1.0
    slope = -np.log((known + 1.0) / base)
    estimate, noise = effects.effect[known], effects.covariance[np.ix_(known, known)]

    def fitted(spread: float) -> tuple[Floats, Floats, float]:
        precision: Floats = np.linalg.pinv(noise + spread * np.eye(len(known))).astype(np.float64)
        eta = float(slope @ precision @ estimate) / float(slope @ precision @ slope)
        gap = estimate - eta * slope
        return gap, precision, float(gap @ precision @ gap)

    spread = _root(lambda value: fitted(value)[2] - (len(known) - 1.0))
    gap, precision, _ = fitted(spread)
    effect = effects.effect.copy()
    effect[known] = estimate - noise @ precision @ gap
    pull = noise @ precision
    moved = pull @ slope
    of_eta = np.outer(moved, moved) / float(slope @ precision @ slope)
    covariance = np.zeros_like(effects.covariance)
    covariance[np.ix_(known, known)] = noise - pull @ noise + of_eta
    return replace(effects, effect=effect, covariance=covariance)


def _root(surplus: Callable[[float], float]) -> float:
    """Where a falling function of the variance crosses 0; 0 if it starts below."""
    if surplus(0.0) <= 0:
        return 0.0
    low, high = 0.0, 1e-6
    while surplus(high) > 0 and high < 1e6:
        low, high = high, 4.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if surplus(middle) > 0 else (low, middle)
    return 0.5 * (low + high)
