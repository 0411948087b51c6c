"""Losses modelled on NDCG: LambdaRank and SoftNDCG."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.base import WHOLE, Block, Column, weighted
from topkit.losses.pointwise import gains
from topkit.metrics import ideal_dcg

Depth = Annotated[int | None, Setting("Depth of NDCG; none takes the whole list.", low=1)]


class Relevance(NamedTuple):
    """What a loss modelled on NDCG knows about the labels."""

    gains: Floats
    """The gain of each document."""
    ideal: Floats
    """The ideal DCG of each query."""


def gains_and_ideal(
    labels: Floats, ptr: Ints, *, k: Depth = None, document_weights: Column = None
) -> Relevance:
    """The gain 2^y − 1 of each document, times its weight, and the ideal DCG@k of each query."""
    values = weighted(gains(labels), document_weights)
    return Relevance(values, ideal_dcg(values, ptr, k))


def lambdarank(scores: Floats, relevance: Relevance, ptr: Ints, *, curved: bool, k: Depth = None) -> Block:
    """LambdaRank: logistic pairs weighted by how much their swap would change NDCG@k.

    Σ_{y_u>y_v} |ΔNDCG_uv| · log(1 + e^−(s_u − s_v)), the weights taken at the current ranks, gain 2^y − 1
    and discount 1/log2(1 + rank); k None takes the whole list. Documents with equal scores share the mean
    discount of their ranks, and a swap among them counts from the first to the last of these ranks, so the
    loss does not depend on the order of rows. The loss of a query without a relevant document is 0.

    A pair of documents that are both ranked after k has no weight, so the time is O(n·k) in long lists. With
    k None, lists of more than 1,000 documents count only pairs with at least one document in the first 1,000
    ranks (LightGBM's ``lambdarank_truncation_level``): O(n) pairs instead of O(n²). Shorter lists are exact;
    set k ≥ n to make long lists exact too. Burges et al., NIPS 2006.

    Use it with trees for NDCG on grades, the usual baseline of the field. Not for preferences, and not if
    you need a convex objective with one optimum.
    """
    from topkit.losses.ndcg import kernels

    block: Block = kernels.lambdarank(scores, *relevance, ptr, WHOLE if k is None else k, curved)
    return block


def softndcg(
    scores: Floats,
    relevance: Relevance,
    ptr: Ints,
    *,
    curved: bool,
    k: Depth = None,
    sigma: Annotated[float, Setting("Width over which a document is spread over ranks.", above=0.0)] = 1.0,
) -> Block:
    """SoftNDCG (SmoothGrad): 1 − NDCG@k with each document spread over the ranks of similar scores.

    1 − Σ_i (2^y_i − 1)·Σ_j c_j h_ij / DCG*, with h_ij ∝ exp(−(s_i − s_j)²/σ) over j and c_j the discount at
    the current rank of j. σ → 0 gives 1 − NDCG@k. Not convex; the curvature is a positive substitute. O(n)
    for each relevant document. If all scores of a query are equal there is no order to start from: the
    gradient is then (mean gain − gain)/DCG*, towards the ideal order. The loss of a query without a relevant
    document is 0. Chapelle & Wu, 2010; Busa-Fekete et al., 2013, equation 19.

    Use it to fine-tune towards NDCG from a trained start. Not from zero scores or with a small sigma: the
    gradient then vanishes.
    """
    from topkit.losses.ndcg import kernels

    depth = WHOLE if k is None else k
    block: Block = kernels.soft_ndcg(scores, *relevance, ptr, depth, sigma, curved)
    return block
