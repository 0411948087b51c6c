"""The clicks of rankings that were not shown: estimates from a log of others, and how far they can be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import totals
from topkit.clicks.propensities import Propensities

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ESTIMATORS = ("snips", "ips", "dr")
Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
CLIP = 1e-3
"""Smallest examination that ips and snips divide by."""
PRIOR = 1.0
"""Clicks at the average rate that are added to each rank and each query, so that few do not decide."""


@dataclass(frozen=True)
class Ranking:
    """Where the new ranker places the documents of a log."""

    rank: Ints
    """Rank of each pair, from 1; ``depth`` + 1 for documents that are not on the page."""
    depth: int
    """Documents per page."""
    exposure: Floats
    """Examination of each pair."""
    unknown: Floats
    """Examination of each query and rank that falls on documents that are no pair of the log."""


@dataclass(frozen=True)
class Estimate:
    """The clicks of the new page of each logged page's query, and what they owe to each logged click."""

    log: ClickLog
    of_pages: Floats
    share: Floats
    """By how much a click of each row changes the sum over pages."""
    rate: Floats
    """P(click) of each row, from a relevance that is drawn to what is usual for its rank and query."""
    guessed: Floats
    """Of each query, the variance of the clicks that were not seen but guessed."""

    @classmethod
    def of(cls, log: ClickLog, propensities: Propensities, estimator: str, new: Ranking) -> Estimate:
        """See :func:`topkit.clicks.off_policy.evaluate_clicks` for the estimators."""
        seen, offset = propensities.at(log.position), propensities.offset_at(log.position)
        clicks = log.clicks - offset
        size, queries, query = len(log.pairs), len(log.pairs.qids), log.pairs.query
        shown, hits = totals(log.pair, seen, size), totals(log.pair, clicks, size)
        rows = totals(log.pair, None, size)
        usual, usual_at = usual_relevance(log, new, shown, hits)
        trusted = np.where(rows > 0, 1.0, 0.0)
        if estimator == "ips":
            weight = 1.0 / np.maximum(seen, CLIP) / np.maximum(rows, 1.0)[log.pair]
            mean = totals(log.pair, clicks * weight, size)
        elif estimator == "snips":
            weight = (1.0 / np.maximum(shown, CLIP))[log.pair]
            mean = hits / np.maximum(shown, CLIP)
        else:
            trusted = np.minimum(shown, 1.0)
            weight = (1.0 / np.maximum(shown, 1.0))[log.pair]
            mean = hits / np.maximum(shown, 1e-300)
        mean = np.where(rows > 0, trusted * mean, 0.0) + (1.0 - trusted) * usual
        of_query = totals(query, new.exposure * mean, queries) + (new.unknown * usual_at).sum(axis=1)
        # a relevance between 0 and 1 whose mean is m has at most the variance m·(1 − m)
        guess = (new.exposure * (1.0 - trusted)) ** 2 * usual * (1.0 - usual)
        guessed = totals(query, guess, queries) + (new.unknown**2 * usual_at * (1.0 - usual_at)).sum(axis=1)
        pages = totals(log.page_query, None, queries)
        share = (new.exposure * pages[query])[log.pair] * weight
        smooth = (hits + usual) / (shown + 1.0)
        rate = np.clip(seen * smooth[log.pair] + offset, 0.0, 1.0)
        return cls(log, of_query[log.page_query], share, rate, guessed)

    def margins(self, values: Floats, logged: float) -> tuple[float, float]:
        """How far the truth may be below and above the mean value, minus ``logged`` times the logged clicks.

        Three parts of variance: queries differ, clicks are random, and some clicks are guessed. The second is
        that of the model, not of the sample, because documents with few impressions have no spread of their
        own. Few clicks with large weights make the estimate skewed, and a low one comes with a low variance;
        the limits take that into account, so they are not symmetric.
        """
        count = len(values)
        if count < 2:
            return float("nan"), float("nan")
        expected = np.add.reduceat(self.rate, self.log.bounds[:-1])
        centred = values - logged * expected
        centred = centred - centred.mean()
        gain, noise = self.share - logged, self.rate * (1.0 - self.rate)
        pages = totals(self.log.page_query, None, len(self.guessed))
        variance = (centred @ centred / (count - 1) + gain**2 @ noise / count) / count
        third = ((centred**3).mean() + gain**3 @ (noise * (1.0 - 2.0 * self.rate)) / count) / count**2
        skewness = float(third / variance**1.5) if variance > 1e-30 else 0.0
        error = float(np.sqrt(variance + (pages / count) ** 2 @ self.guessed))
        return error * unskewed(Z95, skewness), -error * unskewed(-Z95, skewness)


def unskewed(z: float, skewness: float) -> float:
    """The value of (estimate − truth)/standard error that the normal quantile ``z`` stands for.

    The cubic transformation of Hall, On the removal of skewness by transformation, JRSS B 1992: t + γ·t²/3 +
    γ²·t³/27 + γ/6 is about normal if the estimate has the skewness γ and its error grows with it.

    >>> round(unskewed(1.96, 0.0), 2), round(unskewed(1.96, 0.3), 2), round(unskewed(-1.96, 0.3), 2)
    (1.96, 1.63, -2.64)
    """
    if abs(skewness) < 1e-6:
        return z
    bounded = float(np.clip(skewness, -1.0, 1.0))
    return float(3.0 / bounded * (np.cbrt(1.0 + bounded * (z - bounded / 6.0)) - 1.0))


def usual_relevance(log: ClickLog, new: Ranking, shown: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """The relevance that documents at the same rank of the new ranker have, times a factor of the query.

    The value of each pair, and that of each query and rank. A ranker that is worth testing has better
    documents at the top, so the average of all documents would be too low there. Both factors are clicks over
    expected clicks, with ``PRIOR`` clicks at the average added.
    """
    query, queries, ranks = log.pairs.query, len(log.pairs.qids), new.depth + 1
    average = float(np.clip(hits.sum() / max(float(shown.sum()), 1e-300), 1e-6, 1.0))
    place = new.rank - 1
    of_rank = (totals(place, hits, ranks) + PRIOR) / (totals(place, shown, ranks) + PRIOR / average)
    expected = totals(query, shown * of_rank[place], queries)
    of_query = np.maximum(totals(query, hits, queries) + PRIOR, 0.0) / (expected + PRIOR)
    table: Floats = np.clip(of_query[:, None] * of_rank[None, :], 0.0, 1.0)
    return table[query, place], table[:, : new.depth]
