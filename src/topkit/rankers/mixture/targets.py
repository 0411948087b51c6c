"""Objectives of sigmoid calibration: five functions of the class probabilities, with gradients.

Each takes the probabilities (documents × classes) and a :class:`Truth`, and returns the value, a weighted
mean over documents, and its gradient in the probabilities. Busa-Fekete et al., Machine Learning 2013,
section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topkit.compute import Floats, Ints
from topkit.losses import Objective, loss
from topkit.metrics import ideal_dcg


@dataclass(frozen=True)
class Truth:
    """The class of each document, the gain of each class, the queries, and the weight of each document."""

    classes: Ints
    """The class of each document."""
    gains: Floats
    """The gain of each class."""
    ptr: Ints
    weights: Floats
    """One per document; they sum to 1."""

    @property
    def document_gains(self) -> Floats:
        """The gain of each document."""
        return self.gains[self.classes]

    @cached_property
    def soft_dcg(self) -> tuple[Objective, float]:
        """−n·(soft DCG of the weighted gains) as an objective of the scores, and a constant to subtract.

        The loss ``softndcg`` is 1 − softDCG/DCG*; weighting each query by DCG* leaves DCG* − softDCG. Gains
        are multiplied by the number of documents n, because the weights of single documents are tiny.
        """
        gains = self.weights * len(self.weights) * self.document_gains
        ideal = ideal_dcg(gains, self.ptr)
        objective = loss("softndcg", sigma=SOFTNESS).on(np.log2(gains + 1), self.ptr, ideal)
        return objective, float(ideal.sum())


ENTROPY_POWER = 2.0
"""C of the entropy-weighted target, as published."""
SOFTNESS = 0.01
"""σ of soft NDCG, as published."""
FLOOR = 1e-12
"""Smaller probabilities are raised to this, so that logarithms stay finite."""

Target = Callable[[Floats, Truth], tuple[float, Floats]]


def log_sigmoid(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """−ln p(class of the document)."""
    rows = np.arange(len(p))
    likelihood = np.maximum(p[rows, truth.classes], FLOOR)
    slope = np.zeros_like(p)
    slope[rows, truth.classes] = -truth.weights / likelihood
    return float(-truth.weights @ np.log(likelihood)), slope


def entropy_weighted(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """−ln p(class of the document) · H^C, with H = −Σ p ln p the entropy of its probabilities and C = 2."""
    rows = np.arange(len(p))
    logs = np.log(np.maximum(p, FLOOR))
    entropy = -(p * logs).sum(axis=1)
    cross_entropy = -logs[rows, truth.classes]
    power = entropy**ENTROPY_POWER
    outer = -truth.weights * cross_entropy * ENTROPY_POWER * entropy ** (ENTROPY_POWER - 1)
    slope = outer[:, None] * (logs + 1)
    slope[rows, truth.classes] -= truth.weights * power / np.maximum(p[rows, truth.classes], FLOOR)
    return float(truth.weights @ (cross_entropy * power)), slope


def expected_loss(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """Σ_ℓ p_ℓ·(ℓ − class of the document)²."""
    cost = np.square(np.arange(p.shape[1])[None, :] - truth.classes[:, None]) * truth.weights[:, None]
    return float((cost * p).sum()), cost


def expected_label_loss(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """(Σ_ℓ p_ℓ·ℓ − class of the document)²."""
    labels = np.arange(p.shape[1], dtype=np.float64)
    error = p @ labels - truth.classes
    slope: Floats = 2 * (truth.weights * error)[:, None] * labels
    return float(truth.weights @ np.square(error)), slope


def soft_ndcg(p: Floats, truth: Truth) -> tuple[float, Floats]:
    """−Σ_i z_i Σ_r c_r·h(i, document at rank r), where documents are ranked by v = Σ z_ℓ p_ℓ.

    h(i, j) ∝ exp(−(v_i − v_j)²/σ) sums to 1 over j: document i is spread over the ranks of documents with
    similar scores. z are the gains, c the discounts 1/log2(1 + r). See :func:`topkit.losses.soft_ndcg`.
    """
    objective, constant = truth.soft_dcg
    value, slope = objective(p @ truth.gains)
    n = len(p)
    return (value - constant) / n, slope[:, None] * (truth.gains / n)


TARGETS: dict[str, Target] = {
    "log-sigmoid": log_sigmoid,
    "entropy-weighted": entropy_weighted,
    "expected-loss": expected_loss,
    "expected-label": expected_label_loss,
    "soft-ndcg": soft_ndcg,
}
"""Name → objective of a sigmoid calibration."""
