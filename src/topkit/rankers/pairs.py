"""Pair losses on the labels or the preferences of a job, as RankSVM and RankBoost use them."""

from __future__ import annotations

from topkit.data import InputError
from topkit.losses import Objective, loss
from topkit.scorers import Job

PAIR_SETS = ("all", "topk", "focused", "given")
"""Different labels; better member in the top k; from the top k to the rest; preferences passed to fit."""


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
