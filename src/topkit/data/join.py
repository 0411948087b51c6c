"""Joining data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.strings import Strings


def concatenate(parts: Sequence[Dataset]) -> Dataset:
    """One data set with the queries of all parts, which must have the same features and kind of truth."""
    first = parts[0]
    for part in parts[1:]:
        if part.n_features != first.n_features or part.feature_names != first.feature_names:
            raise InputError(
                f"cannot join data sets with {first.n_features} and {part.n_features} features",
                "give data sets with the same features",
            )
        if part.truth != first.truth:
            raise InputError(f"cannot join {first.truth} and {part.truth} truth", "convert one of them first")
    qids = tuple(qid for part in parts for qid in part.qids)
    if len(set(qids)) != len(qids):
        repeated = next(qid for qid, count in Counter(qids).items() if count > 1)
        raise InputError(
            f"query {repeated!r} is in more than one of the data sets", "join sets of different queries"
        )

    def joined(columns: list[Strings | None]) -> Strings | None:
        present = [column for column in columns if column is not None]
        return Strings.concatenate(present) if len(present) == len(parts) else None

    ptr = np.zeros(len(qids) + 1, np.int64)
    np.cumsum(np.concatenate([part.lengths for part in parts]), out=ptr[1:])
    return Dataset(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        ptr,
        qids,
        joined([part.doc_ids for part in parts]),
        first.feature_names,
        first.truth,
        joined([part.notes for part in parts]),
    )
