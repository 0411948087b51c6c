"""Data for tests of the labelling loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import topkit as tk


def linear_data(
    queries: int = 20, documents: int = 12, seed: int = 0
) -> tuple[tk.Dataset, NDArray[np.float64]]:
    """Lists whose relevance is a linear function of three features, and the relevance; ids are d0, d1, …"""
    rng = np.random.default_rng(seed)
    X = rng.random((queries * documents, 3))
    qid = np.repeat([f"q{i}" for i in range(queries)], documents)
    ids = [f"d{i}" for i in range(len(X))]
    return tk.Dataset.build(X, np.zeros(len(X)), qid, doc_ids=ids), X @ np.array([3.0, -1.0, 0.5])
