"""Expected reciprocal rank, with its named variants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting
from topkit.metrics.block import Block, Labels, deepest, running, slabs, sums_to_depths, tabulated
from topkit.metrics.conventions import Convention, gain_function
from topkit.metrics.measure import Depths, FastMeasure
from topkit.metrics.measures.discounted_gain import LARGEST_LABEL
from topkit.metrics.measures.relevant_found import ranks_to

Top = Annotated[
    float | None, Setting("Largest grade of the scale; none takes that of the convention, or of the data.")
]


def err(block: Block, depths: Depths, convention: Convention, top: Top = None) -> Floats:
    """ERR@l = Σ_{r≤l} (1/r)·R_r·Π_{i<r}(1−R_i) with R = (2^y−1)/2^top.

    Chapelle, Metzler, Zhang and Grinspan, CIKM 2009. ``top`` is the largest grade of the scale: the setting,
    else that of the convention, else the largest label of the data. A query without a relevant document
    scores 0.

    Use it if users stop at the first good document; it depends strongly on rank 1. Not to compare data sets
    unless ``top`` is the same for both.
    """
    largest = _largest_grade(block.lists.largest_label, convention, top)
    _check_top(largest)
    return _err(block, depths, 2.0**largest, largest)


def err_tm(block: Block, depths: Depths, convention: Convention, top: Top = None) -> Floats:
    """ERR with R = (2^y−1)/(2^top−1), so that a document of the largest grade always satisfies.

    Busa-Fekete, Kégl, Éltető and Szarvas, "Tune and mix", 2013, equation 24.

    Use it to compare with the tables of the Tune-and-mix paper. Not for new work; `err` is the usual form.
    """
    largest = _largest_grade(block.lists.largest_label, convention, top)
    _check_top(largest)
    return _err(block, depths, max(2.0**largest - 1, 1.0), largest)


def kappa_err(block: Block, depths: Depths, convention: Convention) -> Floats:
    """κ-ERR: ERR on the labels of top-k truth, with top = k (k := n in a list with n < k documents).

    Niu, Guo, Lan and Cheng, SIGIR 2012, section 3.3.

    Use it for top-k truth if the first places count most. Not on grades.
    """
    k = block.lists.truth.k or 1
    known = block.lengths + np.count_nonzero(block.missed >= 0, axis=1)
    _check_top(float(np.minimum(known, k).max(initial=0)))
    return _err(block, depths, np.exp2(np.minimum(known, k)), float(k))


def compiled_err(
    data: Dataset, depth: int | None, convention: Convention, top: Top = None
) -> FastMeasure | None:
    """ERR for training; None if a label exceeds the largest grade, which is an error of :func:`err`."""
    largest_label = float(data.y.max(initial=0))
    largest = _largest_grade(largest_label, convention, top)
    usable = largest_label <= largest <= LARGEST_LABEL
    return _compiled(data, depth, 2.0**largest) if usable else None


def compiled_kappa_err(data: Dataset, depth: int | None, convention: Convention) -> FastMeasure | None:
    """κ-ERR for training; None unless the truth is top-k."""
    if data.truth.kind != "top-k" or data.y.max(initial=0) > LARGEST_LABEL:
        return None
    return _compiled(
        data, depth, np.repeat(np.exp2(np.minimum(data.lengths, data.truth.k or 1)), data.lengths)
    )


def _compiled(data: Dataset, depth: int | None, scale: float | Floats) -> FastMeasure:
    stops: Floats = gain_function("exponential")(data.y.astype(np.float64)) / scale
    inverse_ranks = 1.0 / np.arange(1, ranks_to(data, depth) + 1)
    return FastMeasure("cascade", stops, inverse_ranks, np.full(data.n_queries, np.nan))


def _largest_grade(largest_label: float, convention: Convention, setting: float | None) -> float:
    if setting is not None:
        return setting
    return largest_label if convention.err_maximum is None else convention.err_maximum


def _check_top(top: float) -> None:
    """Raise if 2^top would overflow, as on the full order of a long list."""
    if top > LARGEST_LABEL:
        raise InputError(
            f"ERR with a largest grade of {top:g} exceeds floating point",
            f"use top-k truth (Dataset.top_k) with k ≤ {LARGEST_LABEL:g}",
        )


def _err(block: Block, depths: Depths, scale: float | Floats, top: float) -> Floats:
    """ERR with R = (2^y−1)/scale; one scale for all queries or one per query."""
    if block.lists.largest_label > top:
        raise InputError(
            f"the label {block.lists.largest_label:g} exceeds {top:g}, the largest grade of ERR",
            f"set the largest grade: err(top={block.lists.largest_label:g})",
        )
    width = deepest(depths, block.width)
    inverse_ranks = 1.0 / np.arange(1, width + 1)
    return sums_to_depths(_stops(block.by_rank[:width], scale, top), inverse_ranks, depths)


def _stops(by_rank: Labels, scale: float | Floats, top: float) -> Iterator[Floats]:
    """R_r·Π_{i<r}(1−R_i), the share of users who stop at each rank; a slab of ranks at a time."""
    gain = gain_function("exponential")

    def one_minus_r(labels: Labels) -> Floats:
        return 1.0 - gain(labels) / scale

    continues = tabulated(one_minus_r, by_rank, top) if isinstance(scale, float) else one_minus_r
    reach_before = np.ones(by_rank.shape[1])
    for ranks in slabs(by_rank.shape):
        reach = continues(by_rank[ranks])
        reach[0] *= reach_before
        running(np.multiply, reach)  # the share of users who look beyond each rank
        stops = np.empty_like(reach)
        np.subtract(reach_before, reach[0], out=stops[0])
        np.subtract(reach[:-1], reach[1:], out=stops[1:])
        reach_before = reach[-1]
        yield stops
