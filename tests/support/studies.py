"""Runs for studies of fusion."""

from __future__ import annotations

import numpy as np

from topkit.data import Run


def runs_of_one_order(count: int, queries: int, documents: int = 300, seed: int = 0) -> list[Run]:
    """Rankers that see one hidden order, d00 first, with noise; each returns 20 documents per query."""
    rng = np.random.default_rng(seed)
    runs = []
    for number in range(count):
        lists = {}
        for query in range(queries):
            order = np.argsort(np.arange(documents) + rng.normal(scale=8, size=documents))
            lists[f"q{query}"] = [(f"d{doc:02}", -float(rank)) for rank, doc in enumerate(order[:20])]
        runs.append(Run.of(lists, f"ranker-{number}"))
    return runs
