"""Measures on preferences: how many of the assessors' pairs the list orders in the same way."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention, discounts
from topkit.metrics.measure import Depths


def ppref(block: Block, depths: Depths, convention: Convention) -> Floats:
    """ppref@l = correctly ordered pairs / ordered pairs: the precision of preferences.

    A pair is ordered if at least one of its documents is among the first l, and correctly ordered if the
    preferred document is ranked higher. Every answer counts, except "about the same". A query without an
    ordered pair scores 0 if it has preferences, else the convention's value for empty queries. Carterette and
    Bennett, SIGIR 2008.

    Use it to evaluate by preferences directly, without grades. Not with `tie` as the most frequent answer:
    ties are left out.
    """
    return _ratio(block, depths, convention, weighted=False, over_all=False)


def rpref(block: Block, depths: Depths, convention: Convention) -> Floats:
    """rpref@l = correctly ordered pairs / all pairs: the recall of preferences. See :func:`ppref`.

    Use it with `ppref` if lists differ in length. Not alone: a longer list orders more pairs.
    """
    return _ratio(block, depths, convention, weighted=False, over_all=True)


def nwppref(block: Block, depths: Depths, convention: Convention) -> Floats:
    """nwppref@l: ppref@l with each pair weighted by the discount at the rank of its higher document.

    The sum over correctly ordered pairs is normalised by the sum over all ordered pairs. The discount is the
    convention's. See :func:`ppref`.

    Use it as `ppref` with more weight on the top. Not to compare values under different conventions, which
    set the discount.
    """
    return _ratio(block, depths, convention, weighted=True, over_all=False)


def _ratio(block: Block, depths: Depths, convention: Convention, *, weighted: bool, over_all: bool) -> Floats:
    query, better, worse = block.preferences
    higher = np.minimum(better, worse)
    weight = np.ones(len(query))
    if weighted:
        weight = discounts(convention.discount, block.width + 1)[np.minimum(higher, block.width)]
    pairs = np.bincount(query, minlength=len(block))
    values = np.full((len(depths), len(block)), convention.empty)
    for row, depth in enumerate(depths):
        ordered = higher < (block.width if depth is None else min(depth, block.width))
        right = np.bincount(query, weight * (ordered & (better < worse)), minlength=len(block))
        total = pairs if over_all else np.bincount(query, weight * ordered, minlength=len(block))
        np.divide(right, np.where(total > 0, total, 1), out=values[row], where=pairs > 0)
    return values
