"""FocusedSVM: SVM-MAP for the order of the top k, RankSVM from the top k to the rest, one shared w."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from topkit.compute import Floats
from topkit.losses import loss
from topkit.rankers.orders import drawn_job
from topkit.rankers.pairs import Beta, Margin, TopSize
from topkit.rankers.svm.path import QueryLoss, QuerySVM
from topkit.rankers.svm.precision import cuts_of_top
from topkit.scorers import Job


@dataclass(frozen=True)
class FocusedSVM(QuerySVM):
    """FocusedSVM: ½‖w‖² + C Σ_q [β ζ_q + (1 − β) Σ_{u∈T, v∈F} ξ_uv].

    ζ_q is the mean, over the cuts r = 1…k−1 of the order of the top k (T), of SVM-MAP's loss with the first r
    relevant and the others of T not; ξ_uv = max(0, 1 − w·(x_u − x_v)) from T to the rest (F). With
    ``margin="label-gap"``, ξ_uv = max(0, 1 − (y_u − y_v)·w·(x_u − x_v)) with the labels k…1 of T and 0 of F:
    the printed form. Each part is divided by its value at w = 0, so that both start at 1 (the paper's
    comparable range). β = 1 is SVM-MAP on the cuts, β = 0 is RankSVM with the plain hinge on focused pairs,
    both with these query weights. A part without pairs (T of one document, F empty) is 0. From grades it
    learns a random order that agrees with them, drawn by ``seed`` and cut at k
    (:func:`topkit.rankers.orders.drawn_job`). Niu, Guo, Lan & Cheng, SIGIR 2012.

    Use it for a linear ranker on ordered tops. Not on tops drawn from grades, where it was not better than
    RankSVM.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"], truth="top-2")
    >>> tk.ranker("focusedsvm", k=2, C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    title: ClassVar[str] = "FocusedSVM"
    summary: ClassVar[str] = "FocusedSVM: SVM-MAP in the top k, RankSVM from it to the rest"

    k: TopSize = 10
    beta: Beta = 0.5
    margin: Margin = "unit"

    @property
    def draws_order(self) -> bool:
        return True

    def arranged(self, job: Job) -> Job:
        return drawn_job(job, self.k)[0]

    def piece(self, job: Job) -> QueryLoss:
        """The lists and pairs of a piece."""
        return focused_risk(job, job.train.truth.k or self.k, self.beta, self.margin)


def focused_risk(job: Job, k: int, beta: float, margin: str = "unit") -> QueryLoss:
    """The loss Σ_q weight·[β·list part + (1 − β)·pair part] on scores, and its value at scores of 0.

    The training data of the job has top-k truth.
    """
    data, weights = job.train, job.query_weights
    zeros = np.zeros(len(data))
    tasks, query = cuts_of_top(data, k)
    start = np.bincount(query, weights=tasks.weights * tasks.per_list(zeros)[0], minlength=data.n_queries)
    scale = np.divide(beta * weights, start, out=np.zeros(data.n_queries), where=start > 0)
    tasks = replace(tasks, weights=tasks.weights * scale[query])
    pair_loss = loss("hinge", pairs="focused", k=k, margin=margin)
    count = pair_loss.on(data.y, data.ptr).per_query(zeros)
    pairs = pair_loss.on(
        data.y,
        data.ptr,
        np.divide((1 - beta) * weights, count, out=np.zeros(data.n_queries), where=count > 0),
    )

    def objective(scores: Floats) -> tuple[float, Floats]:
        list_value, list_slope = tasks(scores)
        pair_value, pair_slope = pairs(scores)
        return list_value + pair_value, list_slope + pair_slope

    return QueryLoss(objective, objective(zeros)[0])
