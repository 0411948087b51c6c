"""Plain twins of the measures: one list at a time, straight from the formula, slow and obvious."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2


def ranked(labels: Sequence[float], scores: Sequence[float]) -> list[float]:
    """Labels by falling score; equal scores keep their order."""
    order = sorted(range(len(labels)), key=lambda i: -scores[i])
    return [labels[i] for i in order]


def dcg(labels: Sequence[float], depth: int) -> float:
    return sum((2**y - 1) / log2(1 + rank) for rank, y in enumerate(labels[:depth], 1))


def ndcg(labels: Sequence[float], depth: int) -> float:
    ideal = dcg(sorted(labels, reverse=True), depth)
    return dcg(labels, depth) / ideal if ideal else 1.0


def err(labels: Sequence[float], depth: int, top: float) -> float:
    value, reach = 0.0, 1.0
    for rank, y in enumerate(labels[:depth], 1):
        stop = (2**y - 1) / 2**top
        value += reach * stop / rank
        reach *= 1 - stop
    return value


def average_precision(labels: Sequence[float], depth: int) -> float:
    relevant = [y >= 1 for y in labels]
    if not any(relevant):
        return 1.0
    found = [
        sum(relevant[:rank]) / rank
        for rank in range(1, len(labels) + 1)
        if relevant[rank - 1] and rank <= depth
    ]
    return sum(found) / sum(relevant)


def precision(labels: Sequence[float], depth: int) -> float:
    return sum(y >= 1 for y in labels[:depth]) / depth


def reciprocal_rank(labels: Sequence[float], depth: int) -> float:
    return next((1 / rank for rank, y in enumerate(labels[:depth], 1) if y >= 1), 0.0)
