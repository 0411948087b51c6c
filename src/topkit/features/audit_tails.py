"""Relevant documents below a cut: the trace that "top 1000 plus all relevant" leaves in a data set."""

from __future__ import annotations

from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from topkit.data import Dataset
from topkit.features.audit_checks import Finding

LEVEL = 1e-3
"""Significance level, strict because a biased data set should not be used at all."""
LIFT = 2.0
"""The last document must be relevant this many times more often than expected."""
SHORT = 10
"""In shorter lists the last document is not far from the first."""


class TailCheck(NamedTuple):
    """How often the documents with the smallest value of a feature are relevant."""

    feature: str
    last_relevant: float
    """Mean share of relevant documents among those with the smallest value of their query."""
    expected: float
    """The same for a randomly drawn document."""
    p: float
    """p-value of the difference (one-sided normal test over queries), times the number of features."""
    ranks: bool
    """Whether relevant documents have larger values than others, ignoring those at the end."""

    @property
    def biased(self) -> bool:
        """Relevant documents are at the end, although the feature ranks the others well."""
        return self.ranks and self.p < LEVEL and self.last_relevant > LIFT * self.expected


def added_beyond_cut(data: Dataset) -> list[TailCheck]:
    """Check the end of each query's list for each feature.

    A random document of a query is relevant with probability r_q. Documents that were added because they are
    relevant have the smallest values of a retrieval score, so the last one is relevant far more often,
    z = Σ(x_q − r_q)/√Σ r_q(1 − r_q), although the score is good: in the rest of the list (without the
    relevant documents at the end), relevant documents have the larger values. A feature with reversed
    direction fails this second test and is not biased. For ties at the end, x_q is the share of relevant
    documents.
    """
    relevant = (data.y > 0).astype(np.float64)
    starts = data.ptr[:-1]
    rate = np.add.reduceat(relevant, starts) / data.lengths
    spread = float(np.sqrt((rate * (1.0 - rate)).sum()))
    long = data.lengths >= SHORT
    checks = []
    for column, name in enumerate(data.names_of_features()):
        values = data.X[:, column]
        smallest = np.minimum.reduceat(values, starts)
        last = values == smallest[data.query_index]
        share = np.add.reduceat(relevant * last, starts) / np.add.reduceat(last.astype(np.float64), starts)
        # With many ties at the end (documents without a match) the test is conservative.
        z = float((share - rate)[long].sum()) / max(spread, 1e-12)
        p = min(1.0, _upper_tail(z) * data.n_features)
        expected = float(rate[long].mean()) if long.any() else 0.0
        observed = float(share[long].mean()) if long.any() else 0.0
        checks.append(TailCheck(name, observed, expected, p, _ranks_the_rest(data, column)))
    return checks


def _upper_tail(z: float) -> float:
    """P(Z > z) of a standard normal Z."""
    return 0.5 * erfc(z / sqrt(2.0))


def _ranks_the_rest(data: Dataset, column: int) -> bool:
    """Whether the relevant documents that are not at the end are above the middle, on average."""
    above = []
    for _, rows in data:
        values, relevant = data.X[rows, column], data.y[rows] > 0
        order = np.argsort(values, kind="stable")
        at_end = int(np.argmin(relevant[order]))  # relevant documents before the first other document
        rest, kept = values[order[at_end:]], relevant[order[at_end:]]
        if kept.any() and not kept.all():
            below = np.searchsorted(rest, rest[kept], "left") + np.searchsorted(rest, rest[kept], "right")
            above.append(float(below.mean()) / (2 * len(rest)))
    return bool(above) and float(np.mean(above)) > 0.5


def beyond_cut(data: Dataset, cut: int, column: int) -> Finding:
    """The share of queries with relevant documents below a depth by a feature."""
    name = data.names_of_features()[column]
    order = np.lexsort((-data.X[:, column], data.query_index))
    place = np.arange(len(data)) - np.repeat(data.ptr[:-1], data.lengths)
    outside = (data.y[order] > 0) & (place >= cut)
    queries = int(np.add.reduceat(outside.astype(np.int64), data.ptr[:-1]).astype(bool).sum())
    longer = int((data.lengths > cut).sum())
    share = queries / data.n_queries
    text = (
        f"{queries:,} of {data.n_queries:,} queries ({share:.0%}) have relevant documents below rank {cut:,} "
        f"by {name!r}; {longer:,} queries have more documents than that"
    )
    return Finding("warning" if queries else "fine", text)
