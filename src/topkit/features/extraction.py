"""extract: the stream features of all candidates of all queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, thread_map
from topkit.features.index import Index
from topkit.features.matches import Candidates, Matches, Queries, match
from topkit.features.tables import FEATURES, check_name

BLOCK_PAIRS = 1 << 17
"""Pairs of query term and candidate per block: large enough for NumPy, small enough for the cache."""


def extract(
    index: Index,
    queries: Queries,
    candidates: Candidates,
    names: Sequence[str],
    *,
    extra: Mapping[str, Callable[[Matches], Floats]] | None = None,
) -> NDArray[np.float32]:
    """The stream features of every candidate: (candidates, features), in the order of ``names``.

    Blocks of queries are computed on all threads; the time is proportional to candidates × query terms ×
    features.

    names: ``function.stream``, such as ``bm25.title``. extra: further functions by name, in addition to
    :data:`FEATURES`.
    """
    functions = {**FEATURES, **(extra or {})}
    by_stream: dict[str, list[tuple[int, Callable[[Matches], Floats]]]] = {}
    for column, name in enumerate(names):
        function, _, stream = name.partition(".")
        if function not in functions:
            check_name(index, name)
        by_stream.setdefault(stream, []).append((column, functions[function]))
    X = np.empty((len(candidates.docs), len(names)), np.float32)

    def fill(block: range) -> None:
        rows = slice(int(candidates.ptr[block.start]), int(candidates.ptr[block.stop]))
        for stream, columns in by_stream.items():
            matches = match(index, index.stream(stream), queries, candidates, block)
            for column, function in columns:
                X[rows, column] = function(matches)

    thread_map(fill, blocks(queries, candidates))
    return X


def blocks(queries: Queries, candidates: Candidates) -> Iterator[range]:
    """Ranges of queries with about the same number of pairs of term and candidate."""
    if queries.qids != candidates.qids:
        raise ValueError("queries and candidates must have the same query ids in the same order")
    pairs = np.cumsum(np.diff(queries.ptr) * np.diff(candidates.ptr))
    start = 0
    while start < len(pairs):
        before = pairs[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(pairs, before + BLOCK_PAIRS, "right")))
        yield range(start, stop)
        start = stop
