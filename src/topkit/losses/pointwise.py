"""Pointwise losses: squared error on labels, on gains, and on gains divided by the query's ideal DCG."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.data import InputError
from topkit.losses.base import Evaluate, Floats, Ints, Loss
from topkit.losses.settings import at_least_one

LARGEST_LABEL = 1000.0
"""Above it the gain 2^y − 1 leaves the range of float64."""


def squared_error() -> Loss:
    """Squared error on labels: Σ_j (s_j − y_j)²."""
    return _squared("squared-error", {}, lambda labels, ptr: labels)


def squared_gain() -> Loss:
    """Squared error on gains: Σ_j (s_j − (2^y_j − 1))². Cossock & Zhang, 2008."""
    return _squared("squared-gain", {}, lambda labels, ptr: gains_of(labels))


def squared_ndcg(k: int = 10) -> Loss:
    """Squared error on gains divided by the query's ideal DCG@k: Σ_j (s_j − (2^y_j − 1)/DCG*)².

    This scaling makes the square loss consistent with NDCG. A query without a relevant document keeps its
    targets of 0. Busa-Fekete et al., 2013, equation 21.
    """
    at_least_one("k", k)

    def target(labels: Floats, ptr: Ints) -> Floats:
        gains = gains_of(labels)
        ideal = ideal_dcg(gains, ptr, k)
        scaled: Floats = gains / np.repeat(np.where(ideal > 0, ideal, 1.0), np.diff(ptr))
        return scaled

    return _squared("squared-ndcg", {"k": k}, target)


def gains_of(labels: Floats) -> Floats:
    """2^y − 1."""
    if len(labels) and labels.max() > LARGEST_LABEL:
        raise InputError(
            f"a label of {labels.max():g} has no gain 2^y − 1 in floating point",
            "cut the truth to its top k first (Dataset.top_k)",
        )
    gains: Floats = np.exp2(labels) - 1
    return gains


def ideal_dcg(gains: Floats, ptr: Ints, k: int) -> Floats:
    """The largest DCG@k of each query, discount 1/log2(1 + rank)."""
    lengths = np.diff(ptr)
    query = np.repeat(np.arange(len(lengths)), lengths)
    best = gains[np.lexsort((-gains, query))]
    place = np.arange(len(gains)) - np.repeat(ptr[:-1], lengths)
    worth = np.where(place < k, best / np.log2(place + 2.0), 0.0)
    return np.bincount(query, worth, len(lengths)).astype(np.float64)


def _squared(name: str, settings: dict[str, object], target_of: Callable[[Floats, Ints], Floats]) -> Loss:
    def bind(labels: Floats, ptr: Ints) -> Evaluate:
        target = target_of(labels, ptr)

        def evaluate(
            s: Floats, first: int, last: int, values: Floats, gradient: Floats, curvature: Floats
        ) -> None:
            rows = slice(int(ptr[first]), int(ptr[last]))
            error = s[rows] - target[rows]
            query = np.repeat(np.arange(last - first), np.diff(ptr[first : last + 1]))
            values[first:last] = np.bincount(query, error * error, last - first)
            gradient[rows] = 2 * error
            curvature[rows] = 2.0

        return evaluate

    return Loss(name, settings, bind)
