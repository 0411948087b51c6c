"""Retrieval models as features: BM25 and three smoothed language models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.features.matches import Matches

K1, B = 1.2, 0.75
"""Parameters of BM25, the usual defaults."""
MU = 2000.0
"""Dirichlet prior of the language model, the usual default for documents."""
LAMBDA = 0.1
"""Weight of the collection in Jelinek–Mercer smoothing, for short queries."""
DELTA = 0.7
"""Discount of absolute discounting."""
LOG_FLOOR = 1e-3
"""BM25 of a document without a match, before the logarithm."""


def bm25_idf(documents: int, df: NDArray[np.generic]) -> Floats:
    """log(1 + (N − n + ½)/(n + ½)): never negative, as in Lucene; 0 for a term that does not occur.

    Robertson's form, without the 1, is negative for a term in more than half of the documents, so that a
    match would lower the score.
    """
    n = df.astype(np.float64)
    return np.asarray(np.log1p((documents - n + 0.5) / (n + 0.5)) * (n > 0))


def bm25(m: Matches, k1: float = K1, b: float = B) -> Floats:
    """BM25 = Σ_w qtf · idf(w) · c(w,d)(k1 + 1) / (c(w,d) + k1(1 − b + b|d|/avgdl)).

    A repeated query word counts as often as it occurs. idf is :func:`bm25_idf`. Robertson et al., TREC-3,
    1994.
    """
    norm = k1 * (1.0 - b + b * m.length / max(m.average_length, 1e-300))
    return m.sum(m.qtf * bm25_idf(m.documents, m.df) * m.tf * (k1 + 1.0) / (m.tf + norm))


def log_bm25(m: Matches) -> Floats:
    """log BM25; a document without a match gets log 0.001."""
    return np.log(np.maximum(bm25(m), LOG_FLOOR))


def _likelihood(m: Matches, probability: Floats) -> Floats:
    """Σ_w qtf · log p(w|d) over the terms that occur in the stream; other terms are ignored."""
    known = m.cf > 0
    return m.sum(np.where(known, m.qtf * np.log(np.where(known, probability, 1.0)), 0.0))


def lm_dirichlet(m: Matches, mu: float = MU) -> Floats:
    """log p(q|d) with p(w|d) = (c(w,d) + μ p(w|C)) / (|d| + μ). Zhai and Lafferty, SIGIR 2001."""
    return _likelihood(m, (m.tf + mu * m.cf / max(m.total, 1)) / (m.length + mu))


def lm_jelinek_mercer(m: Matches, weight: float = LAMBDA) -> Floats:
    """log p(q|d) with p(w|d) = (1 − λ) c(w,d)/|d| + λ p(w|C). Zhai and Lafferty, SIGIR 2001."""
    return _likelihood(m, (1.0 - weight) * m.share + weight * m.cf / max(m.total, 1))


def lm_absolute(m: Matches, delta: float = DELTA) -> Floats:
    """log p(q|d) with p(w|d) = max(c(w,d) − δ, 0)/|d| + δ |d|_distinct/|d| · p(w|C); p(w|C) if d is empty.

    Zhai and Lafferty, SIGIR 2001.
    """
    background = m.cf / max(m.total, 1)
    length = np.maximum(m.length, 1.0)
    smoothed = np.maximum(m.tf - delta, 0.0) / length + delta * m.distinct / length * background
    return _likelihood(m, np.where(m.length > 0, smoothed, background))
