"""A full order on real features: by grade, then by a teacher that never saw the query, with noise.

It replaces data sets with full orders (MQ2007-list, MQ2008-list), whose labels came from the whole result
list of a search engine: reliable at the top and less so towards the end.

Teachers are cross-fitted within each split. The training and validation queries of a split are divided into
parts, and the teacher of a part is fitted on the other parts, so it has not seen the grades of its own
queries, and no teacher of training or validation queries has seen a grade of a test query. The teacher of the
test queries is fitted on the training and validation parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, Fold, query_folds
from topkit.data.truth import Truth
from topkit.rankers import ranker

TEACHER = "lambdamart"
"""Boosted trees, a different model family from the rankers that the study of k compares."""
PARTS = 4
"""Parts of the training and validation queries: three and one of the five of a LETOR split."""
NOISE = 1.0
"""Standard deviation of the noise at the end of a list, relative to that of the teacher's scores."""

Scores = Mapping[str, NDArray[np.float64]]
"""Query → the teacher's scores of its documents."""


def teacher_scores(fold: Fold) -> Scores:
    """Query → scores by its teacher, for all queries of a split; see the top of this file."""
    known = _joined(fold.train, fold.valid)
    teachers = [(part.train, part.valid, part.test) for part in query_folds(known, PARTS, seed=0)]
    scores: dict[str, NDArray[np.float64]] = {}
    for train, valid, taught in [*teachers, (fold.train, fold.valid, fold.test)]:
        of_part = ranker(TEACHER).fit(train, valid).score(taught)
        scores |= {qid: of_part[rows] for qid, rows in taught}
    return scores


def noisy_order(grades: NDArray[np.float32], scores: NDArray[np.float64], seed: int) -> NDArray[np.float32]:
    """n+1−rank in the order by grade, then by score with noise that grows with the rank.

    Scores are standardised within the query; the noise is NOISE · (rank/n) · N(0, 1).

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


def with_order(data: Dataset, scores: Scores, seed: int = 0) -> Dataset:
    """The data set with full-order labels, by grade and teacher; the seed is that of the noise."""
    labels = [noisy_order(data.y[rows], scores[qid], crc32(qid.encode(), seed)) for qid, rows in data]
    return data.with_labels(np.concatenate(labels), Truth("order"))


def _joined(a: Dataset, b: Dataset) -> Dataset:
    """The queries of two parts as one data set."""
    return Dataset(
        np.vstack([a.X, b.X]),
        np.concatenate([a.y, b.y]),
        np.concatenate([a.ptr, a.ptr[-1] + b.ptr[1:]]),
        a.qids + b.qids,
    )
