"""ListNet with the probabilities of the first m places instead of the first one."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from topkit.data.settings import Setting
from topkit.losses.base import Block, Floats, Ints

M = Annotated[int, Setting("Places that the probabilities of ListNet cover.", low=1, high=3)]


class TopTargets(NamedTuple):
    """What ListNet learns from if its probabilities cover more than one place."""

    labels: Floats
    target: Floats
    """The expected number of times that a document is at one of the first m places."""
    m: int


def list_targets(labels: Floats, ptr: Ints, *, m: M = 1) -> Floats | TopTargets:
    """The labels, or for m > 1 also how often each document is expected at the first m places."""
    if m == 1:
        return labels
    from topkit.losses.listwise.top_m import kernels

    return TopTargets(
        labels, kernels.top_m_entropy(labels, labels, np.zeros(len(labels)), ptr, m, False)[1], m
    )


def top_m_entropy(scores: Floats, targets: TopTargets, ptr: Ints, curved: bool) -> Block:
    """The cross entropy of top-m probabilities for each query, with gradient and curvature."""
    from topkit.losses.listwise.top_m import kernels

    block: Block = kernels.top_m_entropy(scores, targets.labels, targets.target, ptr, targets.m, curved)
    return block
