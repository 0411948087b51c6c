"""Retrieval models by a plain double loop over lists of terms: the other side of the golden tests."""

from __future__ import annotations

from collections import Counter
from math import log

Corpus = list[list[str]]

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]


def bm25(query: list[str], d: int, corpus: Corpus, k1: float = 1.2, b: float = 0.75) -> float:
    n, average = len(corpus), sum(map(len, corpus)) / len(corpus)
    total = 0.0
    for word in query:
        df = sum(word in document for document in corpus)
        c = corpus[d].count(word)
        if df:
            idf = log(1 + (n - df + 0.5) / (df + 0.5))
            total += idf * c * (k1 + 1) / (c + k1 * (1 - b + b * len(corpus[d]) / average))
    return total


def background(word: str, corpus: Corpus) -> float:
    return sum(document.count(word) for document in corpus) / sum(map(len, corpus))


def likelihood(query: list[str], d: int, corpus: Corpus, how: str) -> float:
    document = corpus[d]
    total = 0.0
    for word in query:
        p, c, n = background(word, corpus), document.count(word), len(document)
        if p == 0:
            continue
        if how == "lm_dir":
            total += log((c + 2000 * p) / (n + 2000))
        elif n == 0:
            total += log(0.1 * p if how == "lm_jm" else p)
        elif how == "lm_jm":
            total += log(0.9 * c / n + 0.1 * p)
        else:
            total += log(max(c - 0.7, 0) / n + 0.7 * len(set(document)) / n * p)
    return total


def table_2(query: list[str], d: int, corpus: Corpus) -> list[float]:
    """Features 1 to 10 of the OHSUMED table."""
    document, n = corpus[d], len(corpus)
    totals = [0.0] * 10
    counts = Counter(document)
    for word in dict.fromkeys(query):
        c = counts[word]
        if c == 0:
            continue
        df = sum(word in other for other in corpus)
        cf = sum(other.count(word) for other in corpus)
        share, idf = c / len(document), log(n / df)
        values = [
            c,
            log(c + 1),
            share,
            log(share + 1),
            idf,
            log(idf) if idf > 0 else 0.0,
            log(n / cf + 1),
            log(share * idf + 1),
            c * idf,
            log(share * n / cf + 1),
        ]
        totals = [a + b for a, b in zip(totals, values, strict=True)]
    return totals
