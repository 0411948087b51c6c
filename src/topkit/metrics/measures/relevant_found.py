"""Measures that count relevant documents: precision, recall, success, average precision, R-precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.data.settings import Setting
from topkit.metrics.block import Block, at_depths, deepest, running, slabs, sums_to_depths
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, FastMeasure, Rel


def least_relevant(convention: Convention, rel: float | None) -> float:
    """The smallest relevant label: the setting ``rel`` of the metric, else that of the convention."""
    return convention.relevant_from if rel is None else rel


def hits_to_depths(block: Block, depths: Depths, least: float) -> Floats:
    """Relevant documents among the first l, one row per depth."""
    if depths == [None]:
        return block.relevant_returned(least).astype(np.float64)[None, :]
    hits = block.relevant(least)[: deepest(depths, block.width)].astype(np.float64)
    return at_depths(running(np.add, hits), depths)


def list_sizes(block: Block, depths: Depths, convention: Convention) -> list[NDArray[np.int64]]:
    """What precision divides by at each depth: l, or the length of the list (always without a depth)."""
    return [
        block.lengths
        if depth is None
        else np.minimum(block.lengths, depth)
        if convention.precision_over_list
        else np.full(len(block), depth)
        for depth in depths
    ]


def precision(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """P@l = relevant documents among the first l, divided by l; without a depth, by the list's length.

    Places after the end of a short list count as irrelevant, unless the convention divides by the length of
    the list.

    Use it for a page of fixed size and binary relevance. Not if many queries have fewer relevant documents
    than the depth.
    """
    values = hits_to_depths(block, depths, least_relevant(convention, rel))
    values /= np.maximum(list_sizes(block, depths, convention), 1)
    return values


def recall(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """Recall@l = relevant documents among the first l, divided by all that are known.

    Use it for the first stage of a search, with the depth that is passed on. Not for the quality of a
    ranking: the order does not count.
    """
    least = least_relevant(convention, rel)
    return over(hits_to_depths(block, depths, least), block.relevant_known(least), convention)


def success(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """Success@l = 1 if a relevant document is among the first l, else 0.

    Use it if one good document is enough. Not to see small differences: each query is 0 or 1.
    """
    return np.minimum(hits_to_depths(block, depths, least_relevant(convention, rel)), 1.0)


def average_precision(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """AP@l = (1/R) Σ P@r over the ranks r ≤ l of relevant documents; R counts all that are known.

    Its mean over queries is MAP. A query without a relevant document has the convention's empty value.

    Use it for binary relevance and complete judgments, where all relevant documents count (`gm_map` gives
    more weight to hard queries). Not if many documents are unjudged; see `bpref`.
    """
    least = least_relevant(convention, rel)
    width = deepest(depths, block.width)
    inverse_ranks = 1.0 / np.arange(1, width + 1)
    sums = sums_to_depths(_hits_so_far(block.relevant(least)[:width]), inverse_ranks, depths)
    return over(sums, block.relevant_known(least), convention)


def _hits_so_far(relevant: NDArray[np.bool_]) -> Iterator[NDArray[np.int32]]:
    """r·P@r where the document at rank r is relevant, else 0; a slab of ranks at a time."""
    before = np.zeros(relevant.shape[1], np.int32)
    for ranks in slabs(relevant.shape):
        hits = relevant[ranks].astype(np.int32)
        so_far = hits.copy()
        so_far[0] += before
        before = running(np.add, so_far)[-1].copy()
        so_far *= hits
        yield so_far


def r_precision(
    block: Block,
    depths: Depths,
    convention: Convention,
    mult: Annotated[float, Setting("Multiple of R at which precision is taken.", above=0.0)] = 1,
    rel: Rel = None,
) -> Floats:
    """P@R with R the number of relevant documents that are known; with ``mult``, P at ⌊mult·R + 0.9⌋.

    Use it if queries differ much in their number of relevant documents. Not for a fixed page size.
    """
    least = least_relevant(convention, rel)
    known = block.relevant_known(least)
    cut = np.floor(known * mult + 0.9).astype(np.int64)
    counts = np.zeros((block.width + 1, len(block)))
    counts[1:] = block.relevant(least)
    running(np.add, counts)
    hits = counts[np.minimum(cut, block.width), np.arange(len(block))]
    return over(hits[None, :], cut, convention)


def over(values: Floats, size: NDArray[np.int64], convention: Convention) -> Floats:
    """Values (depths, queries) divided by the size of each query; 0/0 is the convention's empty value."""
    np.divide(values, size, out=values, where=size > 0)
    values[:, size == 0] = convention.empty
    return values


# -- for training --------------------------------------------------------------------------------------------
def relevant_rows(data: Dataset, convention: Convention, rel: float | None) -> NDArray[np.bool_]:
    """Which documents of a data set are relevant."""
    relevant: NDArray[np.bool_] = data.y >= least_relevant(convention, rel)
    return relevant


def ranks_to(data: Dataset, depth: int | None) -> int:
    """How many ranks count: the depth, or the length of the longest list."""
    ranks = int(data.lengths.max(initial=1))
    return ranks if depth is None else min(depth, ranks)


def compiled_precision(
    data: Dataset, depth: int | None, convention: Convention, rel: Rel = None
) -> FastMeasure:
    """P@l for training: a relevant document counts 1 over what precision divides by."""
    sizes = data.lengths if depth is None else np.full(data.n_queries, depth)
    sizes = np.minimum(data.lengths, sizes) if convention.precision_over_list else sizes
    gain: Floats = relevant_rows(data, convention, rel) / np.repeat(sizes, data.lengths)
    return FastMeasure(
        "discounted_sum", gain, np.ones(ranks_to(data, depth)), np.full(data.n_queries, np.nan)
    )


def compiled_average_precision(
    data: Dataset, depth: int | None, convention: Convention, rel: Rel = None
) -> FastMeasure:
    """AP@l for training: a relevant document counts 1 over the number of relevant ones of its query."""
    relevant = relevant_rows(data, convention, rel)
    known = np.bincount(data.query_index, relevant, data.n_queries)
    gain: Floats = relevant / np.repeat(np.maximum(known, 1.0), data.lengths)
    fixed = np.where(known == 0, convention.empty, np.nan)
    return FastMeasure("precision_at_hits", gain, np.ones(ranks_to(data, depth)), fixed)
