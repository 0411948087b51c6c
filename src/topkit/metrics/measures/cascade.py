"""Expected reciprocal rank, with its named variants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from topkit.data import InputError
from topkit.metrics.block import Block, Floats, Labels, deepest, running, slabs, sums_to_depths, tabulated
from topkit.metrics.conventions import Convention, gain_function


def err(block: Block, depths: list[int | None], convention: Convention, top: float | None = None) -> Floats:
    """ERR@l = Σ_{r≤l} (1/r)·R_r·Π_{i<r}(1−R_i) with R = (2^y−1)/2^top.

    Chapelle, Metzler, Zhang and Grinspan, CIKM 2009. ``top`` is the largest grade of the scale: the setting,
    else the convention's, else the largest label of the data. A query without a relevant document scores 0.
    """
    largest = _maximum(block, convention, top)
    return _err(block, depths, 2.0**largest, largest)


def err_tm(
    block: Block, depths: list[int | None], convention: Convention, top: float | None = None
) -> Floats:
    """ERR with R = (2^y−1)/(2^top−1), so that a document of the largest grade always satisfies.

    Busa-Fekete, Kégl, Éltető and Szarvas, "Tune and mix", 2013, equation 24.
    """
    largest = _maximum(block, convention, top)
    return _err(block, depths, max(2.0**largest - 1, 1.0), largest)


def kappa_err(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """κ-ERR: ERR on the labels of top-k truth, with top = k (k := n in a list with n < k documents).

    Niu, Guo, Lan and Cheng, SIGIR 2012, section 3.3.
    """
    k = block.lists.truth.k or 1
    known = block.lengths + np.count_nonzero(block.missed >= 0, axis=1)
    return _err(block, depths, np.exp2(np.minimum(known, k)), float(k))


def _maximum(block: Block, convention: Convention, setting: float | None) -> float:
    if setting is not None:
        return setting
    return block.lists.largest_label if convention.err_maximum is None else convention.err_maximum


def _err(block: Block, depths: list[int | None], scale: float | Floats, top: float) -> Floats:
    """ERR with R = (2^y−1)/scale, one scale or one a query."""
    if block.lists.largest_label > top:
        raise InputError(
            f"the label {block.lists.largest_label:g} is above {top:g}, the largest grade that ERR knows of",
            f"set it, as in err(top={block.lists.largest_label:g})",
        )
    width = deepest(depths, block.width)
    inverse_ranks = 1.0 / np.arange(1, width + 1)
    return sums_to_depths(_stops(block.by_rank[:width], scale, top), inverse_ranks, depths)


def _stops(by_rank: Labels, scale: float | Floats, top: float) -> Iterator[Floats]:
    """R_r·Π_{i<r}(1−R_i), the share of users who stop at each rank; some ranks at a time."""
    gain = gain_function("exponential")

    def one_minus_r(labels: Labels) -> Floats:
        return 1.0 - gain(labels) / scale

    goes_on = tabulated(one_minus_r, by_rank, top) if isinstance(scale, float) else one_minus_r
    reach_before = np.ones(by_rank.shape[1])
    for ranks in slabs(by_rank.shape):
        reach = goes_on(by_rank[ranks])
        reach[0] *= reach_before
        running(np.multiply, reach)  # the share of users who look beyond each rank
        stops = np.empty_like(reach)
        np.subtract(reach_before, reach[0], out=stops[0])
        np.subtract(reach[:-1], reach[1:], out=stops[1:])
        reach_before = reach[-1]
        yield stops
