"""What the benchmarks of clicks share: folds of MQ2008, the ranker of the log, and ratios."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import topkit as tk
from bench.svm_boosting import fold
from topkit.clicks.pairs import Pairs
from topkit.rankers import Learner

Floats = NDArray[np.float64]
IMAGES = Path(__file__).parent.parent / "docs" / "images"
METRIC, CONVENTION = "ndcg@10", "ranklib"
L2 = 1e-3


@dataclass(frozen=True)
class Side:
    """One fold: training documents, test queries, and the weak ranker that wrote the log."""

    train: tk.Dataset
    test: tk.Dataset
    logging: Floats
    """Scores of the training documents by the ranker of the log, with deviation 1."""


@lru_cache(maxsize=5)
def side(number: int) -> Side:
    """The ranker of the log is a feature at the 30 % quantile of NDCG@10: poor, but not the worst."""
    train, _, test = fold("MQ2008", number)
    found = sorted(
        (tk.evaluate(train, sign * train.X[:, f], METRIC, CONVENTION).mean[METRIC], f, sign)
        for f in range(train.n_features)
        for sign in (1, -1)
    )
    _, feature, sign = found[int(0.3 * len(found))]
    return Side(train, test, standard(train, sign * train.X[:, feature]))


def standard(data: tk.Dataset, values: NDArray[np.float32] | Floats) -> Floats:
    """Values minus their mean over the query, with deviation 1."""
    centred = values - np.repeat(np.add.reduceat(values, data.ptr[:-1]) / data.lengths, data.lengths)
    scaled: Floats = centred.astype(np.float64) / (centred.std() + 1e-12)
    return scaled


def per_query(ranker: Learner, test: tk.Dataset) -> Floats:
    return tk.evaluate(test, ranker.ordering_scores(test), METRIC, CONVENTION).per_query[METRIC]


def ratio(values: list[Floats], truth: list[Floats]) -> tuple[float, float, float]:
    """Mean over mean of the pooled test queries, with a bootstrap interval of 95 %."""
    ours, best = np.concatenate(values), np.concatenate(truth)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(ours), (2000, len(ours)))
    means = ours[drawn].mean(axis=1) / best[drawn].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(ours.mean() / best.mean()), float(low), float(high)


def true_clicks(data: tk.Dataset, scores: Floats, length: int = 10) -> float:
    """Expected clicks per page of a ranking, over queries of equal traffic."""
    log = shown_queries(data, scores, length)
    p = tk.Users().probabilities(log, tk.Users().rates(data))
    return float(np.add.reduceat(p, log.bounds[:-1]).mean())


def shown_queries(data: tk.Dataset, scores: Floats, length: int) -> tk.ClickLog:
    """One page per query, in the order of the scores."""
    order = np.lexsort((-scores, data.query_index))
    place = np.arange(len(data)) - data.ptr[data.query_index]
    kept = place < length
    ptr = np.concatenate([[0], np.cumsum(np.minimum(data.lengths, length))])
    return tk.ClickLog(
        Pairs.of_dataset(data), order[kept].astype(np.int32), place[kept] + 1, np.zeros(kept.sum(), bool), ptr
    )
