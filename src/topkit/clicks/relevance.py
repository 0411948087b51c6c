"""Relevance from clicks: the click rate that each document would have at the first position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs, totals
from topkit.clicks.propensities import Propensities
from topkit.compute import Floats

RELEVANCE: tuple[str, ...] = ("naive", "ips", "snips", "dr")
"""Estimators of relevance."""


@dataclass(frozen=True)
class Sums:
    """Of each pair: impressions, exposure Σ examination, clicks, and clicks minus offsets."""

    impressions: Floats
    exposure: Floats
    clicks: Floats
    corrected: Floats
    """Σ (click − offset)."""
    weighted: Floats
    """Σ (click − offset)/max(examination, clip)."""

    @classmethod
    def of(cls, log: ClickLog, propensities: Propensities, clip: float, pairs: Pairs | None = None) -> Sums:
        """The sums of each pair of the log or, if ``pairs`` are given, of those."""
        cells, size = log.cells(), len(log.pairs)
        seen, offset = propensities.at(cells.bucket + 1), propensities.offset_at(cells.bucket + 1)
        corrected = cells.clicks - cells.impressions * offset
        safe = np.maximum(seen, clip)
        sums = [
            totals(cells.pair, weights, size)
            for weights in (
                cells.impressions,
                cells.impressions * seen,
                cells.clicks,
                corrected,
                corrected / safe,
            )
        ]
        if pairs is not None:
            place = log.pairs.find(pairs)
            sums = [np.where(place >= 0, values[place], 0.0) for values in sums]
        return cls(*sums)


def relevance(sums: Sums, estimator: str, smoothing: float = 0.0, model: Floats | None = None) -> Floats:
    """The relevance of each pair: the probability of a click at the first position.

    With n impressions at positions of examination θ, clicks c, smoothing κ and average relevance m̄:

    - ``naive``: (Σ c + κ·mean)/(n + κ), the click rate;
    - ``ips``: Σ c/max(θ, τ) / n, inverse propensity scoring, clipped at τ;
    - ``snips``: (Σ c + κ·m̄)/(Σ θ + κ), self-normalised: divided by the exposure that the document had;
    - ``dr``: m + Σ (c − θ·m)/(Σ θ + κ), doubly robust with the predictions m of a model: right for documents
      with much exposure whatever the model, and for all others if the model is right.

    Offsets of trust bias are subtracted from the clicks, except by ``naive``. All but ``ips`` are at most 1.
    Pairs that were never shown have the average (``naive``, ``snips``), the prediction (``dr``) or 0.
    """
    if estimator == "ips":
        return np.maximum(_over(sums.weighted, sums.impressions, 0.0, np.zeros(1)), 0.0)
    if estimator == "naive":
        hits, shown = sums.clicks, sums.impressions
    else:
        hits, shown = sums.corrected, sums.exposure
    if estimator == "dr":
        if model is None:
            raise ValueError("the doubly robust estimate needs the predictions of a model")
        prior = model
    else:
        prior = np.full(len(hits), np.clip(hits.sum() / max(float(shown.sum()), 1e-300), 0.0, 1.0))
    return np.clip(_over(hits, shown, smoothing, prior), 0.0, 1.0)


def _over(hits: Floats, shown: Floats, smoothing: float, prior: Floats) -> Floats:
    """(hits + smoothing·prior)/(shown + smoothing), and the prior if the denominator is 0."""
    below = shown + smoothing
    start = np.broadcast_to(prior, hits.shape).astype(np.float64)
    return np.divide(hits + smoothing * prior, below, out=start, where=below > 0)
