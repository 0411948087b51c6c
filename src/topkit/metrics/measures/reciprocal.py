"""Reciprocal rank, and the reciprocal of the page with the first relevant document."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.data.settings import Setting
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, FastMeasure, Rel
from topkit.metrics.measures.relevant_found import least_relevant, ranks_to, relevant_rows

PageSize = Annotated[float, Setting("Documents per page.", low=1)]

_FIRST_RANKS = 10
"""Most lists have a relevant document among this many; only the others are searched to the end."""


def reciprocal_rank(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """RR@l = 1/rank of the first relevant document, 0 if there is none among the first l.

    Use it for known-item search and questions with one answer. Not if several documents are relevant: only
    the first counts.
    """
    return _reciprocal(block, depths, convention, rel, 1)


def reciprocal_page_rank(
    block: Block, depths: Depths, convention: Convention, page: PageSize = 10, rel: Rel = None
) -> Floats:
    """1/number of the page (of ``page`` documents) with the first relevant document, 0 if there is none.

    Klementiev, Roth and Small, LR4IR 2008; its mean over queries is MRPR.

    Use it if users turn pages and the place on the page does not matter. Not for the order within a page.
    """
    return _reciprocal(block, depths, convention, rel, page)


def compiled_reciprocal_rank(
    data: Dataset, depth: int | None, convention: Convention, rel: Rel = None
) -> FastMeasure:
    """RR@l for training."""
    gain = relevant_rows(data, convention, rel).astype(np.float64)
    inverse_ranks = 1.0 / np.arange(1, ranks_to(data, depth) + 1)
    return FastMeasure("first_hit", gain, inverse_ranks, np.full(data.n_queries, np.nan))


def _reciprocal(
    block: Block, depths: Depths, convention: Convention, rel: float | None, page: float
) -> Floats:
    relevant = block.relevant(least_relevant(convention, rel))
    first = relevant[:_FIRST_RANKS].argmax(axis=0)
    hit = relevant[first, np.arange(len(block))]
    later = np.flatnonzero(~hit)
    first[later] = relevant[:, later].argmax(axis=0)
    hit[later] = relevant[first[later], later]
    value = np.where(hit, 1.0 / (first // page + 1.0), 0.0)
    return np.stack([value if depth is None else np.where(first < depth, value, 0.0) for depth in depths])
