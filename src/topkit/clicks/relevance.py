"""Relevance from clicks: the click rate that each document would have at the first position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs
from topkit.clicks.propensities import Propensities

Floats = NDArray[np.float64]

RELEVANCE: tuple[str, ...] = ("naive", "ips", "snips", "dr")
"""Estimators of relevance."""


@dataclass(frozen=True)
class Sums:
    """Of each pair: impressions, exposure Σ examination, clicks minus offsets, and their weighted sums."""

    impressions: Floats
    exposure: Floats
    clicks: Floats
    corrected: Floats
    """Σ (click − offset)."""
    weighted: Floats
    """Σ (click − offset)/max(examination, clip)."""
    clipped_exposure: Floats
    """Σ examination/max(examination, clip)."""

    @classmethod
    def of(cls, log: ClickLog, propensities: Propensities, clip: float, pairs: Pairs | None = None) -> Sums:
        """The sums of each pair of the log or, if ``pairs`` are given, of those."""
        cells, size = log.cells(), len(log.pairs)
        seen, offset = propensities.at(cells.bucket + 1), propensities.offset_at(cells.bucket + 1)
        corrected = cells.clicks - cells.impressions * offset
        safe = np.maximum(seen, clip)
        sums = [
            np.bincount(cells.pair, weights, size).astype(np.float64)
            for weights in (
                cells.impressions,
                cells.impressions * seen,
                cells.clicks,
                corrected,
                corrected / safe,
                cells.impressions * seen / safe,
            )
        ]
        if pairs is not None:
            place = log.pairs.find(pairs)
            sums = [np.where(place >= 0, values[place], 0.0) for values in sums]
        return cls(*sums)


def relevance(sums: Sums, estimator: str, model: Floats | None = None) -> Floats:
    """The relevance of each pair, at least 0; pairs that were never shown have 0, or that of ``model``.

    With n impressions at positions of examination θ, clipped at τ, and clicks c:

    - ``naive``: Σ c / n, the click rate;
    - ``ips``: Σ c/max(θ, τ) / n, inverse propensity scoring;
    - ``snips``: Σ c / Σ θ: self-normalised by the exposure that the document really had;
    - ``dr``: m + Σ (c − θ·m)/max(θ, τ) / n, doubly robust with the predictions m of a model: unbiased if the
      propensities or the model are right.

    Offsets of trust bias are subtracted from the clicks, except by ``naive``.
    """
    if estimator == "naive":
        values = _over(sums.clicks, sums.impressions)
    elif estimator == "ips":
        values = _over(sums.weighted, sums.impressions)
    elif estimator == "snips":
        values = _over(sums.corrected, sums.exposure)
    elif estimator == "dr" and model is not None:
        values = model + _over(sums.weighted - sums.clipped_exposure * model, sums.impressions)
    else:
        raise ValueError(f"unknown estimator {estimator!r}, or no model for it")
    return np.maximum(values, 0.0)


def _over(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
