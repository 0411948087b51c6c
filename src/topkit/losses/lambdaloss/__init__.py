"""LambdaLoss: logistic pairs weighted by bounds of NDCG and of the average relevance position (ARP)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.base import WHOLE, Block, Column, weighted
from topkit.losses.ndcg import Depth, gains_and_ideal

SCHEMES = ("ndcg-loss1", "ndcg-loss2", "ndcg-loss2++", "arp-loss1", "arp-loss2")
"""How pairs are weighted."""


Scheme = Annotated[str, Setting("How the pairs are weighted.", choices=SCHEMES)]


def lambdaloss(
    scores: Floats,
    gains: Floats,
    ptr: Ints,
    *,
    curved: bool,
    k: Depth = None,
    scheme: Scheme = "ndcg-loss2++",
    mu: Annotated[
        float, Setting("μ, the weight of NDCG-Loss2 beside LambdaRank in NDCG-Loss2++.", low=0.0)
    ] = 10.0,
) -> Block:
    """LambdaLoss: Σ w_uv · log(1 + e^−(s_u − s_v)), with weights at the current ranks that bound the measure.

    With G = (2^y − 1)/DCG*, D(r) = log2(1 + r), r the current rank and d = |r_u − r_v|:

    - ``ndcg-loss1``: G_u/D(r_u), over all v ≠ u.
    - ``ndcg-loss2``: δ_uv·|G_u − G_v| with δ = 1/D(d) − 1/D(d + 1), over y_u > y_v.
    - ``ndcg-loss2++``: (ρ_uv + μ·δ_uv)·|G_u − G_v| with LambdaRank's ρ = |1/D(r_u) − 1/D(r_v)|.
    - ``arp-loss1``: y_u, over all v ≠ u. ``arp-loss2``: |y_u − y_v| over y_u > y_v.

    k is the depth of NDCG: D of ranks after k is infinite, and δ is divided by 1 − 1/D(max(r_u, r_v)) if
    that rank is after k (Jagerman et al., SIGIR 2022). ARP ignores k. Documents with equal scores share the
    mean of their ranks, and d is 1 among them. Natural logarithm; the paper has base 2. Quadratic in the
    length of the list: every pair has its own weight. For distinct scores, ``ndcg-loss2`` and ``arp-loss2``
    equal ``rax.pairwise_logistic_loss`` with its lambda weights (rax multiplies those of DCG by n). Wang et
    al., CIKM 2018.

    Use it with trees and networks on grades, as a successor of `lambdarank`. Not for long lists, where
    `lambdarank` with k visits fewer pairs.
    """
    from topkit.losses.lambdaloss import kernels

    depth = WHOLE if k is None else k
    block: Block = kernels.weighted_pairs(scores, gains, ptr, depth, SCHEMES.index(scheme), mu, curved)
    return block


def pair_gains(
    labels: Floats,
    ptr: Ints,
    *,
    k: Depth = None,
    scheme: Scheme = "ndcg-loss2++",
    document_weights: Column = None,
) -> Floats:
    """Gains over the ideal DCG@k, or labels for ARP, times the weights of the documents."""
    if scheme.startswith("arp"):
        return weighted(labels, document_weights)
    values, ideal = gains_and_ideal(labels, ptr, k=k, document_weights=document_weights)
    per_document: Floats = values / np.repeat(np.where(ideal > 0, ideal, 1.0), np.diff(ptr))
    return per_document
