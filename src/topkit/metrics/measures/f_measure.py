"""F1: the harmonic mean of precision and recall, at a depth or at a threshold on the score."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data.settings import Setting
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, Rel
from topkit.metrics.measures.relevant_found import hits_to_depths, least_relevant, list_sizes


def f1(
    block: Block,
    depths: Depths,
    convention: Convention,
    threshold: Annotated[float | None, Setting("Smallest score of a returned document.")] = None,
    rel: Rel = None,
) -> Floats:
    """F1@l = 2·hits/(l + R): the harmonic mean of P@l and recall@l; without a depth, of the whole list.

    With ``threshold``, only documents with at least this score count as returned (and at most l of them). A
    query without returned and without relevant documents has the convention's value for empty queries.

    Use it to evaluate a cut by depth or by score, as for sentences. Not for rankings without a cut.
    """
    least = least_relevant(convention, rel)
    known = block.relevant_known(least)
    values = np.full((len(depths), len(block)), convention.empty)
    if threshold is None:
        hits, sizes = hits_to_depths(block, depths, least), list_sizes(block, depths, convention)
    else:
        chosen = (block.ranked(block.lists.scores, -np.inf) >= threshold) & block.inside
        count = np.count_nonzero(chosen, axis=1)
        sizes = [count if depth is None else np.minimum(count, depth) for depth in depths]
        relevant = (block.labels >= least) & chosen
        hits = np.stack([relevant[:, :depth].sum(axis=1) for depth in depths]).astype(np.float64)
    for row, size in enumerate(sizes):
        np.divide(2.0 * hits[row], size + known, out=values[row], where=size + known > 0)
    return values
