"""Ballots: the ranked lists of several rankers over the pooled documents of each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_map
from topkit.data import InputError, Run, Strings


@dataclass(frozen=True, eq=False, repr=False)
class Ballots:
    """Every ranker's list for every query, with documents numbered within the query's pool.

    The pool of query q is documents ``doc_ptr[q]:doc_ptr[q+1]``; ranker i's list for it is
    ``items[list_ptr[q*K + i]:list_ptr[q*K + i + 1]]``, numbers within the pool, best first. A list is empty
    if the ranker did not answer. Document d of all pools is row ``rows[d]`` of ``source``.

    >>> a, b = Run.of({"q": [("x", 2.0), ("y", 1.0)]}), Run.of({"q": [("z", 5.0), ("x", 4.0)]})
    >>> ballots = Ballots.of([a, b])
    >>> ballots.docs.tolist(), [part.tolist() for part in ballots.lists(0)]
    (['x', 'y', 'z'], [[0, 1], [2, 0]])
    """

    qids: tuple[str, ...]
    rankers: tuple[str, ...]
    doc_ptr: NDArray[np.int64]
    list_ptr: NDArray[np.int64]
    items: NDArray[np.int32]
    scores: NDArray[np.float64]
    source: Strings
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Ballots:
        """The lists of the runs, by descending score; equal scores keep their order.

        Queries are in the order of their first appearance in the runs. Rankers have the names of their runs,
        with a number added if two runs have the same name.
        """
        from topkit.fusion import kernels

        if not runs:
            raise InputError("expected at least one run to fuse, got none")
        qids = tuple(dict.fromkeys(qid for run in runs for qid in run.qids))
        source = Strings.concatenate([run.docs for run in runs])
        shift = np.cumsum([0] + [len(run.scores) for run in runs])
        order = np.concatenate([_best_first(run) + start for run, start in zip(runs, shift, strict=False)])
        spans = np.zeros((len(qids), len(runs), 2), np.int64)
        number = {qid: q for q, qid in enumerate(qids)}
        for i, run in enumerate(runs):
            where = [number[qid] for qid in run.qids]
            spans[where, i, 0] = run.ptr[:-1] + shift[i]
            spans[where, i, 1] = run.ptr[1:] + shift[i]
        list_ptr = np.zeros(len(qids) * len(runs) + 1, np.int64)
        np.cumsum((spans[..., 1] - spans[..., 0]).ravel(), out=list_ptr[1:])
        items = np.empty(list_ptr[-1], np.int32)
        scores = np.empty(list_ptr[-1])
        all_scores = np.concatenate([run.scores for run in runs])

        def pool(q: int) -> NDArray[np.int64]:
            rows = np.concatenate([order[start:stop] for start, stop in spans[q]])
            entries = slice(list_ptr[q * len(runs)], list_ptr[(q + 1) * len(runs)])
            first_rows = np.empty(len(rows), np.int64)
            count = kernels.pool_query(source.blob, source.offsets, rows, items[entries], first_rows)
            scores[entries] = all_scores[rows]
            return first_rows[:count].copy()

        pools = thread_map(pool, range(len(qids)))
        doc_ptr = np.cumsum([0] + [len(rows) for rows in pools])
        rows = np.concatenate(pools) if pools else np.zeros(0, np.int64)
        return cls(qids, _names(runs), doc_ptr, list_ptr, items, scores, source, rows)

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.qids)

    @property
    def n_rankers(self) -> int:
        """Number of rankers."""
        return len(self.rankers)

    @cached_property
    def docs(self) -> Strings:
        """The pooled documents of all queries, one pool after another."""
        return self.source.take(self.rows)

    @cached_property
    def pool_sizes(self) -> NDArray[np.int64]:
        """Documents in each query's pool."""
        return np.diff(self.doc_ptr)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each list: query × ranker."""
        return np.diff(self.list_ptr).reshape(len(self), self.n_rankers)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """For each entry of ``items``, its rank in its list, from 1."""
        lengths = np.diff(self.list_ptr)
        return np.arange(1, len(self.items) + 1) - np.repeat(self.list_ptr[:-1], lengths)

    @cached_property
    def documents(self) -> NDArray[np.int64]:
        """For each entry of ``items``, the number of its document among all pools."""
        per_query = self.lengths.sum(1)
        return np.asarray(self.items + np.repeat(self.doc_ptr[:-1], per_query), np.int64)

    def lists(self, q: int) -> list[NDArray[np.int32]]:
        """Each ranker's list for query q."""
        first = q * self.n_rankers
        bounds = self.list_ptr[first : first + self.n_rankers + 1]
        return [self.items[a:b] for a, b in pairwise(bounds)]

    def ranks(self, q: int) -> NDArray[np.int32]:
        """Ranker × document matrix of ranks for query q, 0 if a document is not listed."""
        table = np.zeros((self.n_rankers, int(self.pool_sizes[q])), np.int32)
        for row, items in zip(table, self.lists(q), strict=True):
            row[items] = np.arange(1, len(items) + 1)
        return table

    def by_list(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Repeat the value of each (query, ranker) for the entries of its list."""
        return np.repeat(values.ravel().astype(np.float64), np.diff(self.list_ptr))

    def total(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """For each pooled document, the sum of the values of its entries."""
        return np.bincount(self.documents, weights=values, minlength=len(self.rows)).astype(np.float64)

    def cut(self, depth: int) -> Ballots:
        """The first ``depth`` entries of every list, with pools of the remaining documents only."""
        keep = self.places <= depth
        used = np.zeros(len(self.rows), bool)
        used[self.documents[keep]] = True
        sizes = np.add.reduceat(np.append(used, False).astype(np.int64), self.doc_ptr[:-1])
        doc_ptr = np.append(0, np.cumsum(np.where(self.pool_sizes > 0, sizes, 0)))
        new_number = np.cumsum(used) - 1
        per_query = np.minimum(self.lengths, depth).sum(1)
        items = new_number[self.documents[keep]] - np.repeat(doc_ptr[:-1], per_query)
        list_ptr = np.append(0, np.cumsum(np.minimum(self.lengths, depth).ravel()))
        return Ballots(
            self.qids,
            self.rankers,
            doc_ptr,
            list_ptr,
            items.astype(np.int32),
            self.scores[keep],
            self.source,
            self.rows[used],
        )

    def order(self, q: int, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """The pool of query q by descending score, ties by document id; ``scores`` are those of all pools."""
        from topkit.fusion import kernels

        pool = slice(self.doc_ptr[q], self.doc_ptr[q + 1])
        order = np.argsort(-scores[pool], kind="stable")
        kernels.settle_ties(order, scores[pool], self.source.blob, self.source.offsets, self.rows[pool])
        return order

    def to_run(self, scores: NDArray[np.float64], name: str, keep: int | None = None) -> Run:
        """The pooled documents by descending score, ties by document id; the first ``keep`` of each query."""

        def ranked(q: int) -> NDArray[np.int64]:
            return np.asarray(self.order(q, scores)[:keep] + self.doc_ptr[q], np.int64)

        orders = thread_map(ranked, range(len(self)))
        chosen = np.concatenate(orders) if orders else np.zeros(0, np.int64)
        ptr = np.cumsum([0] + [len(order) for order in orders])
        return Run(self.qids, ptr, self.source.take(self.rows[chosen]), scores[chosen], name)


def _best_first(run: Run) -> NDArray[np.int64]:
    """Rows of the run, query by query, by descending score."""
    rows = np.arange(len(run.scores))
    rises = np.diff(run.scores) > 0
    rises[run.ptr[1:-1][(run.ptr[1:-1] > 0) & (run.ptr[1:-1] < len(rows))] - 1] = False
    if not rises.any():
        return rows
    query = np.repeat(np.arange(len(run)), np.diff(run.ptr))
    return np.lexsort((rows, -run.scores, query))


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    names: list[str] = []
    for run in runs:
        name, number = run.name, 1
        while name in names:
            number += 1
            name = f"{run.name}-{number}"
        names.append(name)
    return tuple(names)
