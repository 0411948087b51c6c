"""Grouping: rows in any order brought together by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Groups:
    """The queries of rows in any order: query q is rows ``order[ptr[q]:ptr[q+1]]``.

    Queries are in the order of their first row, and rows keep their order within a query.

    >>> groups = Groups.of(["b", "a", "b"])
    >>> groups.qids, groups.ptr.tolist(), groups.order.tolist()
    (('b', 'a'), [0, 2, 3], [0, 2, 1])
    """

    qids: tuple[str, ...]
    ptr: NDArray[np.int64]
    order: NDArray[np.int64] | None
    """None if the rows of each query are contiguous already."""

    @classmethod
    def of(cls, ids: Any) -> Groups:
        """The groups of an Arrow array, a NumPy array or a sequence of ids; ``str(id)`` is kept."""
        encoded = _arrow(ids).dictionary_encode()
        if encoded.indices.null_count:
            raise InputError("a query id is missing", "give every row a query id")
        number = encoded.indices.to_numpy()
        qids = tuple(map(str, encoded.dictionary.to_pylist()))
        ptr = np.zeros(len(qids) + 1, np.int64)
        np.cumsum(np.bincount(number, minlength=len(qids)), out=ptr[1:])
        # numbers count up by first occurrence, so they only decrease where a query occurs again
        contiguous = not (number[1:] < number[:-1]).any()
        return cls(qids, ptr, None if contiguous else _stable_order(number))

    @property
    def places(self) -> NDArray[np.int64] | None:
        """The place of each row in the order of the groups: the inverse of ``order``."""
        if self.order is None:
            return None
        places = np.empty(len(self.order), np.int64)
        places[self.order] = np.arange(len(self.order))
        return places

    def sorted(self, rows: NDArray[Scalar]) -> NDArray[Scalar]:
        """The rows of an array in the order of the groups; the array itself if that is its order."""
        return rows if self.order is None else rows[self.order]


def _stable_order(numbers: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """What ``argsort(kind="stable")`` returns; NumPy sorts 16 bits by counting, 32 bits by comparing."""
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    high = numbers >> 16
    return order if not high.any() else order[np.argsort(high[order].astype(np.uint16), kind="stable")]


def _arrow(ids: Any) -> Any:
    import pyarrow as pa

    if isinstance(ids, pa.Array):
        return ids
    column: Sequence[object] | NDArray[Any] = ids
    if not hasattr(ids, "__array__"):
        column = list(ids)
    elif np.ndim(ids) != 1:
        raise InputError(f"qid must have one id per row, got an array with {np.ndim(ids)} dimensions")
    else:
        column = np.asarray(ids)
        if column.dtype.kind in "iu":
            return pa.array(column)
    return pa.array([str(name) for name in column], pa.large_string())
