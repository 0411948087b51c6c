"""SVM-MAP: a structural SVM that optimises average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from topkit.data.settings import Setting
from topkit.rankers.svm.path import QueryLoss, QuerySVM
from topkit.rankers.svm.precision import whole_lists
from topkit.scorers import Job


@dataclass(frozen=True)
class SvmMap(QuerySVM):
    """SVM-MAP: ½‖w‖² + C Σ_q max_z [1 − AP(z) + w·Ψ(z) − w·Ψ(truth)] over all rankings z of query q.

    Ψ(z) = Σ z_ij (x_i − x_j)/(|R||N|) over relevant i and irrelevant j, with z_ij = 1 if z puts i above j,
    else −1. Solved by cutting planes with one slack; the most violated ranking is found exactly in O(n log
    n). Labels of at least ``rel`` are relevant; in a full order, the first ``k`` (at most half the list) are.
    Queries without relevant, or without irrelevant, documents have no influence. The trace holds the relative
    duality gap. Yue, Finley, Radlinski & Joachims, SIGIR 2007.

    Use it for binary relevance and MAP. Not for many grades: all grades from ``rel`` count alike.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [1, 0, 0], ["q", "q", "q"])
    >>> tk.ranker("svmmap", C=10.0).fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    title: ClassVar[str] = "SVM-MAP"
    summary: ClassVar[str] = "SVM-MAP: linear, an upper bound of 1 − AP by cutting planes"

    rel: Annotated[float, Setting("Smallest label of a relevant document.")] = 1.0
    k: Annotated[int, Setting("Relevant documents at the top of a full order.", low=1)] = 10

    def piece(self, job: Job) -> QueryLoss:
        """The lists of a piece."""
        tasks = whole_lists(job.train, job.query_weights, self.rel, self.k)
        return QueryLoss(tasks, float(tasks.weights.sum()))
