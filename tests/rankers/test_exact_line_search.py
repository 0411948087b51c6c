"""Coordinate Ascent visits every order along a weight: no other step is better."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.linear.climb import climb_on


@pytest.mark.parametrize("name", ["ndcg@3", "ndcg", "dcg@2"])
@pytest.mark.parametrize("seed", range(4))
def test_no_step_between_or_beyond_the_crossings_is_better(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 8, 5)
    X = np.round(rng.random((lengths.sum(), 3)), 1).astype(np.float32)
    y = rng.integers(0, 3, lengths.sum()).astype(np.float32)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    data = worst_ties(tk.Dataset(X, y, ptr, tuple("abcde")))
    measured = Measured.of(data, name)
    climb = climb_on(measured, data.X.astype(np.float64), np.full(5, 0.2))(rng.normal(size=3))
    for feature in range(3):
        step = climb.best_step(feature)
        if measured.fast is None:
            assert step is None  # DCG has no compiled form: steps are tried instead
            continue
        assert step is not None
        column, scores = climb.columns[feature], climb.scores
        gaps, turns = np.subtract.outer(scores, scores), np.subtract.outer(column, column)
        crossings = np.unique(-gaps[turns != 0] / turns[turns != 0])
        tried = np.concatenate(
            [[crossings[0] - 1], (crossings[1:] + crossings[:-1]) / 2, [crossings[-1] + 1]]
        )
        best = max(measured.mean(scores + t * column) for t in tried)
        assert measured.mean(scores + step * column) == pytest.approx(max(best, climb.value), abs=1e-12)


def test_a_list_with_one_label_moves_no_weight() -> None:
    data = tk.Dataset.build([[0.1], [0.2]], [1, 1], ["q", "q"])
    climb = climb_on(Measured.of(data, "ndcg@10"), data.X.astype(np.float64), np.ones(1))(np.ones(1))
    assert climb.best_step(0) == 0.0
