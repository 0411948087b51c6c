"""FocusedBoost: AdaRank for the order of the top k, RankBoost from the top k to the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Ints, Trace
from topkit.data import Dataset
from topkit.data.settings import Setting, check_fields
from topkit.losses import loss
from topkit.losses.focused import top_rows
from topkit.metrics.compiled import worst_ties
from topkit.rankers.boosting.loop import Boosting, BoostPiece, Lists
from topkit.rankers.boosting.pools import MOST_THRESHOLDS, WEAK, pool_of
from topkit.rankers.orders import drawn_job
from topkit.rankers.pairs import Beta, Margin, TopSize
from topkit.rankers.pieces import InPieces, Pieces
from topkit.scorers import Job, Model
from topkit.scorers.linear import Matrix


@dataclass(frozen=True)
class FocusedBoost(InPieces):
    """FocusedBoost: each f_t has the largest r = β Σ_q D(q)·E(f, T_q) + (1 − β) Σ D'(u,v)(f(u) − f(v)).

    T_q is the top k of query q with its order, E the metric of the setting ``metric``, and pairs go from T to
    the rest; α = ½ ln((1 + r)/(1 − r)), D(q) ∝ exp(−E(H, T_q)), D'(u,v) ∝ exp(−(H(u) − H(v))). With
    ``margin="label-gap"``, the printed form, H(u) − H(v) and f(u) − f(v) are multiplied by (y_u − y_v)/y_max,
    with the labels k…1 of T and 0 of F; dividing by the largest label y_max scales H and keeps |r| ≤ 1. β = 1
    is AdaRank on the top k (with features as weak rankers), β = 0 is RankBoost on focused pairs. From grades
    it learns a random order that agrees with them, drawn by ``seed`` and cut at k
    (:func:`topkit.rankers.orders.drawn_job`). Niu, Guo, Lan & Cheng, SIGIR 2012, Algorithm 2 (which
    minimises r, although its α needs a correlation).

    Use it to boost thresholds on ordered tops. Not on tops drawn from grades, where it was not
    better than its parents.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"], truth="top-2")
    >>> tk.ranker("focusedboost", k=2).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    summary: ClassVar[str] = "FocusedBoost: AdaRank in the top k, RankBoost from it to the rest"

    k: TopSize = 10
    beta: Beta = 0.5
    margin: Margin = "unit"
    rounds: Annotated[int, Setting("Maximum number of rounds.", low=1)] = 300
    weak: Annotated[
        str,
        Setting(
            "Weak rankers: thresholds on features, or the features themselves.", choices=WEAK, search=WEAK
        ),
    ] = "threshold"
    thresholds: Annotated[int, Setting("Maximum thresholds per feature.", low=1, high=MOST_THRESHOLDS)] = 10

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def keeps_missing(self) -> bool:
        return self.weak == "threshold"

    @property
    def draws_order(self) -> bool:
        return True

    @property
    def measures_training(self) -> bool:
        return self.beta > 0

    def arranged(self, job: Job) -> Job:
        drawn, _ = drawn_job(job, self.k)
        weights = drawn.query_weights
        if (weights > 0).any() and (weights == 0).any():  # thresholds are placed by the lists that count
            drawn = replace(drawn, train=drawn.train.select(weights > 0), weights=weights[weights > 0])
        return replace(drawn, train=worst_ties(drawn.train))

    def piece(self, job: Job) -> BoostPiece:
        """The tops of the lists of a piece, and its pairs from the top to the rest."""
        train = job.train
        k = train.truth.k or self.k
        lists = pairs = None
        if self.beta > 0:
            top, rows, queries = top_of(train, k)
            if len(queries):
                lists = Lists.of(job, top, rows, job.query_weights[queries])
        if self.beta < 1:
            pairs = loss("exponential", pairs="focused", k=k, margin=self.margin).on(
                train.y, train.ptr, job.weights
            )
        return BoostPiece(train.ptr, lists, pairs, largest=float(train.y.max(initial=1.0)))

    def train_on(self, pieces: Pieces, job: Job) -> tuple[Model, list[Trace]]:
        """The sum of weak rankers; the trace of the metric, or of β·E − (1 − β)·loss without validation."""
        pool = pool_of(pieces, self.weak, self.thresholds)
        largest = pieces.reduce(max, largest_label) if self.margin == "label-gap" else 1.0
        return Boosting(pieces, pool, self.beta, 1.0 / largest).run(job, self.rounds)


def largest_label(piece: BoostPiece, X: Matrix) -> float:
    """The largest label of a piece."""
    return piece.largest


def top_of(data: Dataset, k: int) -> tuple[Dataset, Ints, Ints]:
    """The top k of each query of top-k truth as a data set, their rows, and the queries that have any."""
    rows = top_rows(data.y.astype(np.float64), data.ptr, k)
    bounds = np.searchsorted(rows, data.ptr)
    queries = np.flatnonzero(np.diff(bounds))
    top = Dataset(
        np.ascontiguousarray(data.X[rows]),
        data.y[rows],
        np.append(bounds[queries], len(rows)).astype(np.int64),
        tuple(data.qids[int(q)] for q in queries),
        None if data.doc_ids is None else data.doc_ids.take(rows),
        data.feature_names,
        data.truth,
    )
    return top, rows, queries
