"""Aggregation where it serves others: assessors' top-k results, and scores of several rankers."""

from __future__ import annotations

import numpy as np

import topkit as tk
from topkit.data import Dataset, Run
from topkit.fusion import fuse, kendall_distance, runs_of_lists
from topkit.fusion.mallows import sample


def test_lists_become_runs_in_their_order() -> None:
    (run,) = runs_of_lists({"ann": {"q": ["b", "a"], "p": ["x"]}})
    assert run.name == "ann"
    assert run["q"] == [("b", 2.0), ("a", 1.0)]


def test_consensus_of_assessors_finds_the_careless_one() -> None:
    """Four assessors order the top 5 of 12 documents of 15 queries; one of them clicks at random."""
    rng = np.random.default_rng(2)
    said: dict[str, dict[str, list[str]]] = {}
    for i, name in enumerate(("ann", "bob", "carl", "careless")):
        theta = 0.0 if name == "careless" else -0.8
        orders = sample(12, theta, 15, seed=int(rng.integers(1000)) + i)
        said[name] = {f"q{q}": [f"d{doc:02}" for doc in order[:5]] for q, order in enumerate(orders.tolist())}
    fusion = fuse(runs_of_lists(said), "mallows", depth=5)
    assert fusion.theta is not None
    assert fusion.theta["careless"] > -0.1
    assert max(fusion.theta[name] for name in ("ann", "bob", "carl")) < -0.4
    truth = [f"d{doc:02}" for doc in range(5)]
    right = [len(set(truth) & {doc for doc, _ in fusion.run[q][:5]}) for q in fusion.run]
    assert np.mean(right) > 3.9


def test_mixing_rankers_of_unlike_scales(ragged: Dataset) -> None:
    """Scores that cannot be added (one is exponential) can be fused."""
    hidden = ragged.X[:, 0].astype(float)
    rng = np.random.default_rng(0)
    scorers = [hidden, np.exp(5 * hidden), hidden + rng.normal(scale=0.2, size=len(hidden))]
    runs = [Run.from_scores(ragged, scores, f"ranker-{i}") for i, scores in enumerate(scorers)]
    best = Run.from_scores(ragged, hidden)
    for method in ("agreement", "mallows", "borda"):
        fused = tk.aggregate(runs, method)
        for q in fused:
            mine, ideal = [doc for doc, _ in fused[q]], [doc for doc, _ in best[q]]
            # the first two scorers give the same order, which counts as one ranker in "agreement"
            assert kendall_distance(mine, ideal) <= (3 if method == "agreement" else 2)
