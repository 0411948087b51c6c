"""Counts that tell what an evaluation rests on."""

from __future__ import annotations

import numpy as np

from topkit.metrics.block import Block, Floats
from topkit.metrics.conventions import Convention
from topkit.metrics.measures.relevant_found import least_relevant


def returned(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """How many documents the list holds."""
    return block.lengths[None, :].astype(np.float64)


def relevant(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """How many relevant documents are known."""
    return block.relevant_known(least_relevant(convention, rel))[None, :].astype(np.float64)


def relevant_returned(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """How many relevant documents the list holds."""
    return block.relevant_returned(least_relevant(convention, rel))[None, :].astype(np.float64)


def unjudged(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """The share of the first l places that hold a document that nobody judged."""
    holes = (block.labels < 0) & block.inside
    values = np.stack([holes[:, :depth].sum(axis=1) for depth in depths]).astype(np.float64)
    for row, depth in enumerate(depths):
        values[row] /= np.maximum(block.lengths, 1) if depth is None else depth
    return values
