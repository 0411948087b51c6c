"""Calibration: whether scores are the grades, or the probabilities of relevance, that they claim to be."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topkit.compute import Floats
from topkit.data.settings import Setting
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths


def expected_calibration_error(
    block: Block,
    depths: Depths,
    convention: Convention,
    bins: Annotated[int, Setting("Bins of about equally many documents, by score.", low=1)] = 10,
    rel: Annotated[
        float | None,
        Setting("Scores are probabilities of a label of at least this; none takes them as expected labels."),
    ] = None,
) -> Floats:
    """ECE = Σ_b |Σ_{i in b} (y_i − s_i)| / N over bins of documents with similar scores.

    The documents of all queries are sorted by score and cut into bins of N/bins documents; a document is in
    bin ⌊bins·(documents with a smaller score)/N⌋, so equal scores share a bin. y is the label or, with
    ``rel``, 1 for a label of at least ``rel`` and 0 for others. Documents without a label are left out.
    The value of a query is its part of this sum times the number of queries, so that the mean over queries is
    the ECE of all documents; values of single queries may be negative. Naeini, Cooper and Hauskrecht, AAAI
    2015, with bins of equal size instead of equal width.

    Use it if scores are read as grades or probabilities. Not to choose a ranking: the mean label as the score
    of every document has an ECE near 0.
    """
    lists = block.lists
    judged = np.flatnonzero(lists.labels >= 0)
    values = np.zeros(len(block))
    if len(judged):
        labels = lists.labels[judged].astype(np.float64)
        truth = labels if rel is None else (labels >= rel).astype(np.float64)
        scores = np.asarray(lists.scores, np.float64)[judged]
        smaller = np.searchsorted(np.sort(scores), scores)
        bin_of = smaller * bins // len(scores)
        gaps = truth - scores
        side = np.sign(np.bincount(bin_of, gaps, bins))
        query = np.searchsorted(lists.ptr, judged, side="right") - 1
        parts = np.bincount(query, side[bin_of] * gaps, len(lists.ptr) - 1)
        values = parts[block.queries] * (len(lists.ptr) - 1) / len(judged)
    return np.repeat(values[None, :], len(depths), axis=0)
