"""The position-based model with trust: users click what stands high, relevant or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.base import IndependentClicks
from topkit.clicks.models.em import EM, Params, Steps, Tolerance, maximise, prior_value, smoothed
from topkit.clicks.pairs import totals
from topkit.compute import Floats, fields_as_parameters


@dataclass(frozen=True, eq=False, repr=False)
class TrustBased(IndependentClicks):
    """P(click) = slope(position)·attraction + offset(position); 1 and 0 at the first position."""

    name: ClassVar[str] = "trust"
    slope: Floats = field(default_factory=lambda: np.ones(1))
    offset: Floats = field(default_factory=lambda: np.zeros(1))

    def conditional(self, log: ClickLog) -> Floats:
        place = np.minimum(log.position.astype(np.int64), len(self.slope)) - 1
        p: Floats = np.clip(self.attractions(log) * self.slope[place] + self.offset[place], 0.0, 1.0)
        return p


@dataclass(frozen=True)
class TrustEM(EM):
    """The fit of the model, which converges slowly."""

    max_steps: Steps = 1000
    tolerance: Tolerance = 1e-9


@fields_as_parameters(TrustEM)
def trust(log: ClickLog, em: TrustEM) -> TrustBased:
    """Position-based with trust bias: P(click) = slope(position)·attraction(document) + offset(position).

    Each position has a click rate for relevant and one for irrelevant documents, fitted by
    expectation–maximisation. Relevance is identified up to a linear transform only, so attraction means the
    click rate at the first position: slope 1 and offset 0 there. Agarwal, Wang, Li, Bendersky & Najork, WWW
    2019; Vardasbi, Oosterhuis & de Rijke, CIKM 2020.

    Use it if irrelevant documents are clicked more at the top than their examination explains. Not for short
    logs: it has twice as many parameters per position as `pbm`.
    """
    from topkit.clicks import kernels

    cells, positions, pairs = log.cells(), log.n_positions, len(log.pairs)
    shown_pair = totals(cells.pair, cells.impressions, pairs)
    shown = totals(cells.bucket, cells.impressions, positions)
    rate = totals(cells.bucket, cells.clicks, positions) / np.maximum(shown, 1.0)
    rate = np.clip(rate, 1e-6, 0.5)
    rows = float(shown.sum())

    def step(r: Floats, high: Floats, low: Floats) -> tuple[Params, float]:
        new_r, sums = np.zeros(pairs), np.zeros((positions, 4))
        value = kernels.mixture_pass(
            cells.pair, cells.bucket, cells.impressions, cells.clicks, r, high, low, new_r, sums
        )
        objective = (value + prior_value(r, em.smoothing, 0.5)) / rows
        new_high = np.divide(sums[:, 0], sums[:, 1], out=high.copy(), where=sums[:, 1] > 0)
        new_low = np.divide(sums[:, 2], sums[:, 3], out=low.copy(), where=sums[:, 3] > 0)
        return (smoothed(new_r, shown_pair, em.smoothing, 0.5), new_high, new_low), objective

    # Start from click rates of documents, so that the two classes begin apart.
    popular = totals(cells.pair, cells.clicks / rate[cells.bucket], pairs)
    popular = popular / np.maximum(shown_pair, 1.0)
    start = (np.clip(0.5 * popular, 0.05, 0.95), np.minimum(1.8 * rate, 0.95), 0.2 * rate)
    (r, high, low), trace = maximise(step, start, em)
    if high[0] < low[0]:
        r, high, low = 1.0 - r, low, high
    if high[0] - low[0] < 1e-9:  # every document is clicked alike at the first position
        high, low = rate, np.zeros(positions)
    attraction = high[0] * r + low[0] * (1.0 - r)
    slope = (high - low) / (high[0] - low[0])
    offset = low - low[0] * slope
    return TrustBased(log.pairs, attraction, float(rate[0]), trace, slope, offset)
