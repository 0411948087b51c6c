"""The top-k 0-1 loss: whether the top of the list is exactly right."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.metrics.block import Block, deepest
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths


def top_k_loss(block: Block, depths: Depths, convention: Convention) -> Floats:
    """0 if the first k documents are the true top k in their true order, else 1.

    Xia, Liu and Li, NIPS 2009, equation 5. Documents with equal labels may come in any order, so it also
    works with grades. A list with n < k documents is compared over n. Without a depth, k is that of the
    truth, or n.

    Use it in theory and for small k. Not to compare systems: nearly all lists of ten have a loss of 1.
    """
    whole = block.width if block.lists.truth.k is None else min(block.lists.truth.k, block.width)
    width = deepest([whole if depth is None else depth for depth in depths], block.width)
    wrong = np.maximum(block.by_rank[:width], 0) != block.ideal_by_rank(width)
    any_wrong = [wrong[: whole if depth is None else depth].any(axis=0) for depth in depths]
    return np.stack(any_wrong).astype(np.float64)
