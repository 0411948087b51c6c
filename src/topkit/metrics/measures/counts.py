"""Counts of documents: returned, relevant, relevant and returned, unjudged."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, Rel
from topkit.metrics.measures.relevant_found import least_relevant


def returned(block: Block, depths: Depths, convention: Convention) -> Floats:
    """Number of documents in the list.

    Use it to check that runs have the length you expect. Not as a measure of quality.
    """
    return block.lengths[None, :].astype(np.float64)


def relevant(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """Number of relevant documents that are known.

    Use it to check the judgments. Not as a measure of quality: it does not depend on the run.
    """
    return block.relevant_known(least_relevant(convention, rel))[None, :].astype(np.float64)


def relevant_returned(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """Number of relevant documents in the list.

    Use it to check how much a run can be worth at most. Not as a measure of the order.
    """
    return block.relevant_returned(least_relevant(convention, rel))[None, :].astype(np.float64)


def unjudged(block: Block, depths: Depths, convention: Convention) -> Floats:
    """The share of the first l places with an unjudged document.

    Use it beside every other measure if runs were not in the pool: many unjudged documents make values too
    low. Not as a measure of quality.
    """
    holes = (block.labels < 0) & block.inside
    values = np.stack([holes[:, :depth].sum(axis=1) for depth in depths]).astype(np.float64)
    for row, depth in enumerate(depths):
        values[row] /= np.maximum(block.lengths, 1) if depth is None else depth
    return values
