"""What studies of labelling need of their data: a full order, from which simulated assessors answer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import InputError
from topkit.studies.assessors import asked_pairs, relevance
from topkit.studies.sources import FoldSpec, load
from topkit.studies.spec import Source


def check_full_orders(sources: Iterable[Source]) -> None:
    """InputError if the truth of a data set is not a full order."""
    for source in sources:
        if source.truth not in ("teacher", "order"):
            raise InputError(
                f"the data set {source.name!r} has no full order",
                'set its truth = "teacher" or truth = "order" (random within a grade)',
            )


@lru_cache(maxsize=2)
def training_relevance(
    spec: FoldSpec, files: tuple[tuple[str, str], ...], k: int
) -> tuple[Floats, NDArray[np.int64]]:
    """For the training documents of a fold: their relevance, and the pairs that a labelling asks."""
    data = load(spec, dict(files))
    values = relevance(data.labelled.train, data.learn.train)
    return values, asked_pairs(data.labelled.train, values, k)
