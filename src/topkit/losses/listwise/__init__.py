"""Listwise losses: ListNet, ListMLE, RankCosine, and their top-k forms."""

from __future__ import annotations

import numpy as np

from topkit.losses.base import Bind, Evaluate, Floats, Ints, Loss
from topkit.losses.settings import at_least_one

WHOLE = 1 << 62
"""A k that no list reaches: the whole list counts."""


def listnet() -> Loss:
    """ListNet: the cross entropy of top-one probabilities, −Σ_j softmax(y)_j · log softmax(s)_j.

    A list of one document costs 0. Linear in the list. Cao et al., ICML 2007.
    """
    return Loss("listnet", {}, _bind_listnet(WHOLE, 0.0))


def topk_listnet(k: int = 10, epsilon: float = 0.0) -> Loss:
    """Top-k ListNet: ListNet with ψ = y in the top k and the small constant ε for the rest.

    Ties at the border share its places: ψ is then its mean over all ways to break the tie. k ≥ n gives
    ListNet. Xia et al., NIPS 2009, section 4.3.
    """
    at_least_one("k", k)
    return Loss("topk-listnet", {"k": k, "epsilon": epsilon}, _bind_listnet(k, epsilon))


def rankcosine() -> Loss:
    """RankCosine: ½(1 − cos(y, s)).

    Lists whose labels are all 0 cost nothing. Where all scores are 0 the cosine has no value: the loss is ½
    and the gradient −½·y/‖y‖, the way down. Linear in the list. Qin et al., IPM 2008.
    """
    return Loss("rankcosine", {}, _bind_cosine(WHOLE, 0.0))


def topk_rankcosine(k: int = 10, epsilon: float = 0.0) -> Loss:
    """Top-k RankCosine: RankCosine with ψ = y in the top k and the small constant ε for the rest.

    Ties at the border as in :func:`topk_listnet`; k ≥ n gives RankCosine. Xia et al., NIPS 2009.
    """
    at_least_one("k", k)
    return Loss("topk-rankcosine", {"k": k, "epsilon": epsilon}, _bind_cosine(k, epsilon))


def listmle() -> Loss:
    """ListMLE: −log of the Plackett–Luce likelihood, Σ_{i≤n} [logsumexp_{t≥i} s_(t) − s_(i)].

    Documents with equal labels are chosen from the same set (Breslow's form), and the order within the lowest
    label is unknown and costs nothing, so the loss does not depend on the order of rows. Linear in the list
    after sorting the labels once. Xia et al., ICML 2008.
    """
    return Loss("listmle", {}, _bind_likelihood(WHOLE))


def topk_listmle(k: int = 10) -> Loss:
    """Top-k ListMLE: the first k choices of ListMLE, Σ_{i≤k} [logsumexp_{t≥i} s_(t) − s_(i)].

    Ties at the border share the choices left to k; other ties as in :func:`listmle`, and k ≥ n gives it.
    Xia et al., NIPS 2009, equation 10.
    """
    at_least_one("k", k)
    return Loss("topk-listmle", {"k": k}, _bind_likelihood(k))


def psi_of(labels: Floats, ptr: Ints, k: int, epsilon: float) -> Floats:
    """ψ: the label in the top k and ε outside, mixed for ties at the border; labels may be read-only."""
    if k >= WHOLE:
        return labels
    from topkit.losses import kernels

    membership = np.empty(len(labels))
    kernels.top_memberships(labels, ptr, k, membership)
    mixed: Floats = membership * labels + (1 - membership) * epsilon
    return mixed


def _bind_listnet(k: int, epsilon: float) -> Bind:
    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        from topkit.losses.listwise import kernels

        psi = psi_of(labels, ptr, k, epsilon)
        return lambda s, first, last, *out: kernels.cross_entropy(s, psi, ptr, first, last, *out)

    return bind


def _bind_cosine(k: int, epsilon: float) -> Bind:
    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        from topkit.losses.listwise import kernels

        psi = psi_of(labels, ptr, k, epsilon)
        return lambda s, first, last, *out: kernels.cosine(s, psi, ptr, first, last, *out)

    return bind


def _bind_likelihood(k: int) -> Bind:
    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        from topkit.losses.listwise import kernels

        queries = len(ptr) - 1
        borders, counts = np.empty(queries), np.empty(queries, np.int64)
        kernels.find_borders(labels, ptr, k, borders, counts)
        item_ptr = np.zeros(queries + 1, np.int64)
        np.cumsum(counts, out=item_ptr[1:])
        items, group = np.empty(item_ptr[-1], np.int32), np.empty(item_ptr[-1], np.int32)
        share = np.empty(item_ptr[-1])
        kernels.fill_choices(labels, ptr, k, borders, item_ptr, items, group, share)
        return lambda s, first, last, *out: kernels.likelihood(
            s, item_ptr, items, group, share, ptr, first, last, *out
        )

    return bind
