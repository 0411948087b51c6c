"""Measures that compare pairs of documents by score, in O(n log n): AUC and two forms of Kendall's τ."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Ints
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention, discounts
from topkit.metrics.inversions import larger_before
from topkit.metrics.measure import Depths, Rel
from topkit.metrics.measures.discounted_gain import gain_exponents, gains_of
from topkit.metrics.measures.relevant_found import least_relevant


def auc(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """AUC = share of (relevant, irrelevant) pairs in the right order; equal scores count one half.

    Unjudged documents are irrelevant; judged documents that were not returned share the last place.
    A query without such a pair has the convention's value for empty queries.

    Use it to see whether scores separate relevant from irrelevant documents at all. Not for the top: every
    pair counts alike.
    """
    query, group, labels = _all_documents(block)
    hit = labels >= least_relevant(convention, rel)
    width = int(group.max(initial=0)) + 1
    cell = query * width + group
    good = np.bincount(cell[hit], minlength=len(block) * width).reshape(len(block), width)
    bad = np.bincount(cell[~hit], minlength=len(block) * width).reshape(len(block), width)
    wrong = (good * (np.cumsum(bad, axis=1) - 0.5 * bad)).sum(axis=1)
    pairs = good.sum(axis=1) * bad.sum(axis=1)
    value = np.full(len(block), convention.empty)
    np.divide(pairs - wrong, pairs, out=value, where=pairs > 0)
    return value[None, :]


def kendall_tau(block: Block, depths: Depths, convention: Convention) -> Floats:
    """Kendall's τ_b of labels and scores: (C − D)/√((P − T_y)(P − T_s)).

    C and D count pairs in the same and in opposite order, P all pairs, T those that tie in labels or in
    scores. Unjudged documents have the label 0; judged documents that were not returned share the last place.
    A query whose labels or scores are all equal has the convention's value for empty queries.

    Use it to compare whole orders. Not for the top: every pair counts alike.
    """
    query, group, labels = _all_documents(block)
    order = np.lexsort((-labels, group, query))
    query, group, labels = query[order], group[order], labels[order]
    level = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    n = np.bincount(query, minlength=len(block))
    # from the best score down, every label that rises makes a pair in opposite order
    opposite = np.bincount(query, larger_before(level.max(initial=0) - level, n), minlength=len(block))
    tied_labels = _tied_pairs(query, level, len(block))
    tied_scores = _tied_pairs(query, group, len(block))
    tied_both = _tied_pairs(query, group * (int(level.max(initial=0)) + 1) + level, len(block))
    pairs = n * (n - 1) / 2
    difference = pairs - tied_labels - tied_scores + tied_both - 2 * opposite
    scale = np.sqrt(pairs - tied_labels) * np.sqrt(pairs - tied_scores)
    value = np.full(len(block), convention.empty)
    np.divide(difference, scale, out=value, where=scale > 0)
    return value[None, :]


def weighted_kendall_tau(block: Block, depths: Depths, convention: Convention) -> Floats:
    """WKT@k = Σ_{j≤k} α(j) Σ_{l>j} [s_(j) < s_(l)] with (j) the j-th document of the truth: a loss.

    α(j) = gain·discount at rank j of the true order, so 1 − NDCG@k ≤ WKT@k/DCG@k of the ideal. Needs a true
    order (full-order or top-k truth); documents after the top k have no order and only count as l. Documents
    that tie share their best place and are not compared. Without a depth, k is that of the truth, or n. In a
    list with labels above 1000 all gains are divided by 2^(largest label), because they would exceed floating
    point; ``nwkt`` does not depend on such a factor. Lan, Guo, Niu and Cheng, CIKM 2013, equation 12.

    Use it in theory and tests: it bounds 1 − NDCG. Not in reports, because its range depends on the labels.
    """
    return _weighted_inversions(block, depths, convention)[0]


def normalised_weighted_kendall_tau(block: Block, depths: Depths, convention: Convention) -> Floats:
    """WKT@k divided by the ideal DCG@k: an upper bound of 1 − NDCG@k, comparable between queries.

    Lan, Guo, Niu and Cheng, CIKM 2013, theorem 1.

    Use it beside NDCG on full orders, as the published k sweeps do. Not on grades, whose ties it ignores.
    """
    inversions, ideal = _weighted_inversions(block, depths, convention)
    return np.divide(inversions, ideal, out=np.zeros_like(inversions), where=ideal > 0)


def _weighted_inversions(block: Block, depths: Depths, convention: Convention) -> tuple[Floats, Floats]:
    """Σ_{j≤k} α(j)·(inversions of the j-th document) and Σ_{j≤k} α(j), each (depths, queries)."""
    query, group, labels = _all_documents(block)
    # Worst label first, so that "after" becomes "before"; equal labels by rising score, so that they count 0.
    order = np.lexsort((-group, labels, query))
    query, group, labels = query[order], group[order], labels[order]
    n = np.bincount(query, minlength=len(block))
    inverted = larger_before(int(group.max(initial=0)) - group, n)
    place = _best_places(query, labels, n)
    weight = gains_of(labels, convention.gain, gain_exponents(block)[query])
    weight *= discounts(convention.discount, int(n.max(initial=0)))[place]

    def sums(terms: Floats) -> Floats:
        kept = (terms if depth is None else np.where(place < depth, terms, 0.0) for depth in depths)
        return np.stack([np.bincount(query, values, len(block)) for values in kept])

    return sums(weight * inverted), sums(weight)


def _best_places(query: Ints, labels: Floats, n: Ints) -> Ints:
    """The place of each document, from 0, in lists that are sorted worst label first; ties share the best."""
    last = np.arange(len(query))
    ends = (query[1:] != query[:-1]) | (labels[1:] != labels[:-1])
    last[:-1][~ends] = len(query)
    best = np.minimum.accumulate(last[::-1])[::-1]
    return np.repeat(np.cumsum(n), n) - best - 1


def _tied_pairs(query: Ints, value: Ints, queries: int) -> Floats:
    cell = query * (int(value.max(initial=0)) + 1) + value
    kinds, count = np.unique(cell, return_counts=True)
    width = int(value.max(initial=0)) + 1
    pairs = count * (count - 1) / 2
    return np.bincount(kinds // width, pairs, minlength=queries).astype(np.float64)


def _all_documents(block: Block) -> tuple[Ints, Ints, Floats]:
    """Query, place and label of every judged or returned document; equal scores share a place."""
    scores = block.ranked(block.lists.scores, 0.0)
    group = np.zeros(block.labels.shape, np.int64)
    np.cumsum(scores[:, 1:] != scores[:, :-1], axis=1, out=group[:, 1:])
    row, missed_row = np.nonzero(block.inside)[0], np.nonzero(block.missed >= 0)[0]
    labels = np.concatenate([block.labels[block.inside], block.missed[block.missed >= 0]])
    places = np.concatenate([group[block.inside], np.full(len(missed_row), block.width)])
    return np.concatenate([row, missed_row]), places, np.maximum(labels, 0, dtype=np.float64)
