"""Candidate lists of a request: feature rows of one or several queries, checked before they are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.serving.refusal import Limits, RefusedError, at_most

LARGEST = int(np.finfo(np.float32).max)
"""Models are trained on 32-bit features, so a request may not contain larger numbers."""


@dataclass(frozen=True)
class Candidates:
    """Feature rows and the first row of each query; NaN is a missing feature."""

    X: NDArray[np.float32]
    ptr: NDArray[np.int64]
    feature_names: tuple[str, ...] | None = None

    def dataset(self) -> Dataset:
        """A data set without labels, for a ranker."""
        queries = tuple(map(str, range(len(self.ptr) - 1)))
        return Dataset(
            self.X, np.zeros(len(self.X), np.float32), self.ptr, queries, feature_names=self.feature_names
        )


def joined(parts: Sequence[NDArray[np.float32]], names: tuple[str, ...] | None, limits: Limits) -> Candidates:
    """The candidates of several queries in one value, within the limits."""
    at_most(limits.queries, len(parts), "queries")
    if not parts:
        raise RefusedError(422, "the request contains no query")
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise RefusedError(
            422, f"queries have {widths[0]} and {widths[-1]} features; expected the same number in all"
        )
    ptr = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=ptr[1:])
    at_most(limits.candidates, int(ptr[-1]), "candidates")
    X = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return Candidates(X, ptr, names)


def matrix(rows: Any, where: str = "features", first: int = 0) -> NDArray[np.float32]:
    """Rows of numbers as a float32 matrix; ``None`` is a missing feature, anything else is rejected.

    ``first`` is the number of candidates before these rows, for messages.
    """
    if not isinstance(rows, list) or not rows:
        raise RefusedError(422, f"{where} must be a list of at least one candidate, each a list of numbers")
    try:
        values = np.array(rows)
        is_numeric = values.dtype.kind in "fiu"
    except (ValueError, OverflowError):  # rows of different lengths, nested lists, huge integers
        is_numeric = False
    if not is_numeric:
        values = with_missing(rows, where, first)
    if values.ndim != 2 or values.shape[1] == 0:
        raise RefusedError(422, f"{where}: {_odd_row(rows, first)}")
    with np.errstate(over="ignore"):
        narrow: NDArray[np.float32] = np.ascontiguousarray(values, np.float32)
    check_finite(narrow, where, first)
    return narrow


def check_finite(values: NDArray[np.float32], where: str, first: int = 0) -> None:
    """Reject infinite values, which include numbers beyond 32 bits. NaN is a missing feature here."""
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise _not_finite(where, first + row, column)


def with_missing(rows: list[Any], where: str, first: int = 0) -> NDArray[np.float64]:
    """Rows of numbers and nulls. Slow: every value is checked by itself."""
    width = len(rows[0]) if isinstance(rows[0], list) else 0
    values = np.empty((len(rows), width))
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width:
            raise RefusedError(422, f"{where}: {_odd_row(rows, first)}")
        for j, value in enumerate(row):
            if value is None:
                values[i, j] = np.nan
            elif isinstance(value, bool) or not isinstance(value, (int, float)):
                kind = type(value).__name__
                raise RefusedError(
                    422,
                    f"{where}: candidate {first + i + 1}, feature {j + 1}: "
                    f"expected a number or null, got a {kind}",
                )
            elif abs(value) > LARGEST:
                raise _not_finite(where, first + i, j)
            else:
                values[i, j] = value
    return values


def _not_finite(where: str, row: int, column: int) -> RefusedError:
    return RefusedError(
        422, f"{where}: candidate {row + 1}, feature {column + 1} is not a finite 32-bit number"
    )


def _odd_row(rows: list[Any], before: int) -> str:
    first = len(rows[0]) if isinstance(rows[0], list) else None
    for i, row in enumerate(rows):
        if not isinstance(row, list):
            return f"candidate {before + i + 1} is not a list of numbers"
        if len(row) != first:
            return f"candidate {before + i + 1} has {len(row)} features, the first has {first}"
    return "candidates must be lists of at least one number"
