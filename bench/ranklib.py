"""RankLib's rules on our data structures, on MQ2008: AdaRank, Coordinate Ascent. ``python -m bench.ranklib``

NDCG@10 of the test parts of five folds, under ``yahoo`` and with 0 for queries without a relevant document.
RankLib itself needs Java and is not run.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import numpy as np

import topkit as tk
from bench.one_machine import mq2008
from topkit.compute import Floats
from topkit.metrics.compiled import Measured, worst_ties

TOLERANCE, ROUNDS, MOST_IN_A_ROW = 0.002, 500, 5
"""RankLib's defaults: the fall of the metric that ends training, rounds, and selections of one feature."""


def adarank_by_ranklib(train: tk.Dataset, valid: tk.Dataset, metric: str) -> Floats:
    """The weights by RankLib's AdaRank: D is multiplied by e^(−α·E) and training ends at the first fall."""
    train, valid = worst_ties(train), worst_ties(valid)
    measured, judge = Measured.of(train, metric), Measured.of(valid, metric)
    X, valid_X = train.X.astype(np.float64), valid.X.astype(np.float64)
    of_weak = np.array([measured.values(column) for column in X.T])
    D = np.full(train.n_queries, 1.0 / train.n_queries)
    w, best, best_value = np.zeros(X.shape[1]), np.zeros(X.shape[1]), -1.0
    removed: set[int] = set()
    reached, last, in_a_row = 0.0, -1, 0
    for _ in range(ROUNDS):
        r = of_weak @ D
        r[list(removed)] = -1.0
        chosen = int(np.argmax(r))
        if r[chosen] < 0:
            break
        tried = w.copy()
        alpha = 0.5 * math.log((1 + r[chosen]) / (1 - r[chosen] + 1e-12))
        tried[chosen] += alpha
        values = measured.values(X @ tried)
        if values.mean() + TOLERANCE <= reached:
            break
        if values.mean() != reached:
            removed, in_a_row = set(), 0
        else:
            in_a_row = in_a_row + 1 if chosen == last else 0
            removed |= {chosen} if in_a_row == MOST_IN_A_ROW else set()
        w, reached, last = tried, float(values.mean()), chosen
        D = D * np.exp(-alpha * values)
        D /= D.sum()
        value = judge.mean(valid_X @ w)
        if value > best_value:
            best, best_value = w.copy(), value
    return best


Scores = Callable[[tk.Dataset, tk.Dataset, tk.Dataset], Floats]


def ours(name: str, **settings: object) -> Scores:
    return lambda train, valid, test: tk.ranker(name, **settings).fit(train, valid).score(test)


def theirs(metric: str) -> Scores:
    return lambda train, valid, test: test.X @ adarank_by_ranklib(train, valid, metric)


ROWS: dict[str, Scores] = {
    "adarank": ours("adarank"),
    "adarank, rules of RankLib, NDCG@10": theirs("ndcg@10"),
    "adarank, rules of RankLib, ERR@10 (its default)": theirs("err@10"),
    "coordinate-ascent, 5 starts": ours("coordinate-ascent"),
    "coordinate-ascent, 1 start": ours("coordinate-ascent", restarts=1),
}


def main() -> None:
    os.environ["TOPKIT_THREADS"] = "1"
    print(f"{'':<50}{'yahoo':>8}{'empty 0':>9}   Fold1, empty 0")
    for name, scores_of in ROWS.items():
        found = []
        for fold in range(1, 6):
            train, valid, test = mq2008(fold)
            scores = np.asarray(scores_of(train, valid, test), np.float64)
            found.append([
                tk.evaluate(test, scores, ["ndcg@10"], convention=convention).mean["ndcg@10"]
                for convention in ("yahoo", "trec")
            ])  # fmt: skip
        yahoo, trec = np.mean(found, axis=0)
        print(f"{name:<50}{yahoo:8.4f}{trec:9.4f}   {found[0][1]:.4f}", flush=True)


if __name__ == "__main__":
    main()
