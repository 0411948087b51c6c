"""Settings and pair losses that the SVM and boosting rankers share."""

from __future__ import annotations

from typing import Annotated

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.losses import Objective, loss
from topkit.losses.pairwise import MARGINS
from topkit.scorers import Job

PAIR_SETS = ("all", "topk", "focused", "given")
"""Different labels; better member in the top k; from the top k to the rest; preferences passed to fit."""

PairSet = Annotated[str, Setting("Pairs of documents to learn from.", choices=PAIR_SETS)]
PairTop = Annotated[int, Setting("Size of the top, for the pairs topk and focused.", low=1)]
TopSize = Annotated[int, Setting("Number of documents at the top whose order counts.", low=1)]
Beta = Annotated[
    float,
    Setting(
        "Weight of the order of the top k against the pairs from it to the rest.",
        low=0,
        high=1,
        search=tuple(round(0.1 * i, 1) for i in range(1, 10)),
    ),
]

Margin = Annotated[
    str,
    Setting(
        "Margin of a pair: the difference of its scores (unit), or that times the difference of its labels, "
        "as printed in the paper (label-gap).",
        choices=MARGINS,
    ),
]


def pair_objective(job: Job, name: str, pairs: str, k: int) -> Objective:
    """The pair loss of this name on a set of training pairs, with the query weights of the job."""
    if (job.preferences is not None) != (pairs == "given"):
        raise InputError(
            "preferences and pairs='given' must be used together",
            "pass preferences to fit and set pairs='given', or do neither",
        )
    settings = {"k": k} if pairs in ("topk", "focused") else {}
    truth = job.train.y if job.preferences is None else job.preferences
    return loss(name, pairs=pairs, **settings).on(truth, job.train.ptr, job.weights)
