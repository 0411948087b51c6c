"""Features of term statistics: sums of frequencies over the query terms."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.features.matches import Matches


def tf(m: Matches) -> Floats:
    """Σ c(w,d) over q ∩ d."""
    return m.sum(m.tf)


def log_tf(m: Matches) -> Floats:
    """Σ log(c(w,d) + 1)."""
    return m.sum(np.log1p(m.tf))


def share_tf(m: Matches) -> Floats:
    """Σ c(w,d)/|d|."""
    return m.sum(m.share)


def log_share_tf(m: Matches) -> Floats:
    """Σ log(c(w,d)/|d| + 1)."""
    return m.sum(np.log1p(m.share))


def idf(m: Matches) -> Floats:
    """Σ log(|C|/df(w)) over q ∩ d."""
    return m.sum_occurring(m.inverse)


def log_idf(m: Matches) -> Floats:
    """Σ log(log(|C|/df(w))) over q ∩ d; a term that occurs in every document adds 0."""
    positive = m.inverse > 0
    return m.sum_occurring(np.where(positive, np.log(np.where(positive, m.inverse, 1.0)), 0.0))


def icf(m: Matches) -> Floats:
    """Σ log(|C|/c(w,C) + 1) over q ∩ d."""
    return m.sum_occurring(np.log1p(m.documents / np.maximum(m.cf, 1.0)))


def log_share_tf_idf(m: Matches) -> Floats:
    """Σ log(c(w,d)/|d| · log(|C|/df(w)) + 1)."""
    return m.sum(np.log1p(m.share * m.inverse))


def tf_idf(m: Matches) -> Floats:
    """Σ c(w,d) · log(|C|/df(w))."""
    return m.sum(m.tf * m.inverse)


def log_share_tf_icf(m: Matches) -> Floats:
    """Σ log(c(w,d)/|d| · |C|/c(w,C) + 1)."""
    return m.sum(np.log1p(m.share * m.documents / np.maximum(m.cf, 1.0)))


def query_idf(m: Matches) -> Floats:
    """Σ log(|C|/df(w)) over all of q: the same for every document of a query, as in LETOR's TREC sets."""
    return m.sum(m.inverse)


def length(m: Matches) -> Floats:
    """|d|, the number of terms."""
    return m.row_length
