"""What a calibration by sigmoids minimises: five functions of the class probabilities, with gradients.

Each takes the probabilities (documents × classes) and a :class:`Truth`, and gives the value, a mean over
documents, and its gradient in the probabilities. Busa-Fekete et al., Machine Learning 2013, section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.metrics.conventions import discounts
from topkit.scorers import Floats

Ints = NDArray[np.int64]

ENTROPY_POWER = 2.0
"""C of the entropy-weighted target."""
SOFTNESS = 0.01
"""σ of soft NDCG."""
FLOOR = 1e-12
"""Probabilities below are not told apart; logarithms stay finite."""


@dataclass(frozen=True)
class Truth:
    """The classes of documents, what classes gain, the queries, and the weight of each document."""

    own: Ints
    gains: Floats
    ptr: Ints
    weights: Floats
    """One a document; they sum to 1."""


Target = Callable[[Floats, Truth], tuple[float, Floats]]


def log_sigmoid(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """−ln p(own class)."""
    rows = np.arange(len(p))
    mine = np.maximum(p[rows, truth.own], FLOOR)
    slope = np.zeros_like(p)
    slope[rows, truth.own] = -truth.weights / mine
    return float(-truth.weights @ np.log(mine)), slope


def entropy_weighted(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """−ln p(own class) · H^C, H = −Σ p ln p the entropy of the document's probabilities and C = 2."""
    rows = np.arange(len(p))
    logs = np.log(np.maximum(p, FLOOR))
    entropy = -(p * logs).sum(axis=1)
    loss = -logs[rows, truth.own]
    power = entropy**ENTROPY_POWER
    slope = (-truth.weights * loss * ENTROPY_POWER * entropy ** (ENTROPY_POWER - 1))[:, None] * (logs + 1)
    slope[rows, truth.own] -= truth.weights * power / np.maximum(p[rows, truth.own], FLOOR)
    return float(truth.weights @ (loss * power)), slope


def expected_loss(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """Σ_ℓ p_ℓ·(ℓ − own class)²."""
    cost = np.square(np.arange(p.shape[1])[None, :] - truth.own[:, None]) * truth.weights[:, None]
    return float((cost * p).sum()), cost


def expected_label_loss(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """(Σ_ℓ p_ℓ·ℓ − own class)²."""
    labels = np.arange(p.shape[1], dtype=np.float64)
    error = p @ labels - truth.own
    slope: Floats = 2 * (truth.weights * error)[:, None] * labels
    return float(truth.weights @ np.square(error)), slope


def soft_ndcg(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """−Σ_i z_i Σ_r c_r·h(i, document at rank r), ranks by v = Σ z_ℓ p_ℓ.

    h(i, j) ∝ exp(−(v_i − v_j)²/σ), summing to 1 over j: document i stands softly at the ranks of documents
    that score like it. z are the gains, c the discounts 1/log2(1 + r). The order is held fixed in the
    gradient, which is exact wherever no two scores are equal.
    """
    from topkit.rankers.ensemble import kernels

    scores = p @ truth.gains
    longest = int(np.diff(truth.ptr).max(initial=1))
    slope = np.empty(len(p))
    weighted = truth.weights * truth.gains[truth.own]
    rank_discounts = discounts("log2(1+r)", longest)
    value = kernels.soft_ndcg(scores, weighted, truth.ptr, rank_discounts, SOFTNESS, slope)
    return value, slope[:, None] * truth.gains


TARGETS: dict[str, Target] = {
    "log-sigmoid": log_sigmoid,
    "entropy-weighted": entropy_weighted,
    "expected-loss": expected_loss,
    "expected-label": expected_label_loss,
    "soft-ndcg": soft_ndcg,
}
"""Name → target of calibration by sigmoids."""
