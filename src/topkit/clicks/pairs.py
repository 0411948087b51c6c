"""The query–document pairs of a log: names once, numbers everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints, Ints32
from topkit.data import Dataset, InputError, Strings


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """The documents of each query; the pairs of query q are ``ptr[q]:ptr[q+1]``.

    >>> pairs, number = Pairs.of(["q", "p", "q"], ["a", "a", "b"])
    >>> pairs.names(), number.tolist()
    ([('q', 'a'), ('q', 'b'), ('p', 'a')], [0, 2, 1])
    """

    qids: tuple[str, ...]
    ptr: Ints
    docs: Strings

    @classmethod
    def of(cls, queries: Any, docs: Any) -> tuple[Pairs, Ints32]:
        """The pairs of two columns of the same length, and the pair of each row.

        Queries are in the order of their first row, and so are the documents of a query.
        """
        query, query_names = _encoded(queries)
        doc, doc_names = _encoded(docs)
        if len(query) != len(doc):
            raise InputError(f"expected one document per row, got {len(doc)} for {len(query)} rows")
        # Documents are numbered by their first row, so sorting the keys keeps the order of first rows,
        # except for documents that an earlier query has too.
        keys, number = np.unique(query * len(doc_names) + doc, return_inverse=True)
        of_query = keys // max(len(doc_names), 1)
        ptr = np.searchsorted(of_query, np.arange(len(query_names) + 1)).astype(np.int64)
        names = Strings.of(doc_names).take(keys % max(len(doc_names), 1))
        return cls(tuple(query_names), ptr, names), number.astype(np.int32)

    @classmethod
    def of_dataset(cls, data: Dataset) -> Pairs:
        """The documents of a data set; pair i is row i."""
        return cls(data.qids, data.ptr, data.names_of_documents())

    def __len__(self) -> int:
        return len(self.docs)

    @cached_property
    def query(self) -> Ints:
        """The number of the query of each pair."""
        return np.repeat(np.arange(len(self.qids)), np.diff(self.ptr))

    def names(self) -> list[tuple[str, str]]:
        """(query, document) of each pair."""
        return [(self.qids[q], doc) for q, doc in zip(self.query.tolist(), self.docs.tolist(), strict=True)]

    def find(self, other: Pairs) -> Ints:
        """The number here of each pair of ``other``; −1 if it is not here."""
        if other is self:
            return np.arange(len(self))
        place = {name: i for i, name in enumerate(self.names())}
        return np.fromiter((place.get(name, -1) for name in other.names()), np.int64, len(other))


def totals(number: NDArray[Any], weights: NDArray[Any] | None, size: int) -> Floats:
    """The sum of the weights (or the count) of each number from 0 to size − 1."""
    sums: Floats = np.bincount(number, weights, size).astype(np.float64)
    return sums


def _encoded(values: Any) -> tuple[Ints, list[str]]:
    """Numbers by first occurrence, and the names."""
    import pyarrow as pa

    if isinstance(values, Strings):
        values = values.tolist()
    if not isinstance(values, pa.Array):
        column: Sequence[object] | NDArray[Any] = values
        is_number = isinstance(column, np.ndarray) and column.dtype.kind in "iu"
        values = (
            pa.array(column) if is_number else pa.array([str(name) for name in column], pa.large_string())
        )
    encoded = values.dictionary_encode()
    if encoded.indices.null_count:
        raise InputError("a query or document id is missing", "give every row both ids")
    return encoded.indices.to_numpy().astype(np.int64), list(map(str, encoded.dictionary.to_pylist()))
