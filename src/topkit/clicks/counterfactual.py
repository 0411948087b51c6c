"""The clicks of rankings that were not shown: estimates from a log of others, and how far they can be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import totals
from topkit.clicks.propensities import Propensities
from topkit.compute import Floats, Ints

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
    offset: Floats
    """Clicks of each query's page that do not depend on relevance."""


@dataclass(frozen=True)
class Estimate:
    """The clicks of the new page of each query, and what they owe to each logged click."""

    log: ClickLog
    of_query: Floats
    pages: Floats
    """Logged pages of each query."""
    impressions: Floats
    """Of each cell of the log: a document at a position."""
    share: Floats
    """By how much a click of each cell changes the sum over pages."""
    rate: Floats
    """P(click) of each cell, from a relevance that is drawn to what is usual for its rank and query."""
    relevance: Floats
    """That relevance, of each pair."""
    guessed: float
    """The variance of the clicks per page that were not seen but guessed."""

    @classmethod
    def of(cls, log: ClickLog, propensities: Propensities, estimator: str, new: Ranking) -> Estimate:
        """See :func:`topkit.clicks.off_policy.evaluate_clicks` for the estimators."""
        cells = log.cells()
        seen, offset = propensities.at(cells.bucket + 1), propensities.offset_at(cells.bucket + 1)
        clicks = cells.clicks - cells.impressions * offset
        size, queries, query = len(log.pairs), len(log.pairs.qids), log.pairs.query
        shown = totals(cells.pair, cells.impressions * seen, size)
        hits, rows = totals(cells.pair, clicks, size), totals(cells.pair, cells.impressions, size)
        usual = UsualRelevance.of(log, new, shown, hits)
        trusted = np.where(rows > 0, 1.0, 0.0)
        if estimator == "ips":
            weight = 1.0 / np.maximum(seen, CLIP) / rows[cells.pair]
        elif estimator == "snips":
            weight = (1.0 / np.maximum(shown, CLIP))[cells.pair]
        else:
            trusted = np.minimum(shown, 1.0)
            weight = (1.0 / np.maximum(shown, 1.0))[cells.pair]
        mean = totals(cells.pair, clicks * weight, size) + (1.0 - trusted) * usual.of_pair
        of_query = totals(query, new.exposure * mean, queries) + new.offset
        of_query += (new.unknown * usual.at_rank).sum(axis=1)
        pages = totals(log.page_query, None, queries)
        guessed = usual.variance(new, new.exposure * (1.0 - trusted), query, pages / len(log))
        share = (new.exposure * pages[query])[cells.pair] * weight
        relevance = (hits + usual.of_pair) / (shown + 1.0)
        rate = np.clip(seen * relevance[cells.pair] + offset, 0.0, 1.0)
        return cls(log, of_query, pages, cells.impressions, share, rate, relevance, guessed)

    def error(self, logged: float, expected: Floats) -> float:
        """The standard error of the estimate, minus ``logged`` times the clicks of the log.

        ``expected`` are the expected logged clicks of each page. Three parts of variance: queries differ,
        clicks are random, and some clicks are guessed. The second is that of the model, not of the sample,
        because documents with few impressions have no spread of their own.
        """
        count = len(self.log)
        if count < 2:
            return float("nan")
        of_pages = self.of_query[self.log.page_query] - logged * expected
        noise = (self.share - logged) ** 2 @ (self.impressions * self.rate * (1.0 - self.rate)) / count
        return float(np.sqrt((of_pages.var(ddof=1) + noise) / count + self.guessed))


@dataclass(frozen=True)
class UsualRelevance:
    """The relevance that documents at the same rank of the new ranker have, times a factor of the query.

    A ranker that is worth testing has better documents at the top, so the average of all documents would be
    too low there. Both factors are clicks over expected clicks, with ``PRIOR`` clicks at the average added.
    """

    of_pair: Floats
    at_rank: Floats
    """Of each query and rank."""
    clicks: Floats
    """The clicks that each rank is estimated from."""

    @classmethod
    def of(cls, log: ClickLog, new: Ranking, shown: Floats, hits: Floats) -> UsualRelevance:
        """From the exposure and the clicks of each pair."""
        query, queries, ranks = log.pairs.query, len(log.pairs.qids), new.depth + 1
        average = float(np.clip(hits.sum() / max(float(shown.sum()), 1e-300), 1e-6, 1.0))
        place = new.rank - 1
        clicks = np.maximum(totals(place, hits, ranks), 0.0) + PRIOR
        of_rank = clicks / (totals(place, shown, ranks) + PRIOR / average)
        expected = totals(query, shown * of_rank[place], queries) + PRIOR
        of_query = np.maximum(totals(query, hits, queries) + PRIOR, 0.0) / expected
        table: Floats = np.clip(of_query[:, None] * of_rank[None, :], 0.0, 1.0)
        return cls(table[query, place], table[:, : new.depth], clicks[: new.depth])

    def variance(self, new: Ranking, guessed: Floats, query: Ints, traffic: Floats) -> float:
        """The variance of the clicks per page if this much examination of each pair is guessed.

        A relevance between 0 and 1 whose mean is m has at most the variance m·(1 − m). And m itself is
        uncertain: all guesses at one rank are off together, by 1/√clicks of the rank.
        """
        single = totals(query, guessed**2 * self.of_pair * (1.0 - self.of_pair), len(traffic))
        single += (new.unknown**2 * self.at_rank * (1.0 - self.at_rank)).sum(axis=1)
        on_page = new.rank <= new.depth
        weighted = (traffic[query] * guessed * self.of_pair)[on_page]
        together = totals(new.rank[on_page] - 1, weighted, new.depth)
        together += traffic @ (new.unknown * self.at_rank)
        return float(traffic**2 @ single + (together**2 / self.clicks).sum())
