"""A full order on real features: by grade, then by a teacher that never saw the query, with noise.

It replaces data sets with full orders (MQ2007-list, MQ2008-list), whose labels came from the whole result
list of a search engine: reliable at the top and less so towards the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, Fold, InputError
from topkit.data.truth import Truth
from topkit.rankers import ranker

TEACHER = "lambdamart"
"""Boosted trees, a different model family from the rankers that the study of k compares."""
NOISE = 1.0
"""Standard deviation of the noise at the end of a list, relative to that of the teacher's scores."""

Labels = Mapping[str, NDArray[np.float32]]
"""Query → labels of its documents."""


def teacher_labels(rounds: Mapping[int, Fold]) -> Labels:
    """Query → full-order labels of its documents, for all queries in the test part of some fold.

    The teacher of a query is fitted on the training and validation parts of the fold that tests on it, so it
    has not seen the query's grades. Documents are ordered by grade, and within a grade by the teacher's
    score (z-scores within the query) plus NOISE · (rank/n) · N(0, 1).
    """
    labels: dict[str, NDArray[np.float32]] = {}
    for fold in rounds.values():
        scores = ranker(TEACHER).fit(fold.train, fold.valid).score(fold.test)
        for qid, rows in fold.test:
            labels[qid] = noisy_order(fold.test.y[rows], scores[rows], seed=crc32(qid.encode()))
    return labels


def noisy_order(grades: NDArray[np.float32], scores: NDArray[np.float64], seed: int) -> NDArray[np.float32]:
    """n+1−rank in the order by grade, then by score with noise that grows with the rank.

    >>> noisy_order(np.array([0, 2, 1], np.float32), np.array([9.0, 1.0, 5.0]), seed=0)
    array([1., 3., 2.], dtype=float32)
    """
    n = len(grades)
    spread = scores.std()
    z = (scores - scores.mean()) / spread if spread > 0 else np.zeros(n)
    relative_rank = np.empty(n)
    relative_rank[np.lexsort((-z, -grades))] = np.arange(1, n + 1) / n
    noisy = z + NOISE * relative_rank * np.random.default_rng(seed).normal(size=n)
    labels = np.empty(n, np.float32)
    labels[np.lexsort((noisy, grades))] = np.arange(1, n + 1)
    return labels


def with_order(data: Dataset, labels: Labels) -> Dataset:
    """The data set with these full-order labels."""
    missing = [qid for qid in data.qids if qid not in labels]
    if missing:
        raise InputError(
            f"query {missing[0]!r} is in no test part, so it has no teacher", "name all folds of the data set"
        )
    return data.with_labels(np.concatenate([labels[qid] for qid in data.qids]), Truth("order"))
