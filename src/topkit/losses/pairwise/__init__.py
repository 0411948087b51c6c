"""Pairwise losses: a decreasing φ of the margin s_u − s_v, summed over a set of pairs (u better than v).

Pair sets: ``all`` differing labels; ``topk``, every pair whose better member is in the top k; ``focused``,
only pairs from the top k to the other documents; ``given``, the listed
:class:`~topkit.losses.preferences.Preferences`. If ties straddle the border of the top k, they share its
places, and their pairs count by that share.

The margin is s_u − s_v, or with ``margin="label-gap"`` (y_u − y_v)(s_u − s_v): pairs whose labels differ more
need a smaller difference of scores.

With document weights, a pair has the weight of its better document. The pairs are then listed, so memory
grows with their number.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.losses.base import WHOLE, Block, Column, K
from topkit.losses.preferences import Preferences
from topkit.losses.sorted_labels import rank_labels

SHORT = 512
"""Documents up to which visiting every pair in vector registers is faster than sorting the scores."""

PAIR_SETS = ("all", "topk", "focused", "given")

MARGINS = ("unit", "label-gap")
"""The margin of a pair: the difference of its scores, or that times the difference of its labels."""


class PairSet(NamedTuple):
    """The pairs of a block of queries, described by its sorted labels and three numbers per query.

    In descending order of labels, ranks below ``whole`` belong to the top set with weight 1, ranks from
    ``whole`` to ``shared`` (ties at the border) with weight ``share``, the others not at all.
    """

    order: NDArray[np.int32]
    """Rows of each query by descending label, counted from the start of the query."""
    below: NDArray[np.int32]
    """For each rank, the first rank with a lower label."""
    whole: Ints
    shared: Ints
    share: Floats
    focused: bool
    """Whether only pairs from inside the top set to outside it count."""
    gap_labels: Floats
    """The label of each rank if margins are scaled by the difference of labels; otherwise empty."""


class ListedPairs(NamedTuple):
    """Listed pairs; those of query q are ``ptr[q]:ptr[q+1]``, rows counted from the start of the query."""

    better: Ints
    worse: Ints
    weight: Floats
    ptr: Ints


Pairs = PairSet | ListedPairs


def pair_set(
    truth: Floats | Preferences,
    ptr: Ints,
    *,
    pairs: Annotated[
        str,
        Setting("Pairs that count: all, of the top k, from it to the rest, or given.", choices=PAIR_SETS),
    ] = "all",
    k: K = 10,
    margin: Annotated[
        str,
        Setting(
            "Margin of a pair: s_u − s_v (unit), or (y_u − y_v)(s_u − s_v) (label-gap).", choices=MARGINS
        ),
    ] = "unit",
    document_weights: Column = None,
) -> Pairs:
    """The pairs of a block of queries; the labels of each query are sorted once.

    With document weights, a pair has the weight of its better document, and the pairs are listed.
    """
    if isinstance(truth, Preferences):
        if margin != "unit":
            raise InputError("preferences have no labels for margin='label-gap'", "use margin='unit'")
        return ListedPairs(truth.better, truth.worse, truth.weight, truth.ptr)
    order, below, whole, shared, share = rank_labels(truth, ptr, WHOLE if pairs == "all" else k)
    by_rank = np.empty(0)
    if margin == "label-gap":
        by_rank = truth[order + np.repeat(ptr[:-1], np.diff(ptr))]
    by_labels = PairSet(order, below, whole, shared, share, pairs == "focused", by_rank)
    if document_weights is None:
        return by_labels
    if margin != "unit":
        raise InputError("margin='label-gap' takes no document weights", "use margin='unit'")
    return _listed(by_labels, ptr, document_weights)


def _listed(pairs: PairSet, ptr: Ints, document_weights: Floats) -> ListedPairs:
    """The pairs one by one, each with the weight of its better document."""
    better, worse, weights, counts = [], [], [], [0]
    for q, (a, b) in enumerate(pairwise(ptr)):
        places = np.arange(b - a)
        inside = np.where(
            places < pairs.whole[q], 1.0, np.where(places < pairs.shared[q], pairs.share[q], 0.0)
        )
        u, v = np.nonzero((places >= pairs.below[a:b, None]) & (inside[:, None] > 0))
        rows = pairs.order[a:b].astype(np.int64)
        better.append(rows[u])
        worse.append(rows[v])
        outside = 1.0 - inside[v] if pairs.focused else 1.0
        weights.append(document_weights[a:b][rows[u]] * inside[u] * outside)
        counts.append(len(u))
    return ListedPairs(
        np.concatenate([*better, np.empty(0, np.int64)]),
        np.concatenate([*worse, np.empty(0, np.int64)]),
        np.concatenate([*weights, np.empty(0)]),
        np.cumsum(counts),
    )


def hinge(scores: Floats, pairs: Pairs, ptr: Ints, *, curved: bool) -> Block:
    """Hinge: φ(m) = max(0, 1 − m), the loss of RankSVM.

    O(n log n) in the length of the list: pairs are never listed. The curvature is the count of active pairs.
    Herbrich et al., 2000; Joachims, KDD 2002.

    Use it to reproduce RankSVM's original objective; the squared hinge has the same optimum in practice and
    is easier to minimise. Not for boosted trees: its curvature is a count.
    """
    return _sum_over_pairs("hinge", scores, pairs, ptr, curved)


def squared_hinge(scores: Floats, pairs: Pairs, ptr: Ints, *, curved: bool) -> Block:
    """Squared hinge: φ(m) = max(0, 1 − m)², the smooth loss of primal RankSVM; O(n log n).

    Chapelle & Keerthi, Information Retrieval 2010.

    Use it for linear models on grades or preferences with many pairs; `ranksvm` minimises it. Not if labels
    have gross errors, which it weights most.
    """
    return _sum_over_pairs("squared_hinge", scores, pairs, ptr, curved)


def exponential(scores: Floats, pairs: Pairs, ptr: Ints, *, curved: bool) -> Block:
    """Exponential: φ(m) = e^(−m), the loss of RankBoost; linear in the sorted list, because it factorises.

    Scores more than 300 from the middle of their query's range are clipped, so that no value overflows.
    Freund et al., JMLR 2003.

    Use it for long lists, where its cost does not depend on the number of pairs. Not if labels have errors:
    one wrong pair can dominate the gradient.
    """
    return _sum_over_pairs("exponential", scores, pairs, ptr, curved)


def logistic(scores: Floats, pairs: Pairs, ptr: Ints, *, curved: bool) -> Block:
    """Logistic: φ(m) = log(1 + e^(−m)), natural logarithm, the loss of RankNet. Burges et al., ICML 2005.

    Use it as the default for preferences, and with any scorer; its gradient is bounded. Not if only the top
    matters, unless with `pairs="topk"` or `"focused"`.
    """
    return _sum_over_pairs("logistic", scores, pairs, ptr, curved)


def sigmoid(
    scores: Floats,
    pairs: Pairs,
    ptr: Ints,
    *,
    curved: bool,
    steepness: Annotated[float, Setting("a, the steepness of the sigmoid.", above=0.0)] = 1.0,
) -> Block:
    """Sigmoid: φ(m) = 1 − σ(a·m), bounded and therefore robust against outliers; a is the steepness.

    Not convex: the curvature is the positive substitute a²σ(1−σ). Carvalho et al., LR4IR 2008.

    Use it to refine a good start if some labels are wrong: a pair far on the wrong side has no influence.
    Not from a random start, because it is not convex.
    """
    return _sum_over_pairs("sigmoid", scores, pairs, ptr, curved, steepness)


def fidelity(scores: Floats, pairs: Pairs, ptr: Ints, *, curved: bool) -> Block:
    """Fidelity: φ(m) = 1 − √σ(m), the loss of FRank; not convex, with the size of the slope as curvature.

    Tsai et al., SIGIR 2007.

    Use it as another bounded loss for labels with errors. Not as a first choice: it is not convex, and
    `sigmoid` has a steepness to tune.
    """
    return _sum_over_pairs("fidelity", scores, pairs, ptr, curved)


def _sum_over_pairs(
    name: str, scores: Floats, pairs: Pairs, ptr: Ints, curved: bool, steepness: float = 1.0
) -> Block:
    """Choose the fastest kernel for these pairs; a kernel that is not needed is not compiled."""
    from topkit.losses.pairwise.kernels import margins, sweeps, visits

    phi = getattr(margins, name)
    if isinstance(pairs, ListedPairs):
        return visits.listed_kernel(phi)(scores, pairs, ptr, steepness, curved)
    if len(pairs.gap_labels):
        return visits.gap_kernel(phi)(scores, pairs, ptr, steepness, curved)
    if name == "exponential":
        block: Block = sweeps.exponential_pairs(scores, pairs, ptr, curved)
        return block
    if name in ("hinge", "squared_hinge") and (np.diff(ptr) > SHORT).any():
        short = visits.pair_kernel(phi)(scores, pairs, ptr, steepness, SHORT, curved)
        long = sweeps.sweep_hinges(scores, pairs, ptr, name == "squared_hinge", SHORT, curved)
        values, gradient, curvature = (a + b for a, b in zip(short, long, strict=True))
        return values, gradient, curvature
    return visits.pair_kernel(phi)(scores, pairs, ptr, steepness, WHOLE, curved)
