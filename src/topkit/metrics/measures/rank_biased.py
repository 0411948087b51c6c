"""Measures of a user with a fixed persistence: rank-biased precision and Compatibility."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data.settings import Setting
from topkit.metrics.block import Block, deepest
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, Rel
from topkit.metrics.measures.relevant_found import least_relevant

Persistence = Annotated[float, Setting("Probability that the user looks at the next document.")]


def rank_biased_precision(
    block: Block, depths: Depths, convention: Convention, p: Persistence = 0.8, rel: Rel = None
) -> Floats:
    """RBP@l = (1−p) Σ_{r≤l} p^{r−1}·[document r is relevant].

    Moffat and Zobel, TOIS 2008. A query without a relevant document scores 0.

    Use it if you know how patient users are: they look at 1/(1 − p) documents on average. Not to compare
    values with different p.
    """
    relevant = block.labels >= least_relevant(convention, rel)
    weights = (1.0 - p) * p ** np.arange(block.width)
    return np.stack(
        [
            relevant[:, :width] @ weights[:width]
            for width in (deepest([depth], block.width) for depth in depths)
        ]
    )


def compatibility(block: Block, depths: Depths, convention: Convention, p: Persistence = 0.95) -> Floats:
    """The largest rank-biased overlap of the list with any ideal order, divided by that of the ideal itself.

    RBO@l ∝ Σ_{d≤l} p^{d−1}·|list to d ∩ ideal to d|/d. An ideal order has the documents with a label above 0
    by descending label; documents with equal labels keep the order of the list, which maximises the overlap.
    Without a depth, l is the longer of list and ideal. Clarke, Vtyurina and Smucker, TOIS 2021. A
    query without a relevant document has the convention's value for empty queries.

    Use it for preferences and ordered tops: it compares with the nearest ideal order. Not for grades alone,
    where `ndcg` is better known.
    """
    labels = np.concatenate([block.labels, block.missed], axis=1).astype(np.float64)
    positive = labels > 0
    places = np.full(labels.shape, np.iinfo(np.int64).max)
    places[:, : block.width] = np.arange(block.width)
    ideal_order = np.argsort(np.where(positive, -labels, np.inf), axis=1, kind="stable")
    ideal_places = np.empty(labels.shape, np.int64)
    np.put_along_axis(ideal_places, ideal_order, np.arange(labels.shape[1])[None, :], axis=1)
    met = np.maximum(places, ideal_places)  # the document is in both lists from this place on
    relevant = positive.sum(axis=1)
    longest = np.maximum(block.lengths, relevant)
    deepest_place = max([int(longest.max(initial=0)), *(depth for depth in depths if depth is not None)])
    ranks = np.arange(1, deepest_place + 1)
    running = np.concatenate([[0.0], np.cumsum(p ** (ranks - 1.0) / ranks)])
    values = np.empty((len(depths), len(block)))
    for row, depth in enumerate(depths):
        last = longest if depth is None else np.full(len(block), depth)
        both = positive & (met < last[:, None])
        overlap = np.where(both, running[last][:, None] - running[np.where(both, met, 0)], 0.0).sum(axis=1)
        ideal = positive & (ideal_places < last[:, None])
        steps = running[last][:, None] - running[np.where(ideal, ideal_places, 0)]
        best = np.where(ideal, steps, 0.0).sum(axis=1)
        values[row] = np.divide(overlap, best, out=np.full(len(block), convention.empty), where=relevant > 0)
    return values
