"""Training pairs without outliers: those that a ranker gets wrong by more than a cutoff."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from topkit.data import Dataset, InputError
from topkit.losses import Preferences


def without_outliers(data: Dataset, scores: ArrayLike, cutoff: float) -> tuple[Preferences, float]:
    """The pairs with different labels whose margin is at least ``cutoff``, and the share that was removed.

    Margins s_u − s_v, u better than v, are in units of their root mean square, as in
    :func:`~topkit.rankers.linear.pair_margins`; a cutoff of −inf keeps all pairs. Train a pairwise ranker on
    them with ``pairs="given"``. Carvalho et al., LR4IR 2008, figure 1.

    >>> data = Dataset.build([[0.0]] * 3, [2, 1, 0], ["q"] * 3)
    >>> pairs, removed = without_outliers(data, [2.0, 0.0, 1.0], -0.5)
    >>> pairs.better.tolist(), pairs.worse.tolist(), round(removed, 2)
    ([0, 0], [1, 2], 0.33)
    """
    values = np.ascontiguousarray(scores, np.float64)
    if values.shape != (len(data),):
        raise InputError(f"expected one score for each of {len(data)} documents, got shape {values.shape}")
    better, worse = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for _, rows in data:
        labels = data.y[rows]
        u, v = np.nonzero(labels[:, None] > labels[None, :])
        better.append(u + rows.start)
        worse.append(v + rows.start)
    up, down = np.concatenate(better), np.concatenate(worse)
    margins = values[up] - values[down]
    unit = float(np.sqrt(np.square(margins).mean())) if len(margins) else 0.0
    kept = margins >= cutoff * (unit or 1.0)
    return Preferences.of_rows(data.ptr, up[kept], down[kept]), float(1 - kept.mean()) if len(kept) else 0.0
