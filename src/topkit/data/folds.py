"""Splitting queries: into folds for cross-validation, and into parts by share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topkit.data.dataset import Dataset
from topkit.data.errors import InputError


class Fold(NamedTuple):
    """One round of cross-validation."""

    train: Dataset
    valid: Dataset
    test: Dataset


def query_folds(data: Dataset, count: int = 5, seed: int = 0) -> list[Fold]:
    """Cross-validation as in LETOR: the queries are divided at random (seeded) into ``count`` equal parts.

    Fold i tests on part i, validates on part i−1 and trains on the rest, so each query is tested once and
    validated once.
    """
    if not 3 <= count <= data.n_queries:
        raise InputError(
            f"cannot make {count} folds of {data.n_queries} queries",
            "use at least 3 and at most one fold per query",
        )
    shuffled = np.random.default_rng(seed).permutation(data.n_queries)
    parts = np.array_split(shuffled, count)

    def joined(*numbers: int) -> Dataset:
        return data.select(np.sort(np.concatenate([parts[n % count] for n in numbers])))

    return [
        Fold(joined(*range(i + 1, i + count - 1)), joined(i + count - 1), joined(i)) for i in range(count)
    ]


def split_queries(data: Dataset, shares: Sequence[float], seed: int = 0) -> list[Dataset]:
    """Divide the queries at random (seeded) by shares; each part keeps the order of the data set.

    >>> ds = Dataset.build([[0.0]] * 10, [0] * 10, list(range(10)))
    >>> [part.n_queries for part in split_queries(ds, [0.6, 0.2, 0.2])]
    [6, 2, 2]
    """
    total = float(sum(shares))
    if not shares or min(shares) <= 0:
        raise InputError(f"shares must be positive numbers, got {list(shares)}", "for example 0.6,0.2,0.2")
    cuts = np.round(np.cumsum(shares) / total * data.n_queries).astype(int)
    if (np.diff(cuts, prepend=0) < 1).any():
        raise InputError(f"{data.n_queries} queries are too few for {len(shares)} parts with these shares")
    shuffled = np.random.default_rng(seed).permutation(data.n_queries)
    return [data.select(np.sort(part)) for part in np.split(shuffled, cuts[:-1])]
