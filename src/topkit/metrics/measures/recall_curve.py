"""Interpolated precision at levels of recall, and its eleven-point mean."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data.settings import Setting
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, Rel
from topkit.metrics.measures.relevant_found import least_relevant

_ELEVEN = np.arange(11) / 10


def interpolated_precision(
    block: Block,
    depths: Depths,
    convention: Convention,
    recall: Annotated[float, Setting("Level of recall.")] = 0.0,
    rel: Rel = None,
) -> Floats:
    """The largest precision at any rank with at least ⌊recall·R + ½⌋ relevant documents up to it.

    A level of recall that the list does not reach scores 0; a query without a relevant document has the
    convention's value for empty queries. The level is rounded as in trec_eval 10
    (trec_eval 9 took ⌊recall·R + 0.9⌋).

    Use it to draw precision–recall curves. Not as a single number.
    """
    return _interpolated(block, convention, np.array([recall]), rel)


def eleven_point_average(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """The mean of interpolated precision at recall 0, 0.1, …, 1.

    Use it to compare with old publications. Not for new work; `map` has replaced it.
    """
    mean: Floats = _interpolated(block, convention, _ELEVEN, rel).mean(axis=0, keepdims=True)
    return mean


def _interpolated(block: Block, convention: Convention, levels: Floats, rel: float | None) -> Floats:
    least = least_relevant(convention, rel)
    known = block.relevant_known(least)
    hits = np.cumsum(block.labels >= least, axis=1, dtype=np.float64)
    precision = hits / np.arange(1, block.width + 1)
    best_from = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    values = np.zeros((len(levels), len(block)))
    for row, level in enumerate(levels):
        reached = hits >= np.floor(level * known + 0.5)[:, None]
        some = reached.any(axis=1)
        values[row, some] = best_from[some, reached[some].argmax(axis=1)]
    values[:, known == 0] = convention.empty
    return values
