"""How well a click model predicts pages: log-likelihood and perplexity, overall and by position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.base import FLOOR, ClickModel
from topkit.compute import Floats
from topkit.data.table import Table


@dataclass(frozen=True)
class Fit:
    """The predictions of a model on a log."""

    model: str
    pages: int
    log_likelihood: float
    """Mean per page of ln P(clicks of the page)."""
    perplexity: float
    """Mean over positions; 1 is perfect, 2 is a coin."""
    by_position: Floats
    """Perplexity of positions 1, 2, …."""

    def table(self) -> Table:
        """A row per position, then the mean."""
        rows = [(str(place), value) for place, value in enumerate(self.by_position.tolist(), 1)]
        note = f"{self.model}: log-likelihood {self.log_likelihood:.4f} per page, {self.pages:,} pages"
        return Table(("position", "perplexity"), [*rows, ("mean", self.perplexity)], (note,))


def click_fit(model: ClickModel, log: ClickLog) -> Fit:
    """Log-likelihood per page, and perplexity, of pages that the model was not fitted to.

    ln L = Σ ln P(click or skip | clicks above), so it is the probability of the whole page. The perplexity of
    a position is 2^(−mean log₂ P(click or skip)) with P before anything is known about the page (Dupret &
    Piwowarski, 2008). Probabilities are at least 1e-6, so that one impossible click does not decide.

    >>> from topkit.clicks.models import fit_click_model
    >>> from topkit.data import Page
    >>> log = ClickLog.of_pages([Page("q", ("a",), (True,)), Page("q", ("a",), (False,))])
    >>> round(click_fit(fit_click_model(log, "pbm", smoothing=0), log).perplexity, 3)
    2.0
    """
    log_probability = np.log(probabilities(model.conditional(log), log))
    alone = np.log2(probabilities(model.marginal(log), log))
    place = log.position.astype(np.int64) - 1
    sums, counts = np.bincount(place, alone), np.bincount(place)
    by_position = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    by_position = 2.0**-by_position
    return Fit(
        model.name,
        len(log),
        float(log_probability.sum() / len(log)),
        float(np.nanmean(by_position)),
        by_position,
    )


def probabilities(p: Floats, log: ClickLog) -> Floats:
    """The probability of what happened in each row, at least FLOOR."""
    safe = np.clip(p, FLOOR, 1.0 - FLOOR)
    values: Floats = np.where(log.clicks, safe, 1.0 - safe)
    return values
