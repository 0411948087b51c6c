"""Listwise losses: ListNet, ListMLE, RankCosine, and their top-k forms."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.losses.base import WHOLE, Block, Column, K

M = Annotated[int, Setting("Places that the probabilities of ListNet cover.", low=1, high=3)]


class Choices(NamedTuple):
    """The documents that a likelihood chooses, best label first; those of query q are ``ptr[q]:ptr[q+1]``."""

    ptr: Ints
    rows: NDArray[np.int32]
    """Row of each choice, counted from the start of its query."""
    group: NDArray[np.int32]
    """First place of the ties of each choice, counted from the first choice of the query."""
    weight: Floats
    """1, or for ties at the border the share of the places that remain."""


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


NetTargets = Floats | TopTargets | WeightedTargets


def listnet(scores: Floats, targets: NetTargets, ptr: Ints, *, curved: bool) -> Block:
    """ListNet: the cross entropy of top-one probabilities, −Σ_j softmax(y)_j · log softmax(s)_j.

    With m = 2 or 3, that of top-m probabilities: −Σ_g P_y(g)·log P_s(g) over all groups g of m documents in
    order, P(g) = Π_t e^(s_g_t) / Σ_{j not in g_1…g_(t−1)} e^(s_j). The paper derives the loss for whole
    permutations (m = n), which cannot be computed for long lists, and uses m = 1. A list of n ≤ m documents
    has m = n − 1, which is its whole permutation; the loss of a list of one document is 0. Linear in the
    length of the list for m = 1 and 2, quadratic for m = 3. Cao et al., ICML 2007.

    Use it for grades with few levels; it is fast and hard to break. Not for full orders: the softmax of
    large labels sees only the first document.
    """
    block: Block
    if isinstance(targets, TopTargets):
        from topkit.losses.listwise.kernels.top_m import top_m_entropy

        block = top_m_entropy(scores, targets.labels, targets.target, ptr, targets.m, curved)
        return block
    if isinstance(targets, WeightedTargets):
        from topkit.losses.softmax.kernels import cross_entropy

        block = cross_entropy(scores, targets.masses, ptr, 0.0, 0.0, curved)
        return block
    from topkit.losses.listwise import kernels

    block = kernels.cross_entropy(scores, targets, ptr, curved)
    return block


def topk_listnet(scores: Floats, psi: NetTargets, ptr: Ints, *, curved: bool) -> Block:
    """Top-k ListNet: ListNet with ψ = y in the top k and the small constant ε for the other documents.

    Ties at the border share its places: ψ is then its mean over all ways to break the tie. k ≥ n gives
    ListNet. Xia et al., NIPS 2009, section 4.3.

    Use it as ListNet on top-k truth, where documents below the top should count alike. Not for k much larger
    than 10: the softmax sees the first places only.
    """
    return listnet(scores, psi, ptr, curved=curved)


def rankcosine(scores: Floats, labels: Floats, ptr: Ints, *, curved: bool) -> Block:
    """RankCosine: ½(1 − cos(y, s)).

    The loss of a list whose labels are all 0 is 0. If all scores are 0 the cosine is undefined: the loss is ½
    and the gradient −½·y/‖y‖, a descent direction. Linear in the length of the list. Qin et al., IPM 2008.

    Use it if queries should count alike whatever their length and the scale of their labels. Not for lists
    with a single relevant document, where `listmle` is sharper.
    """
    from topkit.losses.listwise import kernels

    block: Block = kernels.cosine(scores, labels, ptr, curved)
    return block


def topk_rankcosine(scores: Floats, psi: Floats, ptr: Ints, *, curved: bool) -> Block:
    """Top-k RankCosine: RankCosine with ψ = y in the top k and the small constant ε for the other documents.

    Ties at the border as in top-k ListNet; k ≥ n gives RankCosine. Xia et al., NIPS 2009.

    Use it as RankCosine on top-k truth. Not on plain grades, where it equals RankCosine with a cut.
    """
    return rankcosine(scores, psi, ptr, curved=curved)


def listmle(scores: Floats, choices: Choices, ptr: Ints, *, curved: bool) -> Block:
    """ListMLE: −log of the Plackett–Luce likelihood, Σ_{i≤n} [logsumexp_{t≥i} s_(t) − s_(i)].

    Documents with equal labels are chosen from the same set (Breslow's form). The order within the lowest
    label is unknown and adds nothing, so the loss does not depend on the order of rows. Linear in the length
    of the list after the labels are sorted once. Xia et al., ICML 2008.

    Use it first for grades and full orders: it has the highest NDCG on MQ2008. Not for long lists of which
    only the top was ordered; `topk-listmle` ignores the rest.
    """
    from topkit.losses.listwise import kernels

    block: Block = kernels.likelihood(scores, choices, ptr, curved)
    return block


def topk_listmle(scores: Floats, choices: Choices, ptr: Ints, *, curved: bool) -> Block:
    """Top-k ListMLE: the first k choices of ListMLE, Σ_{i≤k} [logsumexp_{t≥i} s_(t) − s_(i)].

    Ties at the border share the choices that remain; other ties as in ListMLE, and k ≥ n gives ListMLE.
    Xia et al., NIPS 2009, equation 10.

    Use it first for top-k truth that people made, with the k of the truth. Not for grades with many ties at
    the border, where `listmle` uses more of the labels.
    """
    return listmle(scores, choices, ptr, curved=curved)


Epsilon = Annotated[
    float, Setting("ε, the target of documents outside the top k; at most the smallest label in it.")
]


def top_net_labels(
    labels: Floats, ptr: Ints, *, k: K = 10, epsilon: Epsilon = 0.0, document_weights: Column = None
) -> Floats | WeightedTargets:
    """ψ of top-k ListNet, with document weights as top-one probabilities times these."""
    psi = top_labels(labels, ptr, k=k, epsilon=epsilon)
    return psi if document_weights is None else weighted_targets(psi, ptr, document_weights)


def top_labels(labels: Floats, ptr: Ints, *, k: K = 10, epsilon: Epsilon = 0.0) -> Floats:
    """ψ: the label in the top k and ε outside, mixed for ties at the border.

    InputError if ε exceeds the label of a document above others whose target is ε or mixed with it: ψ would
    not keep the order.
    """
    from topkit.losses.kernels import top_memberships

    inside = top_memberships(labels, ptr, k)
    psi: Floats = inside * labels + (1 - inside) * epsilon
    query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    least_inside = np.where(np.bincount(query, inside == 0, len(ptr) - 1)[query] > 0, 0.0, 1.0)
    above = (inside > least_inside) | (inside == 1)
    followed = np.bincount(query, inside < 1, len(ptr) - 1)[query] > 0
    wrong = above & followed & (labels < epsilon)
    if wrong.any():
        raise InputError(
            f"epsilon must be at most the labels of the top k, got {epsilon:g} for a label of "
            f"{labels[wrong].min():g}",
            "use a smaller epsilon",
        )
    return psi


def top_choices(labels: Floats, ptr: Ints, *, k: K = 10, document_weights: Column = None) -> Choices:
    """The documents that a top-k likelihood chooses, query by query."""
    from topkit.losses.listwise import kernels

    choices: Choices = kernels.top_choices(labels, ptr, k)
    if document_weights is None:
        return choices
    rows = choices.rows + np.repeat(ptr[:-1], np.diff(choices.ptr))
    return choices._replace(weight=choices.weight * document_weights[rows])


def all_choices(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Choices:
    """The documents that the likelihood of the whole order chooses."""
    return top_choices(labels, ptr, k=WHOLE, document_weights=document_weights)


def list_targets(labels: Floats, ptr: Ints, *, m: M = 1, document_weights: Column = None) -> NetTargets:
    """The labels, or for m > 1 also how often each document is expected at the first m places."""
    if document_weights is not None:
        if m > 1:
            raise InputError("ListNet with m above 1 takes no document weights", "use m=1")
        return weighted_targets(labels, ptr, document_weights)
    if m == 1:
        return labels
    from topkit.losses.listwise.kernels.top_m import top_m_entropy

    return TopTargets(labels, top_m_entropy(labels, labels, np.zeros(len(labels)), ptr, m, False)[1], m)


def weighted_targets(psi: Floats, ptr: Ints, document_weights: Floats) -> WeightedTargets:
    """The softmax of ψ within each query times the weights of the documents."""
    masses = np.empty(len(psi))
    for a, b in pairwise(ptr):
        power = np.exp(psi[a:b] - psi[a:b].max(initial=-np.inf))
        masses[a:b] = document_weights[a:b] * power / power.sum()
    return WeightedTargets(masses)
