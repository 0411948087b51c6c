"""Expected reciprocal rank, with its named variants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.metrics.block import Block, Floats, at_depths, deepest
from topkit.metrics.conventions import Convention


def err(block: Block, depths: list[int | None], convention: Convention, top: float | None = None) -> Floats:
    """ERR@l = Σ_{r≤l} (1/r)·R_r·Π_{i<r}(1−R_i) with R = (2^y−1)/2^top.

    Chapelle, Metzler, Zhang and Grinspan, CIKM 2009. ``top`` is the largest grade of the scale: the setting,
    else the convention's, else the largest label of the data. A query without a relevant document scores 0.
    """
    largest = _maximum(block, convention, top)
    return _err(block, depths, np.full(len(block), 2.0**largest), largest)


def err_tm(
    block: Block, depths: list[int | None], convention: Convention, top: float | None = None
) -> Floats:
    """ERR with R = (2^y−1)/(2^top−1), so that a document of the largest grade always satisfies.

    Busa-Fekete, Kégl, Éltető and Szarvas, "Tune and mix", 2013, equation 24.
    """
    largest = _maximum(block, convention, top)
    return _err(block, depths, np.full(len(block), max(2.0**largest - 1, 1.0)), largest)


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


def _err(block: Block, depths: list[int | None], scale: NDArray[np.float64], top: float) -> Floats:
    if block.lists.largest_label > top:
        raise InputError(
            f"the label {block.lists.largest_label:g} is above {top:g}, the largest grade that ERR knows of",
            f"set it, as in err(top={block.lists.largest_label:g})",
        )
    width = deepest(depths, block.width)
    stops = np.exp2(np.maximum(block.labels[:, :width], 0, dtype=np.float64))
    stops -= 1.0
    stops /= scale[:, None]
    reached = np.ones((len(block), width + 1))
    np.cumprod(1.0 - stops, axis=1, out=reached[:, 1:])
    stops *= reached[:, :-1]
    stops /= np.arange(1, width + 1)
    return at_depths(np.cumsum(stops, axis=1, out=stops), depths)
