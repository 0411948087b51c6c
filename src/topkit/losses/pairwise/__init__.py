"""Pairwise losses: a decreasing φ of the margin s_u − s_v, summed over a set of pairs (u better than v).

Pair sets: ``all`` differing labels; ``topk``, every pair whose better member is in the top k; ``focused``,
pairs from the top k to the rest only; ``given``, the listed :class:`~topkit.losses.preferences.Preferences`.
Where ties straddle the border of the top k, its places are shared among them, so pairs count by the share.
"""

from __future__ import annotations

import numpy as np

from topkit.losses.base import Bind, Evaluate, Floats, Ints, Loss
from topkit.losses.preferences import Preferences
from topkit.losses.settings import at_least_one, one_of, positive

SHORT = 512
"""Documents up to which visiting every pair in vector registers is faster than sorting the scores."""

PAIR_SETS = ("all", "topk", "focused", "given")


def hinge(pairs: str = "all", k: int = 10) -> Loss:
    """Hinge: φ(m) = max(0, 1 − m), the loss of RankSVM.

    O(n log n) in the list: pairs are never listed. The curvature is the count of active pairs.
    Herbrich et al., 2000; Joachims, KDD 2002.
    """
    return _pairwise("hinge", pairs, k)


def squared_hinge(pairs: str = "all", k: int = 10) -> Loss:
    """Squared hinge: φ(m) = max(0, 1 − m)², the smooth loss of primal RankSVM; O(n log n) in the list.

    Chapelle & Keerthi, Information Retrieval 2010.
    """
    return _pairwise("squared-hinge", pairs, k)


def exponential(pairs: str = "all", k: int = 10) -> Loss:
    """Exponential: φ(m) = e^(−m), the loss of RankBoost; linear in the sorted list, because it factorises.

    Scores more than 300 from the middle of their query's range count as 300 away, so nothing overflows.
    Freund et al., JMLR 2003.
    """
    return _pairwise("exponential", pairs, k)


def logistic(pairs: str = "all", k: int = 10) -> Loss:
    """Logistic: φ(m) = log(1 + e^(−m)), natural logarithm, the loss of RankNet. Burges et al., ICML 2005."""
    return _pairwise("logistic", pairs, k)


def sigmoid(pairs: str = "all", k: int = 10, steepness: float = 1.0) -> Loss:
    """Sigmoid: φ(m) = 1 − σ(a·m), bounded and so robust against outliers; a is the steepness.

    Not convex: the curvature is the stand-in a²σ(1−σ). Carvalho et al., LR4IR 2008.
    """
    positive("steepness", steepness)
    return _pairwise("sigmoid", pairs, k, steepness)


def fidelity(pairs: str = "all", k: int = 10) -> Loss:
    """Fidelity: φ(m) = 1 − √σ(m), the loss of FRank; not convex, with the slope's size as curvature.

    Tsai et al., SIGIR 2007.
    """
    return _pairwise("fidelity", pairs, k)


def _pairwise(name: str, pairs: str, k: int, steepness: float = 1.0) -> Loss:
    one_of("pairs", pairs, PAIR_SETS)
    settings: dict[str, object] = {"pairs": pairs}
    if pairs in ("topk", "focused"):
        at_least_one("k", k)
        settings["k"] = k
    if name == "sigmoid":
        settings["steepness"] = steepness
    if pairs == "given":
        return Loss(name, settings, _bind_given(name, steepness), pairs_given=True)
    top = 1 << 62 if pairs == "all" else k
    return Loss(name, settings, _bind_labels(name, top, pairs == "focused", steepness))


def _bind_given(name: str, steepness: float) -> Bind:
    def bind(preferences: Preferences, ptr: Ints) -> Evaluate:
        from topkit.losses.pairwise import kernels

        kind = getattr(kernels, name.replace("-", "_").upper())
        pairs = (preferences.better, preferences.worse, preferences.weight, preferences.ptr)
        return lambda s, first, last, *out: kernels.given_pairs(
            kind, steepness, s, pairs, ptr, first, last, out
        )

    return bind


def _bind_labels(name: str, k: int, focused: bool, steepness: float) -> Bind:
    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        from topkit.losses.pairwise import kernels
        from topkit.losses.pairwise.sorting import kernels as sorting

        n, queries = len(labels), len(ptr) - 1
        order, below = np.empty(n, np.int32), np.empty(n, np.int32)
        whole, shared, share = np.empty(queries, np.int64), np.empty(queries, np.int64), np.empty(queries)
        truth = (order, below, whole, shared, share)
        kernels.rank_labels(labels, ptr, k, *truth)
        if name == "exponential":
            return lambda s, first, last, *out: sorting.exponential_pairs(
                focused, s, truth, ptr, first, last, out
            )
        kernel = getattr(kernels, name.replace("-", "_") + "_pairs")

        def visit(s: Floats, first: int, last: int, *out: Floats) -> None:
            kernel(steepness, focused, s, truth, ptr, first, last, out)

        long = np.flatnonzero(np.diff(ptr) > SHORT)
        if name not in ("hinge", "squared-hinge") or len(long) == 0:
            return visit

        def visit_or_sweep(s: Floats, first: int, last: int, *out: Floats) -> None:
            for q in long[np.searchsorted(long, first) : np.searchsorted(long, last)].tolist():
                visit(s, first, q, *out)
                sorting.sweep_hinges(name == "squared-hinge", focused, s, truth, ptr, q, q + 1, out)
                first = q + 1
            visit(s, first, last, *out)

        return visit_or_sweep

    return bind
