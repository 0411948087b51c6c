"""Discounted cumulative gain, its normalised form, and κ-NDCG on top-k labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset, InputError
from topkit.metrics.block import Block, Labels, at_depths, deepest, running, tabulated
from topkit.metrics.conventions import Convention, Discount, Gain, discounts, gain_function
from topkit.metrics.measure import Depths, FastMeasure
from topkit.metrics.measures.relevant_found import ranks_to

LARGEST_LABEL = 1000.0
"""Above it the gain 2^y − 1 leaves the range of float64."""


def dcg(block: Block, depths: Depths, convention: Convention) -> Floats:
    """DCG@l = Σ_{r≤l} gain(y_r)·discount(r).

    Järvelin and Kekäläinen, TOIS 2002. Gain and discount are those of the convention. A list with n < l
    documents ends at n, or scores 0 if the convention says so.

    Use it to compare systems on the same queries in units of gain. Not for means over queries with different
    numbers of relevant documents; `ndcg` normalises.
    """
    return _short(_dcg(block, depths, convention), block, depths, convention)


def ndcg(block: Block, depths: Depths, convention: Convention) -> Floats:
    """NDCG@l = DCG@l / DCG@l of the ideal order of all judged documents.

    A query without any gain has the convention's value for empty queries. In lists with labels above 1000, as
    in long full orders, all gains are divided by 2^(largest label), which does not change the quotient.

    Use it by default for grades, with the depth that users see. Not without naming the convention, and not
    for binary labels with one relevant document, where `rr` says the same.
    """
    exponents = gain_exponents(block)
    values = _discounted(block, block.by_rank[: deepest(depths, block.width)], depths, convention, exponents)
    width = deepest(depths, block.width + block.missed.shape[1])
    ideal = _discounted(block, block.ideal_by_rank(width), depths, convention, exponents)
    without_gain = ideal[0] == 0  # the first rank of the ideal list decides for every depth
    np.divide(values, ideal, out=values, where=~without_gain)
    values[:, without_gain] = convention.empty
    return _short(values, block, depths, convention)


def mean_ndcg(block: Block, depths: Depths, convention: Convention) -> Floats:
    """The mean of NDCG@1, …, NDCG@n of a list with n documents, as in the tables of LETOR 4.0.

    Use it to compare with the published tables of LETOR 4.0. Not for new work: one depth that users see is
    easier to explain.
    """
    every: Depths = list(range(1, block.width + 1))
    values = ndcg(block, every, convention)
    inside = np.arange(len(values))[:, None] < block.lengths
    mean: Floats = (values * inside).sum(axis=0, keepdims=True) / np.maximum(block.lengths, 1)
    return mean


def kappa_ndcg(block: Block, depths: Depths, convention: Convention) -> Floats:
    """κ-NDCG@l: NDCG@l on the labels of top-k truth (k+1−rank in the top k, 0 below).

    Niu, Guo, Lan and Cheng, SIGIR 2012, section 3.3.

    Use it for top-k truth. Not on grades: it needs the order of the top.
    """
    return ndcg(block, depths, convention)


def compiled_ndcg(data: Dataset, depth: int | None, convention: Convention) -> FastMeasure | None:
    """NDCG for training: gains divided by the ideal DCG of their query."""
    labels = data.y.astype(np.float64)
    largest = np.maximum.reduceat(labels, data.ptr[:-1]) if len(labels) else np.zeros(0)
    exponents = np.where(largest > LARGEST_LABEL, largest, 0.0)
    gains = gains_of(labels, convention.gain, np.repeat(exponents, data.lengths))
    ideal = ideal_dcg(gains, data.ptr, depth, convention.discount)
    fixed = np.where(ideal == 0, convention.empty, np.nan)
    if convention.short_is_zero and depth is not None:
        fixed[data.lengths < depth] = 0.0
    gains /= np.repeat(np.where(ideal == 0, 1.0, ideal), data.lengths)
    discount = discounts(convention.discount, ranks_to(data, depth))
    return FastMeasure("discounted_sum", gains, discount, fixed)


def compiled_kappa_ndcg(data: Dataset, depth: int | None, convention: Convention) -> FastMeasure | None:
    """κ-NDCG for training; None unless the truth is top-k."""
    return compiled_ndcg(data, depth, convention) if data.truth.kind == "top-k" else None


def ideal_dcg(
    gains: Floats, ptr: NDArray[np.int64], depth: int | None = None, discount: Discount = "log2(1+r)"
) -> Floats:
    """The largest possible DCG of each query, to a depth or of the whole list.

    >>> ideal_dcg(np.array([0.0, 3.0, 1.0]), np.array([0, 2, 3]), 10)
    array([3., 1.])
    """
    lengths = np.diff(ptr)
    query = np.repeat(np.arange(len(lengths)), lengths)
    best_first = gains[np.lexsort((-gains, query))]
    rank = np.arange(len(gains)) - np.repeat(ptr[:-1], lengths)
    best_first *= discounts(discount, int(lengths.max(initial=0)))[rank]
    if depth is not None:
        best_first[rank >= depth] = 0.0
    return np.bincount(query, best_first, len(lengths)).astype(np.float64)


def check_gain(block: Block, convention: Convention) -> None:
    """Raise if the DCG would overflow, as on the full order of a long list."""
    if convention.gain == "exponential" and block.lists.largest_label > LARGEST_LABEL:
        raise InputError(
            f"the gain 2^y−1 of the label {block.lists.largest_label:g} exceeds floating point",
            "use ndcg, top-k truth (Dataset.top_k) or a convention with linear gain",
        )


def gain_exponents(block: Block) -> Floats:
    """For each query the exponent of 2 that its gains are divided by: 0, or its largest label above 1000."""
    if block.lists.largest_label <= LARGEST_LABEL:
        return np.zeros(len(block))
    largest = block.ideal_by_rank(1)[0].astype(np.float64)
    return np.where(largest > LARGEST_LABEL, largest, 0.0)


def gains_of(labels: Labels | Floats, rule: Gain, exponents: Floats) -> Floats:
    """The gains of labels, divided by 2^exponent where the gain is 2^y − 1; linear gains are not divided.

    >>> gains_of(np.array([3.0, 2000.0]), "exponential", np.array([0.0, 2000.0]))
    array([7., 1.])
    """
    if rule != "exponential" or not exponents.any():
        return gain_function(rule)(labels)
    gains: Floats = np.exp2(np.maximum(labels, 0) - exponents) - np.exp2(-exponents)
    return gains


def _dcg(block: Block, depths: Depths, convention: Convention) -> Floats:
    check_gain(block, convention)
    labels = block.by_rank[: deepest(depths, block.width)]
    return _discounted(block, labels, depths, convention, np.zeros(len(block)))


def _discounted(
    block: Block, labels: Labels, depths: Depths, convention: Convention, exponents: Floats
) -> Floats:
    if exponents.any():
        gains = gains_of(labels, convention.gain, exponents)
    else:
        gains = tabulated(gain_function(convention.gain), labels, block.lists.largest_label)(labels)
    gains *= discounts(convention.discount, len(labels))[:, None]
    return at_depths(running(np.add, gains), depths)


def _short(values: Floats, block: Block, depths: Depths, convention: Convention) -> Floats:
    if convention.short_is_zero:
        for row, depth in enumerate(depths):
            if depth is not None:
                values[row, block.lengths < depth] = 0.0
    return values
