"""Off-policy evaluation: the clicks that another ranker would get, from the log of the present one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs, totals
from topkit.clicks.propensities import Propensities, estimate_propensities
from topkit.compute import Floats, Ints
from topkit.data import InputError, Run
from topkit.data.settings import Setting, check_settings, settings_of
from topkit.data.table import Table

ESTIMATORS = ("snips", "ips", "dr")
Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
CLIP = 1e-3
"""Smallest examination that ips and snips divide by."""
PRIOR = 10.0
"""Examinations at the average relevance that dr adds to each query."""


@dataclass(frozen=True)
class ClickEvaluation:
    """Expected clicks per page, with intervals of 95 %."""

    run: str
    estimator: str
    value: float
    low: float
    high: float
    logged: float
    """Clicks per page of the ranker that wrote the log, on the same pages."""
    difference: float
    difference_low: float
    difference_high: float
    pages: int
    coverage: float
    """Share of the new ranker's examination that falls on documents of the log; the rest is a guess."""

    def row(self) -> tuple[str | float, ...]:
        """The values for a row of :func:`evaluation_table`."""
        return (
            self.run, self.value, self.low, self.high,
            self.difference, self.difference_low, self.difference_high, self.coverage,
        )  # fmt: skip


def evaluation_table(evaluations: list[ClickEvaluation]) -> Table:
    """A row per ranker: clicks per page and the difference from the log, both with intervals."""
    first = evaluations[0]
    columns = ("", "clicks", "low", "high", "difference", "low of it", "high of it", "coverage")
    note = (
        f"expected clicks per page by {first.estimator}, intervals of 95 %; the log has "
        f"{first.logged:.4f} on {first.pages:,} pages"
    )
    return Table(columns, [evaluation.row() for evaluation in evaluations], (note,))


def evaluate_clicks(
    log: ClickLog,
    run: Run,
    propensities: Propensities | str = "pbm",
    *,
    estimator: Annotated[str, Setting("How clicks are corrected.", choices=ESTIMATORS)] = "snips",
    length: Annotated[
        int | None, Setting("Documents per page of the new ranker; none is that of the log.", low=1)
    ] = None,
) -> ClickEvaluation:
    """The clicks per page that the rankings of ``run`` would get, estimated from a log of other rankings.

    Under position bias, a page gets Σ_d θ(rank of d)·relevance(d) clicks. The relevance of a document is
    estimated from its impressions in the log, at positions of examination θ:

    - ``snips``: Σ c / Σ θ, self-normalised;
    - ``ips``: the mean of c/θ;
    - ``dr``: m + Σ (c − θ·m)/max(Σ θ, 1), doubly robust: documents with less than one examination lean on the
      average relevance m of their query.

    The variance has two parts: queries differ, and clicks are random. The second is that of the model, not of
    the sample, because documents with few impressions have no spread of their own. The interval does not
    include the error of the propensities. Documents that the log has not shown count with the average
    relevance (by ``dr`` with that of the query), so the result is a guess unless the coverage is near 1.
    Pages of queries that the run does not have are left out.

    >>> import topkit as tk
    >>> pages = [tk.Page("q", ("a", "b"), (False, True)), tk.Page("q", ("b", "a"), (True, False))] * 50
    >>> found = evaluate_clicks(tk.ClickLog.of_pages(pages), tk.Run.of({"q": {"b": 2, "a": 1}}), "pbm")
    >>> round(found.value, 3), found.logged
    (1.0, 1.0)
    """
    check_settings(
        settings_of(evaluate_clicks), {"estimator": estimator, "length": length}, "evaluate_clicks"
    )
    if isinstance(propensities, str):
        propensities = estimate_propensities(log, propensities)
    log = _known_pages(log, run)
    ranks = _ranks(log.pairs, run)
    depth = length or int(np.diff(log.bounds).max())
    exposure = np.where(ranks <= depth, propensities.at(np.minimum(ranks, depth)), 0.0)
    total = _exposure_of_queries(log, run, propensities, depth)
    estimate = _Estimate.of(log, propensities, estimator, exposure, total)
    offsets = _offsets(log, run, propensities, depth)
    clicks = np.add.reduceat(log.clicks.astype(np.float64), log.bounds[:-1])
    values = estimate.of_pages + offsets
    error, change_error = estimate.error(values, 0.0), estimate.error(values, 1.0)
    value = float(values.mean())
    change = value - float(clicks.mean())
    return ClickEvaluation(
        run.name, estimator, value, value - Z95 * error, value + Z95 * error, float(clicks.mean()),
        change, change - Z95 * change_error, change + Z95 * change_error, len(log),
        _coverage(log, exposure, total),
    )  # fmt: skip


@dataclass(frozen=True)
class _Estimate:
    """The clicks of the new page of each logged page's query, and what they owe to each logged click."""

    log: ClickLog
    of_pages: Floats
    share: Floats
    """By how much a click of each row changes the sum over pages."""
    rate: Floats
    """P(click) of each row, from a relevance that is drawn to the average."""

    @classmethod
    def of(
        cls, log: ClickLog, propensities: Propensities, estimator: str, exposure: Floats, total: Floats
    ) -> _Estimate:
        seen, offset = propensities.at(log.position), propensities.offset_at(log.position)
        clicks = log.clicks - offset
        size, queries, query = len(log.pairs), len(log.pairs.qids), log.pairs.query
        shown, hits = totals(log.pair, seen, size), totals(log.pair, clicks, size)
        average = float(np.clip(hits.sum() / shown.sum(), 0.0, 1.0))
        rows = totals(log.pair, None, size)
        fallback = np.full(queries, average)
        if estimator == "ips":
            weight = 1.0 / np.maximum(seen, CLIP) / np.maximum(rows, 1.0)[log.pair]
            mean = totals(log.pair, clicks * weight, size)
        elif estimator == "snips":
            weight = (1.0 / np.maximum(shown, CLIP))[log.pair]
            mean = hits / np.maximum(shown, CLIP)
        else:
            of_query, seen_of_query = totals(query, hits, queries), totals(query, shown, queries)
            fallback = (of_query + PRIOR * average) / (seen_of_query + PRIOR)
            below = np.maximum(shown, 1.0)
            weight = (1.0 / below)[log.pair]
            mean = fallback[query] + (hits - shown * fallback[query]) / below
        known = totals(query, exposure * (rows > 0), queries)
        new = totals(query, exposure * mean * (rows > 0), queries) + (total - known) * fallback
        pages = totals(log.page_query, None, queries)
        share = (exposure * pages[query])[log.pair] * weight
        smooth = (hits + average) / (shown + 1.0)
        rate = np.clip(seen * smooth[log.pair] + offset, 0.0, 1.0)
        return cls(log, new[log.page_query], share, rate)

    def error(self, values: Floats, logged: float) -> float:
        """The standard error of the mean value, minus ``logged`` times that of the clicks of the log."""
        pages = len(values)
        if pages < 2:
            return float("nan")
        expected = np.add.reduceat(self.rate, self.log.bounds[:-1])
        noise = (self.share - logged) ** 2 @ (self.rate * (1.0 - self.rate)) / pages
        variance = float((values - logged * expected).var(ddof=1) + noise)
        return float(np.sqrt(variance / pages))


def _known_pages(log: ClickLog, run: Run) -> ClickLog:
    """The pages of queries that the run has."""
    known = set(run.qids)
    inside = np.array([qid in known for qid in log.pairs.qids])
    if not inside[log.page_query].any():
        raise InputError("the log and the run have no query in common", "use the same query ids in both")
    return log if inside.all() else log.select(inside[log.page_query])


def _ranks(pairs: Pairs, run: Run) -> Ints:
    """The rank of each pair in the run, from 1; a very large one if the run does not have it."""
    ranks = np.full(len(pairs), 1 << 40, np.int64)
    names = pairs.docs.tolist()
    for query, qid in enumerate(pairs.qids):
        if qid in run:
            place = {doc: rank for rank, doc in enumerate(_ranking(run, qid), 1)}
            for pair in range(int(pairs.ptr[query]), int(pairs.ptr[query + 1])):
                ranks[pair] = place.get(names[pair], 1 << 40)
    return ranks


def _ranking(run: Run, qid: str) -> list[str]:
    """The documents of a query by score, ties in the order given."""
    return [doc for doc, _ in sorted(run[qid], key=lambda entry: -entry[1])]


def _offsets(log: ClickLog, run: Run, propensities: Propensities, depth: int) -> Floats:
    """Clicks of each page that do not depend on relevance."""
    sums = np.cumsum(propensities.offset_at(np.arange(1, depth + 1)))
    lengths = np.array([len(run[qid]) if qid in run else 0 for qid in log.pairs.qids])
    filled = np.minimum(lengths, depth)
    of_query = np.where(filled > 0, sums[np.maximum(filled, 1) - 1], 0.0)
    values: Floats = of_query[log.page_query]
    return values


def _exposure_of_queries(log: ClickLog, run: Run, propensities: Propensities, depth: int) -> Floats:
    """The sum of the examination over the new page of each query."""
    sums = np.cumsum(propensities.at(np.arange(1, depth + 1)))
    lengths = np.array([min(len(run[qid]), depth) if qid in run else 0 for qid in log.pairs.qids])
    values: Floats = np.where(lengths > 0, sums[np.maximum(lengths, 1) - 1], 0.0)
    return values


def _coverage(log: ClickLog, exposure: Floats, of_queries: Floats) -> float:
    shown = totals(log.pair, None, len(log.pairs)) > 0
    known = totals(log.pairs.query, exposure * shown, len(log.pairs.qids))
    return float(known[log.page_query].sum() / of_queries[log.page_query].sum())
