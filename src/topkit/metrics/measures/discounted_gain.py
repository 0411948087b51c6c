"""Discounted cumulative gain, its normalised form, and κ-NDCG on top-k labels."""

from __future__ import annotations

import numpy as np

from topkit.data import InputError
from topkit.metrics.block import Block, Floats, Labels, at_depths, deepest, running, tabulated
from topkit.metrics.conventions import Convention, discounts, gain_function


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


def mean_ndcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """The mean of NDCG@1, …, NDCG@n of a list with n documents, as the tables of LETOR 4.0 print it."""
    every: list[int | None] = list(range(1, block.width + 1))
    values = ndcg(block, every, convention)
    inside = np.arange(len(values))[:, None] < block.lengths
    mean: Floats = (values * inside).sum(axis=0, keepdims=True) / np.maximum(block.lengths, 1)
    return mean


def kappa_ndcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """κ-NDCG@l: NDCG@l on the labels of top-k truth (k+1−rank in the top k, 0 below).

    Niu, Guo, Lan and Cheng, SIGIR 2012, section 3.3.
    """
    return ndcg(block, depths, convention)


def ideal_dcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """DCG@l of the best order of all judged documents, returned or missed: (depths, queries)."""
    width = deepest(depths, block.width + block.missed.shape[1])
    return _discounted(block, block.ideal_by_rank(width), depths, convention)


def _dcg(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    check_gain(block, convention)
    return _discounted(block, block.by_rank[: deepest(depths, block.width)], depths, convention)


def _discounted(block: Block, labels: Labels, depths: list[int | None], convention: Convention) -> Floats:
    gains = tabulated(gain_function(convention.gain), labels, block.lists.largest_label)(labels)
    gains *= discounts(convention.discount, len(labels))[:, None]
    return at_depths(running(np.add, gains), depths)


def _short(values: Floats, block: Block, depths: list[int | None], convention: Convention) -> Floats:
    if convention.short_is_zero:
        for row, depth in enumerate(depths):
            if depth is not None:
                values[row, block.lengths < depth] = 0.0
    return values


def check_gain(block: Block, convention: Convention) -> None:
    """Raise where 2^y would overflow, as it does on the full order of a long list."""
    if convention.gain == "exponential" and block.lists.largest_label > 1000:
        raise InputError(
            f"the gain 2^y−1 of the label {block.lists.largest_label:g} is out of reach",
            "use top-k truth (Dataset.top_k) or a convention with linear gain",
        )
