"""Probabilistic interleaving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topkit.clicks.interleaving.outcome import Interleaved

DECAY = 3.0
"""P(rank r) ∝ r^−3, as in the paper."""


def probabilistic(a: Sequence[str], b: Sequence[str], length: int, rng: np.random.Generator) -> Interleaved:
    """Probabilistic: each place is drawn from one of two distributions over the remaining documents.

    Each ranker's distribution is ∝ rank^−3. A click counts by the probability that A, or B, added the
    document, over all ways in which the page could have come about. Hofmann, Whiteson & de Rijke, CIKM 2011.

    Use it to detect differences of any documents, not only of the top ones. Not if users must see nearly the
    pages of the two rankers: any document may come first.
    """
    docs = list(dict.fromkeys([*a, *b]))
    weights = np.stack([_weights(docs, a), _weights(docs, b)])
    left = np.ones(len(docs), np.bool_)
    shown: list[str] = []
    credit: list[float] = []
    for _ in range(min(length, len(docs))):
        p = weights * left
        sums = p.sum(axis=1, keepdims=True)
        p = np.where(sums > 0, p / np.where(sums > 0, sums, 1.0), left / left.sum())
        chosen = int(rng.choice(len(docs), p=p.mean(axis=0)))
        shown.append(docs[chosen])
        credit.append(float((p[0, chosen] - p[1, chosen]) / (p[0, chosen] + p[1, chosen])))
        left[chosen] = False
    return Interleaved(tuple(shown), tuple(credit))


def _weights(docs: Sequence[str], ranking: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    place = {doc: rank for rank, doc in enumerate(ranking, 1)}
    return np.array([place[doc] ** -DECAY if doc in place else 0.0 for doc in docs])
