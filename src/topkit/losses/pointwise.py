"""Pointwise losses: squared error on labels, on gains, and on gains divided by the ideal DCG of the query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.losses.base import Block, Column, K, weighted
from topkit.metrics import ideal_dcg

LARGEST_LABEL = 1000.0
"""Above it the gain 2^y − 1 leaves the range of float64."""


class Targets(NamedTuple):
    """The number that each score should estimate, and the weights of the documents if there are any."""

    values: Floats
    weights: Column


def squared_error(scores: Floats, targets: Targets, ptr: Ints) -> Block:
    """Squared error on labels: Σ_j (s_j − y_j)².

    Use it as the simplest baseline, or if scores should estimate the label itself. Not if queries differ in
    how strictly they were graded.
    """
    error = scores - targets.values
    values = sums_per_query(weighted(error * error, targets.weights), ptr)
    return (
        values,
        weighted(2.0 * error, targets.weights),
        weighted(np.full(len(scores), 2.0), targets.weights),
    )


def squared_gain(scores: Floats, targets: Targets, ptr: Ints) -> Block:
    """Squared error on gains: Σ_j (s_j − (2^y_j − 1))². Cossock & Zhang, 2008.

    Use it if the highest grades matter most and scores should estimate the gain. Not for full orders: gains
    of large labels overflow.
    """
    return squared_error(scores, targets, ptr)


def squared_ndcg(scores: Floats, targets: Targets, ptr: Ints) -> Block:
    """Squared error on gains divided by the ideal DCG@k of the query: Σ_j (s_j − (2^y_j − 1)/DCG*)².

    This scaling makes the square loss consistent with NDCG. The targets of a query without a relevant
    document are 0. Busa-Fekete et al., 2013, equation 21.

    Use it as the pointwise loss that is consistent with NDCG. Not for data with many queries without
    relevant documents, whose targets are all 0.
    """
    return squared_error(scores, targets, ptr)


def label_targets(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Targets:
    """The labels as targets."""
    return Targets(labels, document_weights)


def gain_targets(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Targets:
    """The gains as targets."""
    return Targets(gains(labels), document_weights)


def gains_over_ideal(labels: Floats, ptr: Ints, *, k: K = 10, document_weights: Column = None) -> Targets:
    """Gains divided by the ideal DCG@k of their query; 0 in a query without a relevant document."""
    values = gains(labels)
    ideal = ideal_dcg(values, ptr, k)
    targets: Floats = values / np.repeat(np.where(ideal > 0, ideal, 1.0), np.diff(ptr))
    return Targets(targets, document_weights)


def gains(labels: Floats) -> Floats:
    """2^y − 1."""
    largest = float(labels.max(initial=0.0))
    if largest > LARGEST_LABEL:
        raise InputError(
            f"the gain 2^y − 1 of the label {largest:g} exceeds floating point",
            "reduce the truth to its top k first (Dataset.top_k)",
        )
    values: Floats = np.exp2(labels) - 1
    return values


def sums_per_query(values: Floats, ptr: Ints) -> Floats:
    """The sum of the documents of each query."""
    query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return np.bincount(query, values, len(ptr) - 1).astype(np.float64)
