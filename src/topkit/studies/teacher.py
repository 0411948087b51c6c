"""A full order over real features: grades, then a teacher that never saw the query, and noise in the tail.

It stands in for data sets with full orders (MQ2007-list, MQ2008-list), whose labels came from a search
engine's whole result list: reliable at the top, less and less so towards the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, Fold, InputError
from topkit.data.truth import Truth

TEACHER = "lambdamart"
"""Boosted trees: not of the family of any ranker whose sufficiency of the top k is studied."""
NOISE = 1.0
"""Deviation of the noise at the end of a list, in deviations of the teacher's scores."""

Labels = Mapping[str, NDArray[np.float32]]


def teacher_labels(rounds: Mapping[int, Fold]) -> Labels:
    """Query → full-order labels of its documents, for all queries that some fold tests on.

    The teacher of a query is fitted on the training and validation parts of the fold that tests on it, so it
    has not seen the query's grades. Documents are ordered by grade, and within a grade by the teacher's
    score, z-scored within the query, plus NOISE · (place/n) · N(0, 1).
    """
    from topkit.rankers import ranker

    labels: dict[str, NDArray[np.float32]] = {}
    for fold in rounds.values():
        scores = ranker(TEACHER).fit(fold.train, fold.valid).score(fold.test)
        for qid, rows in fold.test:
            labels[qid] = noisy_order(fold.test.y[rows], scores[rows], seed=crc32(qid.encode()))
    return labels


def noisy_order(grades: NDArray[np.float32], scores: NDArray[np.float64], seed: int) -> NDArray[np.float32]:
    """n+1−rank by grade, then by score with noise that grows with the place.

    >>> noisy_order(np.array([0, 2, 1], np.float32), np.array([9.0, 1.0, 5.0]), seed=0)
    array([1., 3., 2.], dtype=float32)
    """
    n = len(grades)
    spread = scores.std()
    z = (scores - scores.mean()) / spread if spread > 0 else np.zeros(n)
    place = np.empty(n)
    place[np.lexsort((-z, -grades))] = np.arange(1, n + 1) / n
    noisy = z + NOISE * place * np.random.default_rng(seed).normal(size=n)
    labels = np.empty(n, np.float32)
    labels[np.lexsort((noisy, grades))] = np.arange(1, n + 1)
    return labels


def with_order(data: Dataset, labels: Labels) -> Dataset:
    """The data set with these full-order labels."""
    missing = [qid for qid in data.qids if qid not in labels]
    if missing:
        raise InputError(
            f"no fold tests on query {missing[0]!r}, so it has no teacher", "give all folds of the data set"
        )
    return data.with_labels(np.concatenate([labels[qid] for qid in data.qids]), Truth("order"))
