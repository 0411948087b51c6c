"""Relevant documents beyond a cut: the mark that "top 1000 plus all relevant" leaves in a data set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topkit.data import Dataset
from topkit.features.audit_checks import Finding

LEVEL = 1e-3
LIFT = 2.0


class TailCheck(NamedTuple):
    """How often the last documents of queries by a feature are relevant."""

    feature: str
    last_relevant: float
    """Mean share of relevant ones among the documents with the smallest value of their query."""
    expected: float
    """The same for a document drawn at random."""
    p: float
    """Chance of so large a difference (one-sided normal test over queries), times the number of features."""
    ranks: bool
    """Whether relevant documents have larger values than others, apart from those at the end."""

    @property
    def biased(self) -> bool:
        """Relevant documents lie at the very end, but the feature ranks the others well."""
        return self.ranks and self.p < LEVEL and self.last_relevant > LIFT * self.expected


def added_beyond_cut(data: Dataset) -> list[TailCheck]:
    """Look at the end of every query's list by every feature.

    A document drawn at random from a query is relevant with its rate r_q. Documents added because they are
    relevant have the smallest value of a retrieval score, so the last one is then relevant far more often,
    z = Σ(x_q − r_q)/√Σ r_q(1 − r_q), although the score is a good one: among the rest of the list (without
    the relevant documents at the end), relevant documents have the larger values. A feature that simply
    counts the wrong way round fails that second test, and is not called biased. Of equal values at the end
    the share of relevant ones is taken.
    """
    relevant = (data.y > 0).astype(np.float64)
    starts = data.ptr[:-1]
    rate = np.add.reduceat(relevant, starts) / data.lengths
    spread = float(np.sqrt((rate * (1.0 - rate)).sum()))
    long = data.lengths >= 10  # in shorter lists the last is not far from the first
    checks = []
    for column, name in enumerate(data.names_of_features()):
        values = data.X[:, column]
        least = np.minimum.reduceat(values, starts)
        last = values == least[data.query_index]
        share = np.add.reduceat(relevant * last, starts) / np.add.reduceat(last.astype(np.float64), starts)
        # With many equal values at the end (no match at all) the share has less chance to be off the rate.
        z = float((share - rate)[long].sum()) / max(spread, 1e-12)
        p = min(1.0, _upper_tail(z) * data.n_features)
        expected = float(rate[long].mean()) if long.any() else 0.0
        seen = float(share[long].mean()) if long.any() else 0.0
        checks.append(TailCheck(name, seen, expected, p, _ranks_the_rest(data, column)))
    return checks


def _upper_tail(z: float) -> float:
    from math import erfc, sqrt

    return 0.5 * erfc(z / sqrt(2.0))


def _ranks_the_rest(data: Dataset, column: int) -> bool:
    """Whether the relevant documents that are not at the very end stand above the middle, on average."""
    above = []
    for _, rows in data:
        values, relevant = data.X[rows, column], data.y[rows] > 0
        order = np.argsort(values, kind="stable")
        at_end = int(np.argmin(relevant[order]))  # relevant documents before the first other one
        rest, kept = values[order[at_end:]], relevant[order[at_end:]]
        if kept.any() and not kept.all():
            below = np.searchsorted(rest, rest[kept], "left") + np.searchsorted(rest, rest[kept], "right")
            above.append(float(below.mean()) / (2 * len(rest)))
    return bool(above) and float(np.mean(above)) > 0.5


def beyond_cut(data: Dataset, cut: int, column: int) -> Finding:
    """The share of queries that have relevant documents beyond a depth by a feature."""
    name = data.names_of_features()[column]
    order = np.lexsort((-data.X[:, column], data.query_index))
    place = np.arange(len(data)) - np.repeat(data.ptr[:-1], data.lengths)
    outside = (data.y[order] > 0) & (place >= cut)
    queries = int(np.add.reduceat(outside.astype(np.int64), data.ptr[:-1]).astype(bool).sum())
    longer = int((data.lengths > cut).sum())
    share = queries / data.n_queries
    text = (
        f"{queries:,} of {data.n_queries:,} queries ({share:.0%}) have relevant documents beyond the first "
        f"{cut:,} by {name!r}; {longer:,} queries have more documents than that"
    )
    return Finding("warning" if queries else "fine", text)
