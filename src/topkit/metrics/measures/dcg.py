"""Discounted cumulative gain, its normalised form, and κ-NDCG on top-k labels."""

from __future__ import annotations

import numpy as np

from topkit.data import InputError
from topkit.metrics.block import Block, Floats, at_depths, deepest
from topkit.metrics.conventions import Convention, discounts, gain_function

_COUNTED_GRADES = 16
"""With at most so many grades an ideal list is counted, not sorted."""


def dcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """DCG@l = Σ_{r≤l} gain(y_r)·discount(r).

    Järvelin and Kekäläinen, TOIS 2002. Gain and discount are the convention's. A list with n < l documents
    ends at n, or scores 0 under conventions that say so.
    """
    return _short(_dcg(block, depths, convention), block, depths, convention)


def ndcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """NDCG@l = DCG@l / DCG@l of the ideal order of all judged documents.

    A query without any gain has the convention's value for empty queries.
    """
    values = _dcg(block, depths, convention)
    ideal = ideal_dcg(block, depths, convention)
    nothing = ideal[0] == 0  # the first rank of the ideal list tells for every depth
    np.divide(values, ideal, out=values, where=~nothing)
    values[:, nothing] = convention.empty
    return _short(values, block, depths, convention)


def kappa_ndcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """κ-NDCG@l: NDCG@l on the labels of top-k truth (k+1−rank in the top k, 0 below).

    Niu, Guo, Lan and Cheng, SIGIR 2012, section 3.3.
    """
    return ndcg(block, depths, convention)


def ideal_dcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """DCG@l of the best order of all judged documents, returned or missed: (depths, queries)."""
    gain = gain_function(convention.gain)
    highest = block.lists.largest_label
    known = block.width + block.missed.shape[1]
    if block.labels.dtype == np.int8 and block.missed.dtype == np.int8 and highest <= _COUNTED_GRADES:
        running = np.concatenate([[0.0], np.cumsum(discounts(convention.discount, known))])
        limits = np.array([known if depth is None else min(depth, known) for depth in depths])[:, None]
        values = np.zeros((len(depths), len(block)))
        above = np.zeros(len(block), np.int64)
        for grade in range(int(highest), 0, -1):  # documents of one grade stand together in the ideal list
            count = np.count_nonzero(block.labels == grade, axis=1)
            if block.missed.size:
                count += np.count_nonzero(block.missed == grade, axis=1)
            below = above + count
            share = running[np.minimum(below, limits)] - running[np.minimum(above, limits)]
            values += share * gain(np.array(grade))
            above = below
        return values
    width = deepest(depths, known)
    gains = gain(block.ideal_labels[:, :width])
    gains *= discounts(convention.discount, width)
    return at_depths(np.cumsum(gains, axis=1, out=gains), depths)


def _dcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    if convention.gain == "exponential" and block.lists.largest_label > 1000:
        raise InputError(
            f"the gain 2^y−1 of the label {block.lists.largest_label:g} is out of reach",
            "use top-k truth (Dataset.top_k) or a convention with linear gain",
        )
    width = deepest(depths, block.width)
    gains = gain_function(convention.gain)(block.labels[:, :width])
    gains *= discounts(convention.discount, width)
    return at_depths(np.cumsum(gains, axis=1, out=gains), depths)


def _short(values: Floats, block: Block, depths: list[int | None], convention: Convention) -> Floats:
    if convention.short_is_zero:
        for row, depth in enumerate(depths):
            if depth is not None:
                values[row, block.lengths < depth] = 0.0
    return values
