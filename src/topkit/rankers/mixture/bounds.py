"""How much expected DCG a ranking by estimated class probabilities can lose: the bounds of the paper.

Busa-Fekete et al., Machine Learning 2013, section 4. Documents are ranked by v = Σ_ℓ z_ℓ p_ℓ, with z the
gains of the classes; p* are the true and p the estimated probabilities, documents × classes.

Proposition 3 is printed as excess ≤ C₂ Σ_i KL(p*_i‖p_i). Its proof bounds ‖p − p*‖² by KL and then applies
Corollary 2, which has ‖p − p*‖, not its square: a square root is lost. The excess falls linearly and KL
quadratically as p approaches p*, so the printed bound fails near p*. :func:`divergence_bound` gives both
forms, and one that holds everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topkit.compute import Floats
from topkit.metrics.conventions import CONVENTIONS, discounts


class DivergenceBound(NamedTuple):
    """Bounds on the excess by the Kullback–Leibler divergences of the documents."""

    printed: float
    """C₂ Σ KL_i, as printed; false in general."""
    corrected: float
    """C₁ √(Σ m_i KL_i), m_i = (1 + 2ε)/(½ min_ℓ 1/p_iℓ): what the proof gives, if ``near`` is true."""
    anywhere: float
    """C₁ √(Σ KL_i): holds for all probabilities, because ‖p − p*‖₂² ≤ ½‖p − p*‖₁² ≤ KL (Pinsker)."""
    near: bool
    """Whether every p_i is so near to p*_i that (1 − ε)·½ min_ℓ(1/p_iℓ)·‖p_i − p*_i‖² ≤ KL_i."""


def excess_dcg(true: Floats, estimated: Floats, gains: Floats) -> float:
    """EDCG(best order) − EDCG(order by the estimated probabilities), never negative.

    >>> true = np.array([[0.495, 0.505], [0.505, 0.495]])
    >>> round(excess_dcg(true, true[::-1], np.array([0.0, 1.0])), 5)
    0.00369
    """
    value = true @ gains
    by_truth, by_estimate = (_discounts_of(p @ gains) for p in (true, estimated))
    return float((by_truth - by_estimate) @ value)


def probability_bound(true: Floats, estimated: Floats, gains: Floats, q: float = 2.0) -> float:
    """Proposition 1: ‖(c_estimated − c_true)·z‖_p · ‖p − p*‖_q with 1/p + 1/q = 1, q from 1 to infinity."""
    change = _discounts_of(estimated @ gains) - _discounts_of(true @ gains)
    distance = np.linalg.norm((estimated - true).ravel(), q)
    return float(np.linalg.norm(np.outer(change, gains).ravel(), _conjugate(q)) * distance)


def largest_factor(documents: int, gains: Floats, q: float = 2.0) -> float:
    """C₁ of Corollary 2: the largest ‖(c − c′)·z‖_p over all pairs of orders, reached by opposite ones."""
    c = _discounts(documents)
    return float(np.linalg.norm(np.outer(c - c[::-1], gains).ravel(), _conjugate(q)))


def divergence_bound(true: Floats, estimated: Floats, gains: Floats, epsilon: float = 0.5) -> DivergenceBound:
    """Proposition 3 as printed, corrected, and in a form that needs no condition; ε is from 0 to ½.

    All probabilities must be positive. With two documents whose probabilities ½ ± 0.005 are exchanged, the
    excess is 0.0037 and the printed bound 0.0004:

    >>> true = np.array([[0.495, 0.505], [0.505, 0.495]])
    >>> bound = divergence_bound(true, true[::-1], np.array([0.0, 1.0]))
    >>> round(bound.printed, 5), round(bound.corrected, 4), round(bound.anywhere, 4), bound.near
    (0.00042, 0.0148, 0.0104, True)
    """
    if not (true > 0).all() or not (estimated > 0).all():
        raise ValueError("all probabilities must be positive")
    if not 0 < epsilon <= 0.5:
        raise ValueError(f"epsilon must be greater than 0 and at most 0.5, got {epsilon}")
    divergence = _divergence(true, estimated)
    smallest = 0.5 / estimated.max(axis=1)  # ½ min_ℓ 1/p
    factor = largest_factor(len(true), gains)
    ratio = (1 + 2 * epsilon) / smallest
    squares = np.square(estimated - true).sum(axis=1)
    return DivergenceBound(
        printed=float(factor * ratio.max() * divergence.sum()),
        corrected=float(factor * np.sqrt(ratio @ divergence)),
        anywhere=float(factor * np.sqrt(divergence.sum())),
        near=bool(((1 - epsilon) * smallest * squares <= divergence).all()),
    )


def _divergence(true: Floats, estimated: Floats) -> Floats:
    """KL(p*‖p) of each document, exact also where p is so near to p* that p* log(p*/p) loses all digits.

    Rows sum to one, so Σ p* log(p*/p) = Σ p* (x − log(1 + x)) with x = p/p* − 1, and no term is negative.
    """
    change = (estimated - true) / true
    return np.asarray((true * np.maximum(change - np.log1p(change), 0.0)).sum(axis=1))


def _conjugate(q: float) -> float:
    """p with 1/p + 1/q = 1."""
    return np.inf if q == 1.0 else 1.0 if q == np.inf else q / (q - 1)


def _discounts(documents: int) -> Floats:
    return discounts(CONVENTIONS["yahoo"].discount, documents)


def _discounts_of(values: Floats) -> Floats:
    """The discount of each document when they are ordered by these values; ties in input order."""
    placed = np.empty(len(values))
    placed[np.argsort(-values, kind="stable")] = _discounts(len(values))
    return placed
