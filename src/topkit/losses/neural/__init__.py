"""Losses on the soft permutation of NeuralSort: its cross entropy, and NeuralNDCG."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.approx import Temperature
from topkit.losses.base import WHOLE, Block, Column
from topkit.losses.ndcg import Depth, Relevance
from topkit.losses.sorted_labels import rank_labels


class Places(NamedTuple):
    """For each place of each query, the documents that may be there: those of one tie of labels."""

    order: NDArray[np.int32]
    """Rows of each query by descending label, counted from the start of the query."""
    below: NDArray[np.int32]
    """For each place, the first place with a lower label."""
    weights: Floats
    """For each place, how much it counts: the mean weight of the documents of the tie."""


def neuralsort(
    scores: Floats,
    places: Places,
    ptr: Ints,
    *,
    curved: bool,
    k: Depth = None,
    temperature: Temperature = 1.0,
) -> Block:
    """NeuralSort: the cross entropy of the true order and the soft permutation of the scores.

    −1/k · Σ_{i≤k} log Σ_j P_ij over the documents j that may be at place i, with the distribution
    P_i = softmax_j(((n + 1 − 2i)·s_j − Σ_l |s_j − s_l|)/T) of the document there; k None takes all. Any
    document of the tie of labels that covers a place may be there, so equal labels cost nothing; for a full
    order this is the published loss. Not convex; the curvature is a positive substitute. Time and memory are
    quadratic in the length of the list by definition. Grover et al., ICLR 2019.

    Use it for full orders and top-k truth of short lists, to learn places instead of pairs. Not for lists of
    thousands of documents: it is quadratic.
    """
    from topkit.losses.neural import kernels

    depth = WHOLE if k is None else k
    block: Block = kernels.place_entropy(scores, places, ptr, depth, temperature, curved)
    return block


def neuralndcg(
    scores: Floats,
    relevance: Relevance,
    ptr: Ints,
    *,
    curved: bool,
    k: Depth = None,
    temperature: Temperature = 1.0,
    rescalings: Annotated[
        int, Setting("Sinkhorn steps that make each document count once; 0 is NeuralSort alone.", low=0)
    ] = 10,
) -> Block:
    """NeuralNDCG: 1 − NDCG@k of the gains in the order of NeuralSort's soft permutation.

    1 − Σ_{i≤k} (P·g)_i/log2(1 + i) / DCG*@k, with P as in `neuralsort`, g = 2^y − 1, and P rescaled by
    alternating columns and rows (Sinkhorn), so that a document is not at several places. The paper rescales
    until the change is below 1e-6, at most 50 times; the number of steps is fixed here so that the gradient
    is exact. T → 0 gives 1 − NDCG@k. The loss of a query without a relevant document is 0. The curvature is a
    positive substitute. Time and memory are quadratic in the length of the list by definition. Pobrotyn &
    Białobrzeski, 2021.

    Use it for networks if NDCG@k of short lists counts. Not for lists of thousands of documents, and not
    before the cheaper `approxndcg` was tried.
    """
    from topkit.losses.neural import kernels

    depth = WHOLE if k is None else k
    block: Block = kernels.neural_ndcg(scores, relevance, ptr, depth, temperature, rescalings, curved)
    return block


def label_places(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Places:
    """The documents by descending label, and the ends of the ties."""
    order, below, *_ = rank_labels(labels, ptr, WHOLE)
    weights = np.ones(len(labels))
    if document_weights is not None:
        rows = order + np.repeat(ptr[:-1], np.diff(ptr))
        starts = np.repeat(ptr[:-1], np.diff(ptr))
        ends = below + starts
        sums = np.concatenate([[0.0], np.cumsum(document_weights[rows])])
        first = np.searchsorted(ends, ends, side="left")  # ``ends`` increases from place to place
        weights = (sums[ends] - sums[first]) / (ends - first)
    return Places(order, below, weights)
