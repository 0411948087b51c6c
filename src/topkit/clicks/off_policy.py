"""Off-policy evaluation: the clicks that another ranker would get, from the log of the present one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from topkit.clicks.counterfactual import ESTIMATORS, Z95, Estimate, Ranking
from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import totals
from topkit.clicks.propensities import Propensities, estimate_propensities
from topkit.compute import Floats
from topkit.data import InputError, Run
from topkit.data.settings import Setting, check_settings, settings_of
from topkit.data.table import Table


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
    - ``dr``: m + Σ (c − θ·m)/max(Σ θ, 1), doubly robust: documents with less than one examination lean on m,
      the relevance that is usual for their rank in the new ranking and for their query.

    Documents that the log has not shown count with m, so the result is a guess unless the coverage is near 1.
    The interval includes the randomness of queries and clicks, and the error of such guesses, but not that of
    the propensities. Pages of queries that the run does not have are left out.

    >>> import topkit as tk
    >>> pages = [tk.Page("q", ("a", "b"), (False, True)), tk.Page("q", ("b", "a"), (True, False))] * 50
    >>> evaluation = evaluate_clicks(tk.ClickLog.of_pages(pages), tk.Run.of({"q": {"b": 2, "a": 1}}), "pbm")
    >>> round(evaluation.value, 3), evaluation.logged
    (1.0, 1.0)
    """
    check_settings(
        settings_of(evaluate_clicks), {"estimator": estimator, "length": length}, "evaluate_clicks"
    )
    if isinstance(propensities, str):
        propensities = estimate_propensities(log, propensities)
    log = _known_pages(log, run)
    new = _new_ranking(log, run, propensities, length or int(np.diff(log.bounds).max()))
    estimate = Estimate.of(log, propensities, estimator, new)
    value = float(estimate.of_query @ estimate.pages / len(log))
    logged = float(log.clicks.sum() / len(log))
    expected = _expected_clicks(log, propensities, estimate.relevance)
    margin, change_margin = Z95 * estimate.error(0.0, expected), Z95 * estimate.error(1.0, expected)
    change = value - logged
    return ClickEvaluation(
        run.name, estimator, value, value - margin, value + margin, logged,
        change, change - change_margin, change + change_margin, len(log), _coverage(log, new),
    )  # fmt: skip


def _known_pages(log: ClickLog, run: Run) -> ClickLog:
    """The pages of queries that the run has."""
    known = set(run.qids)
    inside = np.array([qid in known for qid in log.pairs.qids])
    if not inside[log.page_query].any():
        raise InputError("the log and the run have no query in common", "use the same query ids in both")
    return log if inside.all() else log.select(inside[log.page_query])


def _new_ranking(log: ClickLog, run: Run, propensities: Propensities, depth: int) -> Ranking:
    """The ranks of the log's documents in the run, and the examination of documents that the log lacks."""
    pairs = log.pairs
    rank = np.full(len(pairs), depth + 1, np.int64)
    seen = propensities.at(np.arange(1, depth + 1))
    unknown, offset = np.zeros((len(pairs.qids), depth)), np.zeros(len(pairs.qids))
    offsets = propensities.offset_at(np.arange(1, depth + 1))
    names = pairs.docs.tolist()
    for query, qid in enumerate(pairs.qids):
        if qid in run:
            pair_of = {names[pair]: pair for pair in range(int(pairs.ptr[query]), int(pairs.ptr[query + 1]))}
            shown = _ranking(run, qid)[:depth]
            offset[query] = offsets[: len(shown)].sum()
            for place, doc in enumerate(shown):
                if doc in pair_of:
                    rank[pair_of[doc]] = place + 1
                else:
                    unknown[query, place] = seen[place]
    exposure = np.where(rank <= depth, seen[np.minimum(rank, depth) - 1], 0.0)
    return Ranking(rank, depth, exposure, unknown, offset)


def _ranking(run: Run, qid: str) -> list[str]:
    """The documents of a query by score, ties in the order given."""
    return [doc for doc, _ in sorted(run[qid], key=lambda entry: -entry[1])]


def _expected_clicks(log: ClickLog, propensities: Propensities, relevance: Floats) -> Floats:
    """The expected clicks of each logged page, given the relevance of each pair."""
    rate = propensities.at(log.position) * relevance[log.pair] + propensities.offset_at(log.position)
    values: Floats = np.add.reduceat(np.clip(rate, 0.0, 1.0), log.bounds[:-1])
    return values


def _coverage(log: ClickLog, new: Ranking) -> float:
    """Share of the examination of the new pages that falls on documents which the log has shown."""
    queries = len(log.pairs.qids)
    shown = totals(log.pair, None, len(log.pairs)) > 0
    known = totals(log.pairs.query, new.exposure * shown, queries)
    total = totals(log.pairs.query, new.exposure, queries) + new.unknown.sum(axis=1)
    return float(known[log.page_query].sum() / total[log.page_query].sum())
