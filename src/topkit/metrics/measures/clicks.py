"""S_clicks: how well a list ranks the documents that users clicked."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention, discounts
from topkit.metrics.measure import Depths


def s_clicks(block: Block, depths: Depths, convention: Convention) -> Floats:
    """S_clicks = Σ_r discount(r)·clicks(r) / Σ_r examinations(r), over the whole list.

    A document was examined once for each page that shows it at or above the last click. Documents that were
    never shown have no clicks and no examinations, so they do not count. A query without an examined document
    has the convention's value for empty queries. Zoeter, Taylor, Snelson, Guiver, Craswell and Szummer,
    LR4IR 2008, equation 8.

    Use it to evaluate by clicks without grades, for queries with many pages. Not to compare rankers whose
    documents were never shown: they do not count.
    """
    lists = block.lists
    if lists.clicks is None or lists.looks is None:
        raise ValueError("S_clicks needs lists with clicks")
    clicks = block.ranked(lists.clicks, 0.0) @ discounts(convention.discount, block.width)
    looks = block.ranked(lists.looks, 0.0).sum(axis=1)
    value = np.full(len(block), convention.empty)
    np.divide(clicks, looks, out=value, where=looks > 0)
    return value[None, :]
