"""Losses made after NDCG: LambdaRank and SoftNDCG."""

from __future__ import annotations

from topkit.losses.base import Evaluate, Floats, Ints, Loss
from topkit.losses.pointwise import gains_of, ideal_dcg
from topkit.losses.settings import at_least_one, positive

WHOLE = 1 << 62


def lambdarank(k: int | None = None) -> Loss:
    """LambdaRank: logistic pairs weighted by what their swap would change in NDCG@k.

    Σ_{y_u>y_v} |ΔNDCG_uv| · log(1 + e^−(s_u − s_v)), the weights taken at the present ranks, gain 2^y − 1
    and discount 1/log2(1 + rank); k None takes the whole list. Documents with equal scores share the mean
    discount of their ranks, and a swap among them counts from the first to the last of these ranks, so the
    loss does not depend on the order of rows. Queries without a relevant document cost 0.
    Burges et al., NIPS 2006.
    """
    if k is not None:
        at_least_one("k", k)
    depth = WHOLE if k is None else k

    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        from topkit.losses.ndcg import kernels

        gains = gains_of(labels)
        ideal = ideal_dcg(gains, ptr, depth)
        return lambda s, first, last, *out: kernels.lambdarank(
            depth, s, labels, gains, ideal, ptr, first, last, *out
        )

    return Loss("lambdarank", {"k": k}, bind)


def soft_ndcg(k: int | None = None, sigma: float = 1.0) -> Loss:
    """SoftNDCG (SmoothGrad): 1 − NDCG@k with each document spread over ranks by how near its score is.

    1 − Σ_i (2^y_i − 1)·Σ_j c_j h_ij / DCG*, with h_ij ∝ exp(−(s_i − s_j)²/σ) over j and c_j the discount at
    the present rank of j. σ → 0 gives 1 − NDCG@k. Not convex; the curvature is a positive stand-in. O(n) for
    each relevant document. Where all scores of a query are equal there is no order to start from: the
    gradient is then (mean gain − gain)/DCG*, towards the ideal order. Queries without a relevant document
    cost 0. Chapelle & Wu, 2010; Busa-Fekete et al., 2013, equation 19.
    """
    if k is not None:
        at_least_one("k", k)
    positive("sigma", sigma)
    depth = WHOLE if k is None else k

    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        from topkit.losses.ndcg import kernels

        gains = gains_of(labels)
        ideal = ideal_dcg(gains, ptr, depth)
        return lambda s, first, last, *out: kernels.soft_ndcg(
            depth, sigma, s, gains, ideal, ptr, first, last, *out
        )

    return Loss("softndcg", {"k": k, "sigma": sigma}, bind)
