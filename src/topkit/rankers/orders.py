"""The order that rankers of orders learn from grades: random, agreeing with the grades, and seeded."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.data.truth import Truth, order_labels
from topkit.scorers import Job

GOLDEN = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: the increment of the generator SplitMix64."""


def drawn_order(data: Dataset, seed: int) -> Dataset:
    """Graded data with a full order that agrees with the grades; a full order is returned unchanged.

    The order within a grade is drawn from the seed, the query id and the document id (or the position in the
    list if there are no document ids). It is therefore the same in any order of rows and queries, and when
    the data is processed in parts.
    """
    if data.truth.kind == "order":
        return data
    return data.with_labels(order_labels(data.y, data.ptr, seed, _keys(data, seed)), Truth("order"))


def drawn_top(data: Dataset, k: int, seed: int) -> tuple[Dataset, int]:
    """The data with top-k truth, and k; truth of fewer places than k keeps its own.

    A full order is cut at k. Grades become a drawn order that is cut at k. Niu, Guo, Lan & Cheng, SIGIR 2012,
    section 4.2.1.
    """
    known = data.truth.k
    if known is not None:
        return (data, known) if known <= k else (data.top_k(k, seed), k)
    return drawn_order(data, seed).top_k(k), k


def has_different_labels(data: Dataset) -> NDArray[np.bool_]:
    """Whether each query has documents of different labels: an order of equal grades would be noise."""
    differ: NDArray[np.bool_] = np.maximum.reduceat(data.y, data.ptr[:-1]) > np.minimum.reduceat(
        data.y, data.ptr[:-1]
    )
    return differ


def drawn_job(job: Job, k: int | None) -> tuple[Job, int | None]:
    """The job with the order to learn, cut at k unless it is None, and k; see :func:`drawn_top`.

    Queries whose documents have equal grades get the weight 0. If all queries are like this, the job is
    returned unchanged.
    """
    data = job.train
    if data.truth.kind != "graded":
        return (job, None) if k is None else _with_top(job, k)
    weights = np.where(has_different_labels(data), job.query_weights, 0.0)
    if not weights.any():
        return job, k
    drawn = replace(job, train=drawn_order(data, job.seed), weights=weights)
    return (drawn, None) if k is None else _with_top(drawn, k)


def _with_top(job: Job, k: int) -> tuple[Job, int]:
    train, kept = drawn_top(job.train, k, job.seed)
    return replace(job, train=train), kept


def _keys(data: Dataset, seed: int) -> NDArray[np.uint64]:
    """A random number per document that depends only on the seed and the ids."""
    names = data.names_of_documents()
    ids = np.empty(len(data), np.uint64)
    for qid, rows in data:
        of_query = crc32(qid.encode()) << 32
        ids[rows] = [of_query | crc32(name.encode()) for name in names[rows].tolist()]
    with np.errstate(over="ignore"):
        return _mixed(_mixed(ids) + np.uint64(seed * GOLDEN % 2**64))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of a number influences every bit of the result."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
