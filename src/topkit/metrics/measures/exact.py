"""The top-k 0-1 loss: is the top of the list exactly right?"""

from __future__ import annotations

import numpy as np

from topkit.metrics.block import Block, Floats, deepest
from topkit.metrics.conventions import Convention


def top_k_loss(block: Block, depths: list[int | None], convention: Convention) -> Floats:
    """0 if the first k documents are the true top k in their true order, else 1.

    Xia, Liu and Li, NIPS 2009, equation 5. Documents of equal label may stand in any order, so
    that it can be had for grades too. A list with n < k documents is compared over n. Without a depth, k is
    that of the truth, or n.
    """
    whole = block.width if block.lists.truth.k is None else min(block.lists.truth.k, block.width)
    width = deepest([whole if depth is None else depth for depth in depths], block.width)
    wrong = np.maximum(block.by_rank[:width], 0) != block.ideal_by_rank(width)
    any_wrong = [wrong[: whole if depth is None else depth].any(axis=0) for depth in depths]
    return np.stack(any_wrong).astype(np.float64)
