"""Expected reciprocal rank, with its named variants."""

from __future__ import annotations

import numpy as np

from topkit.data import InputError
from topkit.metrics.block import Block, Floats, at_depths, by_label, deepest, running
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
    gain = gain_function("exponential")
    labels = block.by_rank[:width]
    if isinstance(scale, float):
        goes_on = by_label(labels, top, lambda grades: 1.0 - gain(grades) / scale)
    else:
        goes_on = 1.0 - by_label(labels, top, gain) / scale
    reached = running(np.multiply, goes_on)  # the share of users who look beyond each rank
    stops = np.empty_like(reached)
    np.subtract(1.0, reached[0], out=stops[0])
    np.subtract(reached[:-1], reached[1:], out=stops[1:])
    ranks = np.arange(1.0, width + 1)
    if depths == [None]:
        value: Floats = np.einsum("rq,r->q", stops, 1 / ranks)
        return value[None, :]
    stops /= ranks[:, None]
    return at_depths(running(np.add, stops), depths)
