"""Measures that count relevant documents: precision, recall, success, average precision, R-precision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topkit.metrics.block import Block, Floats, at_depths, deepest, running, slabs, sums_to_depths
from topkit.metrics.conventions import Convention


def least_relevant(convention: Convention, rel: float | None) -> float:
    """The smallest relevant label: the metric's setting ``rel``, else the convention's."""
    return convention.relevant_from if rel is None else rel


def found(block: Block, depths: list[int | None], least: float) -> Floats:
    """Relevant documents among the first l, one row a depth."""
    if depths == [None]:
        return block.relevant_returned(least).astype(np.float64)[None, :]
    hits = block.relevant(least)[: deepest(depths, block.width)].astype(np.float64)
    return at_depths(running(np.add, hits), depths)


def precision(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """P@l = relevant documents among the first l, divided by l; without a depth, by the list's length.

    Places after the end of a short list count as irrelevant, or divide by the list's length where the
    convention says so.
    """
    values = found(block, depths, least_relevant(convention, rel))
    for row, depth in enumerate(depths):
        if depth is None or convention.precision_over_list:
            size = block.lengths if depth is None else np.minimum(block.lengths, depth)
            values[row] /= np.maximum(size, 1)
        else:
            values[row] /= depth
    return values


def recall(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """Recall@l = relevant documents among the first l, divided by all that are known."""
    least = least_relevant(convention, rel)
    return over(found(block, depths, least), block.relevant_known(least), convention)


def success(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """Success@l = 1 if a relevant document is among the first l, else 0."""
    return np.minimum(found(block, depths, least_relevant(convention, rel)), 1.0)


def average_precision(
    block: Block, depths: list[int | None], convention: Convention, rel: float | None = None
) -> Floats:
    """AP@l = (1/R) Σ P@r over the ranks r ≤ l of relevant documents; R counts all that are known.

    Its mean over queries is MAP. A query without a relevant document has the convention's empty value.
    """
    least = least_relevant(convention, rel)
    width = deepest(depths, block.width)
    inverse_ranks = 1.0 / np.arange(1, width + 1)
    sums = sums_to_depths(_found_at_hits(block.relevant(least)[:width]), inverse_ranks, depths)
    return over(sums, block.relevant_known(least), convention)


def _found_at_hits(relevant: NDArray[np.bool_]) -> Iterator[NDArray[np.int32]]:
    """r·P@r where the document at rank r is relevant, else 0; some ranks at a time."""
    found_before = np.zeros(relevant.shape[1], np.int32)
    for ranks in slabs(relevant.shape):
        hits = relevant[ranks].astype(np.int32)
        found_there = hits.copy()
        found_there[0] += found_before
        found_before = running(np.add, found_there)[-1].copy()
        found_there *= hits
        yield found_there


def r_precision(
    block: Block, depths: list[int | None], convention: Convention, mult: float = 1, rel: float | None = None
) -> Floats:
    """P@R with R the number of relevant documents that are known; with ``mult``, P at ⌊mult·R + 0.9⌋."""
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
