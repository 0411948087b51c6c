"""Reciprocal rank, and the reciprocal of the page on which the first relevant document stands."""

from __future__ import annotations

import numpy as np

from topkit.metrics.block import Block, Floats
from topkit.metrics.conventions import Convention
from topkit.metrics.measures.relevant_found import least_relevant

_MOSTLY = 10
"""Most lists have something relevant among so many; only the others are looked through."""


def reciprocal_rank(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """RR@l = 1/rank of the first relevant document, 0 if there is none among the first l."""
    return _reciprocal(block, depths, convention, rel, 1)


def reciprocal_page_rank(
    block: Block, depths: list[int | None], convention: Convention, page: float = 10, rel: float | None = None
) -> Floats:
    """1/number of the page (of ``page`` documents) on which the first relevant document stands, else 0.

    Klementiev, Roth and Small, LR4IR 2008; its mean over queries is MRPR.
    """
    return _reciprocal(block, depths, convention, rel, page)


def _reciprocal(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None, page: float
) -> Floats:
    relevant = block.relevant(least_relevant(convention, rel))
    first = relevant[:_MOSTLY].argmax(axis=0)
    hit = relevant[first, np.arange(len(block))]
    later = np.flatnonzero(~hit)
    first[later] = relevant[:, later].argmax(axis=0)
    hit[later] = relevant[first[later], later]
    value = np.where(hit, 1.0 / (first // page + 1.0), 0.0)
    return np.stack([value if depth is None else np.where(first < depth, value, 0.0) for depth in depths])
