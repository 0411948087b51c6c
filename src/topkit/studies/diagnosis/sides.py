"""One side of a diagnosis: a ranker or scores, and what the features of the data have to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Floats, Report, silent
from topkit.data import Dataset, InputError, read_scores
from topkit.metrics import evaluate, metric, ranked_order
from topkit.metrics.conventions import Convention
from topkit.rankers import Learner, Ranker, load_ranker
from topkit.rankers.importance import centred, shuffled_rows, with_shuffled

System = Ranker | ArrayLike | str | PathLike[str]
"""A fitted ranker, scores, or the path of a model or score file."""

ZIP = b"PK\3\4"
"""How a model file starts; a score file starts with a number."""
SHUFFLES = 5
"""Shuffles per feature: the change of one query is noisy."""
SEED = 0
"""Both systems see the same shuffles."""


@dataclass(frozen=True)
class Side:
    """A system on the data of the diagnosis."""

    name: str
    scores: Floats
    ranks: NDArray[np.int64]
    """The rank of each document in its query, from 1."""
    ranker: Ranker | None
    contributions: Floats | None
    """(documents, features): what each feature adds to the score, in units of the spread of the scores.

    The mean over each query is 0, so the sum over features is the standardised score.
    """

    @classmethod
    def of(cls, data: Dataset, system: System, name: str, rules: Convention) -> Side:
        """The scores and ranks of a system, and the contributions if it has an exact formula."""
        opened = _opened(system, len(data)) if isinstance(system, str | PathLike) else system
        ranker = opened if isinstance(opened, Ranker) else None
        scores = _scores(data, opened, name)
        parts = opened.contributions(data) if isinstance(opened, Learner) else None
        spread = float(np.sqrt((centred(scores, data.ptr) ** 2).mean())) or 1.0
        order = ranked_order(scores, data.ptr, rules.ties, data.doc_ids)
        ranks = np.empty(len(data), np.int64)
        ranks[order] = np.arange(len(data)) - np.repeat(data.ptr[:-1], data.lengths) + 1
        standard = None if parts is None else centred(parts, data.ptr) / spread
        return cls(name, scores, ranks, ranker, standard)


def _opened(path: str | PathLike[str], documents: int) -> Any:
    """The ranker of a model file or the scores of a score file."""
    try:
        with open(path, "rb") as stream:
            is_model = stream.read(4) == ZIP
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot read the file ({reason})", "check the path", file=fspath(path)) from None
    return load_ranker(path) if is_model else read_scores(path, documents)


def _scores(data: Dataset, system: Any, name: str) -> Floats:
    if isinstance(system, Ranker):
        return np.asarray(system.ordering_scores(data), np.float64)
    scores = np.asarray(system, np.float64)
    if scores.shape != (len(data),):
        raise InputError(
            f"{name}: expected {len(data)} scores, one per document, got an array of shape {scores.shape}",
            "give a fitted ranker, or the scores of this data set",
        )
    return scores


def help_by_margin(data: Dataset, contributions: Floats) -> Floats:
    """(queries, features): how far a feature puts better documents above worse ones, in standard scores.

    It is the mean of c_i − c_j over the pairs of a query in which document i has the higher grade; c_i is
    the contribution to document i. The sum over features is the mean margin of the scores. 0 if all grades
    of a query are equal.
    """
    values = np.zeros((data.n_queries, contributions.shape[1]))
    for q, (_, rows) in enumerate(data):
        grades = np.sort(data.y[rows])
        lower = np.searchsorted(grades, data.y[rows], side="left")
        higher = len(grades) - np.searchsorted(grades, data.y[rows], side="right")
        if pairs := int(lower.sum()):
            values[q] = (lower - higher) @ contributions[rows] / pairs
    return values


def help_by_shuffling(
    data: Dataset, ranker: Ranker, which: str, rules: Convention, report: Report = silent
) -> Floats:
    """(queries, features): the loss of the metric when a feature is shuffled within the query."""
    sign = 1.0 if metric(which).measure.greater_is_better else -1.0

    def values(changed: Dataset) -> Floats:
        scores = ranker.ordering_scores(changed)
        return sign * evaluate(data, scores, which, rules).per_query[which]

    rng = np.random.default_rng(SEED)
    intact = values(data)
    losses = np.zeros((data.n_queries, data.n_features))
    for turn in range(SHUFFLES):
        rows = shuffled_rows(data, rng)
        for column in range(data.n_features):
            losses[:, column] += (intact - values(with_shuffled(data, column, rows))) / SHUFFLES
            done = turn * data.n_features + column + 1
            report("shuffling features", done, SHUFFLES * data.n_features, float("nan"))
    return losses
