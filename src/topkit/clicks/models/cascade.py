"""The cascade model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.chain import Chain
from topkit.clicks.models.em import Smoothing, smoothed
from topkit.clicks.pairs import totals
from topkit.compute import Floats, Report, Trace, silent


class Cascade(Chain):
    """A user looks from the top and leaves with the first click."""

    name: ClassVar[str] = "cascade"

    def unsatisfied(self, log: ClickLog) -> Floats:
        return np.zeros(len(log.pair))


def cascade(log: ClickLog, *, smoothing: Smoothing = 1.0, report: Report = silent) -> Cascade:
    """Cascade: users look from the top and leave with the first click.

    Closed form: attraction = clicks / times shown at or above the first click. Clicks below the first one are
    ignored by the fit and impossible under the model. Craswell, Zoeter, Taylor & Ramsey, WSDM 2008.

    Use it as the simplest model of users who leave with the first click. Not for pages with several clicks.
    """
    lengths = np.diff(log.bounds)
    starts = np.repeat(log.bounds[:-1], lengths)
    clicked = np.where(log.clicks, np.arange(len(log.pair)), -1)
    running = np.maximum.accumulate(np.concatenate([[-1], clicked[:-1]]))
    examined = running < starts  # no click above on the same page
    pairs = len(log.pairs)
    clicks = totals(log.pair[examined], log.clicks[examined], pairs)
    average = float(np.clip(clicks.sum() / examined.sum(), 1e-6, 1 - 1e-6))
    a = smoothed(clicks, totals(log.pair[examined], None, pairs).astype(float), smoothing, average)
    report("log-likelihood", 1, 1, float("nan"))
    return Cascade(log.pairs, a, average, Trace(1, reason="settled"))
