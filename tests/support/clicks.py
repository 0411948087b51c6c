"""Pages with clicks by simulated users, and a data set of their documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import topkit as tk
from topkit.data import Page


def clicking(pages: int, seed: int) -> Iterator[Page]:
    """Users who look from the top with patience, and like documents whose name ends in 0 or 1."""
    rng = np.random.default_rng(seed)
    for _ in range(pages):
        query = f"q{rng.integers(0, 20)}"
        docs = tuple(f"{query}-{i}" for i in rng.permutation(8))
        clicks = tuple(
            bool(rng.random() < (0.6 if doc[-1] in "01" else 0.1) * 0.9**place)
            for place, doc in enumerate(docs)
        )
        yield Page(query, docs, clicks)


def plain_data(queries: int = 20) -> tk.Dataset:
    names = [f"q{q}-{i}" for q in range(queries) for i in range(8)]
    labels = [float(name[-1] in "01") for name in names]
    qids = [name.partition("-")[0] for name in names]
    return tk.Dataset.build(np.zeros((len(names), 1)), labels, qids, doc_ids=names)
