"""ListNet with the probabilities of the first m places instead of the first one."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.losses.base import Block, Column

M = Annotated[int, Setting("Places that the probabilities of ListNet cover.", low=1, high=3)]


class TopTargets(NamedTuple):
    """What ListNet learns from if its probabilities cover more than one place."""

    labels: Floats
    target: Floats
    """The expected number of times that a document is at one of the first m places."""
    m: int


class WeightedTargets(NamedTuple):
    """What ListNet learns from if documents have weights."""

    masses: Floats
    """The top-one probability of each label times the weight of its document."""


def list_targets(
    labels: Floats, ptr: Ints, *, m: M = 1, document_weights: Column = None
) -> Floats | TopTargets | WeightedTargets:
    """The labels, or for m > 1 also how often each document is expected at the first m places."""
    if document_weights is not None:
        if m > 1:
            raise InputError("ListNet with m above 1 takes no document weights", "use m=1")
        return weighted_targets(labels, ptr, document_weights)
    if m == 1:
        return labels
    from topkit.losses.listwise.top_m import kernels

    return TopTargets(
        labels, kernels.top_m_entropy(labels, labels, np.zeros(len(labels)), ptr, m, False)[1], m
    )


def weighted_targets(psi: Floats, ptr: Ints, document_weights: Floats) -> WeightedTargets:
    """The softmax of ψ within each query times the weights of the documents."""
    masses = np.empty(len(psi))
    for a, b in pairwise(ptr):
        power = np.exp(psi[a:b] - psi[a:b].max(initial=-np.inf))
        masses[a:b] = document_weights[a:b] * power / power.sum()
    return WeightedTargets(masses)


def top_m_entropy(scores: Floats, targets: TopTargets, ptr: Ints, curved: bool) -> Block:
    """The cross entropy of top-m probabilities for each query, with gradient and curvature."""
    from topkit.losses.listwise.top_m import kernels

    block: Block = kernels.top_m_entropy(scores, targets.labels, targets.target, ptr, targets.m, curved)
    return block
