"""Losses with probabilities of relevance: regression-compatible, rank distillation, and ordinal."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.base import Block, Column, K, weighted
from topkit.losses.pointwise import sums_per_query


class Shares(NamedTuple):
    """The probability that each score should estimate, and the weights of the documents."""

    targets: Floats
    weights: Floats


def regression_compatible(
    scores: Floats,
    shares: Shares,
    ptr: Ints,
    *,
    alpha: Annotated[
        float, Setting("Weight of the listwise part; 1 − alpha is that of the regression.", low=0.0, high=1.0)
    ] = 0.5,
) -> Block:
    """Regression-compatible: logistic regression plus a listwise cross entropy with the same minimum.

    (1 − α)·Σ_i [−t_i·log p_i − (1 − t_i)·log(1 − p_i)] − α·Σ_i t_i/Σt · log(p_i/Σ_j p_j), with p = σ(s) and
    t = min(y/highest, 1). Both parts are smallest at p = t, so ranking does not disturb calibration: σ(s) is
    a probability of relevance, and ``highest``·σ(s) an expected grade. The listwise part of a query without a
    relevant document is 0; its share of the curvature is a positive substitute. Linear in the length of the
    list. α = 0 equals ``rax.pointwise_sigmoid_loss``. Bai et al., CIKM 2023.

    Use it if scores are shown, thresholded or compared between queries. Not if only the order within a query
    counts, and not for grades without setting ``highest``: by default every label from 1 on is relevant.
    """
    targets, weights = shares
    probability, log_probability, _ = _logistic(scores)
    of_query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    masses = targets * weights
    total = sums_per_query(masses, ptr)
    part = np.divide(masses, total[of_query], out=np.zeros(len(scores)), where=total[of_query] > 0)
    listwise = alpha * (total > 0)[of_query]
    log_total = _log_sums(log_probability, ptr, of_query)[of_query]
    share = np.exp(log_probability - log_total)
    value = (
        (1 - alpha) * weights * (np.maximum(scores, 0) - targets * scores + np.log1p(np.exp(-np.abs(scores))))
    )
    value += listwise * part * (log_total - log_probability)
    wrong = 1 - probability
    gradient = (1 - alpha) * weights * (probability - targets) + listwise * wrong * (share - part)
    curvature = (1 - alpha) * weights * probability * wrong
    curvature += listwise * wrong * (part * probability + share * wrong)
    return sums_per_query(value, ptr), gradient, curvature


class Distilled(NamedTuple):
    """The weight with which each document is a positive and a negative example."""

    positive: Floats
    negative: Floats


def rank_distillation(scores: Floats, examples: Distilled, ptr: Ints) -> Block:
    """Rank distillation: logistic regression on the labels, with a teacher's top k as further positives.

    (1 − α)·[−Σ_{y>0} log σ(s) − Σ_{y=0} log(1 − σ(s))] − α·Σ_{r≤k} w_r·log σ(s_(r)), with (r) the document at
    the teacher's rank r and w_r ∝ e^(−r/decay), Σ w = 1. Documents with equal scores of the teacher share
    their weights. Pass the teacher's scores to ``Loss.on`` or ``fit``; without them, the order of the labels
    is the teacher's. The paper also weights ranks by how far the student is behind the teacher, which changes
    in training; that is left out, so the loss is convex. Linear in the length of the list. Tang & Wang, KDD
    2018.

    Use it to make a small, fast ranker learn from a large one, also on queries that nobody has labelled. Not
    without a teacher that is clearly better than the student.
    """
    positive, negative = examples
    probability, log_probability, log_opposite = _logistic(scores)
    value = -positive * log_probability - negative * log_opposite
    gradient = negative * probability - positive * (1 - probability)
    curvature = (positive + negative) * probability * (1 - probability)
    return sums_per_query(value, ptr), gradient, curvature


def ordinal(scores: Floats, grades: Grades, ptr: Ints, *, curved: bool) -> Block:
    """Ordinal (CORAL): one logistic regression per grade, with one score and one threshold for each.

    Σ_g Σ_i [log(1 + e^(s_i − b_g)) − 1(y_i ≥ g)·(s_i − b_g)] over the grades g of the query except its
    lowest. In CORAL the thresholds are biases that a network learns for all queries. Here each query has the
    thresholds b_g that minimise its own loss, so this is a loss on scores alone: a query that is graded more
    strictly has higher thresholds, and only differences of scores count. Equal labels cost nothing. Convex;
    value, gradient and curvature are those of the minimum over b. About ten passes over the list per grade; a
    full order has n grades. Cao et al., Pattern Recognition Letters 2020.

    Use it for grades whose distances are unknown: it uses their order only. Not for full orders of long
    lists, and not if scores should be probabilities: thresholds differ between queries.
    """
    from topkit.losses.probability import kernels

    block: Block = kernels.ordinal(scores, *grades, ptr, curved)
    return block


class Grades(NamedTuple):
    """The documents of each query by descending label, and their weights."""

    order: Ints
    """Rows of each query, counted from the start of the query."""
    above: Ints
    """For each place, how many documents have a higher label."""
    weights: Floats
    """The weight of each document, in the order of rows."""


def relevance_shares(
    labels: Floats,
    ptr: Ints,
    *,
    highest: Annotated[
        float,
        Setting("Label of a document that is certainly relevant; larger labels count as this.", above=0.0),
    ] = 1.0,
    document_weights: Column = None,
) -> Shares:
    """Labels as probabilities of relevance."""
    return Shares(np.clip(labels / highest, 0.0, 1.0), weighted(np.ones(len(labels)), document_weights))


def distilled_examples(
    labels: Floats,
    ptr: Ints,
    *,
    k: K = 10,
    alpha: Annotated[
        float, Setting("Weight of the teacher; 1 − alpha is that of the labels.", low=0.0, high=1.0)
    ] = 0.5,
    decay: Annotated[float, Setting("Ranks over which the teacher's weights fall to 1/e.", above=0.0)] = 10.0,
    document_weights: Column = None,
    teacher: Column = None,
) -> Distilled:
    """The weights of the documents as positive and as negative examples."""
    from topkit.losses.probability import kernels

    place_weights = np.exp(-np.arange(k) / decay)
    taught = kernels.shared_place_weights(labels if teacher is None else teacher, ptr, place_weights)
    relevant = (labels > 0).astype(np.float64)
    return Distilled(
        weighted((1 - alpha) * relevant + alpha * taught, document_weights),
        weighted((1 - alpha) * (1 - relevant), document_weights),
    )


def ranked_grades(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Grades:
    """Documents by descending label."""
    query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    starts = np.repeat(ptr[:-1], np.diff(ptr))
    order = np.lexsort((-labels, query))
    place = np.arange(len(labels))
    new = np.ones(len(labels), bool)
    new[1:] = (labels[order][1:] != labels[order][:-1]) | (query[1:] != query[:-1])
    above = np.maximum.accumulate(np.where(new, place, 0)) - starts
    weights = weighted(np.ones(len(labels)), document_weights)
    return Grades((order - starts).astype(np.int64), above.astype(np.int64), weights)


def _logistic(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """σ(s), log σ(s) and log(1 − σ(s)), exact for scores of any size."""
    power = np.exp(-np.abs(scores))
    log = np.log1p(power)
    probability: Floats = np.where(scores >= 0, 1.0, power) / (1.0 + power)
    return probability, np.minimum(scores, 0.0) - log, np.minimum(-scores, 0.0) - log


def _log_sums(values: Floats, ptr: Ints, of_query: Ints) -> Floats:
    """log Σ e^v of each query; 0 for an empty one."""
    filled = np.diff(ptr) > 0
    top = np.zeros(len(ptr) - 1)
    if filled.any():
        top[filled] = np.maximum.reduceat(values, ptr[:-1][filled])
    total = sums_per_query(np.exp(values - top[of_query]), ptr)
    logs: Floats = top + np.log(np.where(filled, total, 1.0))
    return logs
