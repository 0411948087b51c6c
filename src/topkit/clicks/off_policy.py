"""Off-policy evaluation: the clicks that another ranker would get, from the log of the present one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Ints, Pairs, totals
from topkit.clicks.propensities import Propensities, estimate_propensities
from topkit.data import InputError, Run
from topkit.data.settings import Setting, check_settings, settings_of
from topkit.data.table import Table

Floats = NDArray[np.float64]

ESTIMATORS = ("snips", "ips", "dr")
Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
CLIP = 1e-3
"""Smallest examination that ips and dr divide by."""


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
    """Share of the new ranker's examination that falls on documents of the log; below 1 it is a guess."""

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
    - ``dr``: the mean of m + (c − θ·m)/θ, with m the relevance by the other half of the pages.

    The interval is from the variance over pages of the linearised estimate; it does not include the error of
    the propensities. Pages of queries that the run does not have are left out.

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
    sample = _Sample.of(log, propensities, estimator)
    values = sample.per_page(exposure) + _offsets(log, run, propensities, depth)
    clicks = np.add.reduceat(log.clicks.astype(np.float64), log.bounds[:-1])
    value, error = _mean_and_error(values)
    change, change_error = _mean_and_error(values - clicks)
    return ClickEvaluation(
        run.name, estimator, value, value - Z95 * error, value + Z95 * error, float(clicks.mean()),
        change, change - Z95 * change_error, change + Z95 * change_error, len(log),
        _coverage(log, run, exposure, propensities, depth),
    )  # fmt: skip


@dataclass(frozen=True)
class _Sample:
    """Every impression as an estimate of its document's relevance, with a weight."""

    log: ClickLog
    estimate: Floats
    """One value per row, whose weighted mean over the rows of a pair estimates its relevance."""
    weight: Floats

    @classmethod
    def of(cls, log: ClickLog, propensities: Propensities, estimator: str) -> _Sample:
        seen = propensities.at(log.position)
        clicks = log.clicks - propensities.offset_at(log.position)
        safe = np.maximum(seen, CLIP)
        if estimator == "snips":
            return cls(log, clicks / safe, seen)
        if estimator == "ips":
            return cls(log, clicks / safe, np.ones(len(seen)))
        model = _other_half(log, clicks, seen)
        return cls(log, model + (clicks - seen * model) / safe, np.ones(len(seen)))

    def per_page(self, exposure: Floats) -> Floats:
        """Σ_d exposure(d)·relevance(d) of each page's query, plus what its own clicks add to the estimate.

        The second part has the mean 0; it carries the variance of the estimates to the pages.
        """
        log, size = self.log, len(self.log.pairs)
        total = totals(log.pair, self.weight, size)
        mean = totals(log.pair, self.weight * self.estimate, size) / np.maximum(total, 1e-300)
        of_query = totals(log.pairs.query, exposure * mean, len(log.pairs.qids))
        pages = totals(log.page_query, None, len(log.pairs.qids))
        rows = totals(log.pair, None, size).astype(np.float64)
        freedom = np.sqrt(rows / np.maximum(rows - 1.0, 1.0))  # residuals are smaller than the errors
        scale = exposure * pages[log.pairs.query] / np.maximum(total, 1e-300) * freedom
        residual = scale[log.pair] * self.weight * (self.estimate - mean[log.pair])
        values: Floats = of_query[log.page_query] + np.add.reduceat(residual, log.bounds[:-1])
        return values


def _other_half(log: ClickLog, clicks: Floats, seen: Floats) -> Floats:
    """For each row, the relevance of its document by the pages of the other half, drawn to the average."""
    half = np.repeat(np.arange(len(log)) % 2, np.diff(log.bounds))
    size = len(log.pairs)
    average = float(np.clip(clicks.sum() / seen.sum(), 0.0, 1.0))
    model = np.empty(len(half))
    for side in (0, 1):
        other = half != side
        hits = totals(log.pair[other], clicks[other], size)
        shown = totals(log.pair[other], seen[other], size)
        model[half == side] = ((hits + average) / (shown + 1.0))[log.pair[half == side]]
    return model


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


def _coverage(log: ClickLog, run: Run, exposure: Floats, propensities: Propensities, depth: int) -> float:
    shown = totals(log.pair, None, len(log.pairs)) > 0
    known = totals(log.pairs.query, exposure * shown, len(log.pairs.qids))[log.page_query].sum()
    sums = np.cumsum(propensities.at(np.arange(1, depth + 1)))
    lengths = np.array([min(len(run[qid]), depth) if qid in run else 0 for qid in log.pairs.qids])
    total = np.where(lengths > 0, sums[np.maximum(lengths, 1) - 1], 0.0)[log.page_query].sum()
    return float(known / total)


def _mean_and_error(values: Floats) -> tuple[float, float]:
    """The mean and its standard error; the error of one value is not known."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return float(values.mean()), error
