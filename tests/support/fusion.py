"""Runs to fuse."""

from __future__ import annotations

import numpy as np

from topkit.data import Run


def some_runs(seed: int = 0, rankers: int = 5, queries: int = 4) -> list[Run]:
    """Lists of different lengths and documents; one ranker skips a query."""
    rng = np.random.default_rng(seed)
    runs = []
    for i in range(rankers):
        lists = {}
        for q in range(queries):
            if i == 1 and q == 2:
                continue
            order = np.argsort(np.arange(12) + rng.normal(scale=2 + i, size=12))[: 4 + (i + q) % 5]
            lists[f"q{q}"] = [
                (f"d{doc:02}", 10 - p + 0.25 * rng.random()) for p, doc in enumerate(order.tolist())
            ]
        runs.append(Run.of(lists, f"ranker-{i}"))
    return runs


def noisy_runs(good: int, bad: int, queries: int = 20, n: int = 300, seed: int = 0) -> list[Run]:
    """Rankers that see one hidden order with noise, and those that see nothing; 20 of 300 documents each."""
    rng = np.random.default_rng(seed)
    runs = []
    for i in range(good + bad):
        lists = {}
        for q in range(queries):
            order = np.argsort(np.arange(n) + rng.normal(scale=8, size=n)) if i < good else rng.permutation(n)
            lists[f"q{q}"] = [(f"d{doc:02}", -float(place)) for place, doc in enumerate(order[:20])]
        runs.append(Run.of(lists, f"{'good' if i < good else 'bad'}-{i}"))
    return runs
