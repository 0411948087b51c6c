"""The order of documents by falling score, with the two rules for ties."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data import InputError, Strings
from topkit.metrics.conventions import Ties

BLOCK_DOCUMENTS = 1 << 15
"""Documents of one block of queries: its arrays stay in the cache of a core."""

_SIGN = np.int64(np.iinfo(np.int64).max)


def query_blocks(lengths: NDArray[np.int64], size: int = BLOCK_DOCUMENTS) -> Iterator[NDArray[np.int64]]:
    """Numbers of queries of similar length, in blocks that fill about ``size`` places when padded."""
    by_length = np.argsort(lengths, kind="stable")
    ordered = lengths[by_length]
    start = 0
    while start < len(ordered):
        low, high = start + 1, len(ordered)
        while low < high:  # the most queries whose padded rows fit
            middle = (low + high + 1) // 2
            fits = (middle - start) * int(ordered[middle - 1]) <= size
            low, high = (middle, high) if fits else (low, middle - 1)
        yield by_length[start:low]
        start = low


def ranked_rows(
    scores: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    ties: Ties,
    doc_ids: Strings | None,
) -> NDArray[np.int64]:
    """Row numbers of documents by falling score: (queries, longest); beyond a list's end they mean nothing.

    Scores and places are packed into one integer each, because sorting values is several times as fast as
    sorting indices and the place in the low bits settles ties by input order for nothing. The few rows in
    which the bits that gave way to the place decide the order are sorted again in full.
    """
    width = int(lengths.max(initial=0))
    places = np.arange(width)
    rows = starts[:, None] + places
    inside = None if int(lengths.min(initial=0)) == width else places < lengths[:, None]
    if inside is not None:
        rows[~inside] = 0
    falling = 0.0 - scores.take(rows)  # subtraction from zero makes both zeros one
    low_bits = np.int64((1 << max(1, (width - 1).bit_length())) - 1)
    keys = falling.copy().view(np.int64)
    keys ^= (keys >> 63) & _SIGN  # now the integers are in the order of the numbers
    keys &= ~low_bits
    if inside is not None:
        keys[~inside] = _SIGN & ~low_bits
    keys |= places
    keys.sort(axis=1)
    near = (keys[:, 1:] ^ keys[:, :-1]).view(np.uint64) <= np.uint64(low_bits)
    if inside is not None:
        near &= inside[:, 1:]
    keys &= low_bits
    first_row = np.arange(len(rows))[:, None] * width
    keys += first_row  # places in the flattened block
    if near.any():
        _settle(keys, near, falling, first_row, lengths)
        if ties == "document":
            _by_document(keys, near, falling, rows, doc_ids)
    order: NDArray[np.int64] = rows.take(keys)
    return order


def _settle(
    keys: NDArray[np.int64],
    near: NDArray[np.bool_],
    falling: NDArray[np.float64],
    first_row: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> None:
    """Sort again, in full, the rows where scores that differ only in their last bits are neighbours."""
    where = np.nonzero(near)
    upper, lower = keys[:, :-1][where], keys[:, 1:][where]
    for row in np.unique(where[0][falling.take(upper) != falling.take(lower)]):
        n = int(lengths[row])
        keys[row, :n] = np.argsort(falling[row, :n], kind="stable") + first_row[row]


def _by_document(
    keys: NDArray[np.int64],
    near: NDArray[np.bool_],
    falling: NDArray[np.float64],
    rows: NDArray[np.int64],
    doc_ids: Strings | None,
) -> None:
    """Put documents of equal score in descending order of their ids (as bytes)."""
    same = near.copy()
    where = np.nonzero(near)
    same[where] = falling.take(keys[:, :-1][where]) == falling.take(keys[:, 1:][where])
    if not same.any():
        return
    if doc_ids is None:
        raise InputError(
            "equal scores are ordered by document id under this convention, and the data has no document ids",
            "give document ids, or use a convention that keeps the input order of ties",
        )
    tied = np.zeros(keys.shape, np.bool_)
    tied[:, 1:] = same
    opens = np.zeros(keys.shape, np.bool_)
    opens[:, :-1] = same
    opens &= ~tied
    tied |= opens
    members = keys[tied]
    group = np.cumsum(opens[tied])
    names = doc_ids.take(rows.take(members)).tobytes()
    falling_names = sorted(range(len(names)), key=names.__getitem__, reverse=True)
    by_name = np.array(falling_names, np.int64)
    keys[tied] = members[by_name[np.argsort(group[by_name], kind="stable")]]


def ranked_order(
    scores: ArrayLike, ptr: NDArray[np.int64], ties: Ties = "input", doc_ids: Strings | None = None
) -> NDArray[np.int64]:
    """Row numbers of all documents, query by query, by falling score.

    Equal scores keep their input order (``ties="input"``) or go by document id, descending as bytes
    (``ties="document"``, the rule of trec_eval).

    >>> ranked_order([0.5, 2.0, 0.5, 1.0], np.array([0, 3, 4]))
    array([1, 0, 2, 3])
    """
    values = np.asarray(scores, np.float64)
    lengths = np.diff(ptr)
    order = np.empty(len(values), np.int64)
    for queries in query_blocks(lengths):
        n, starts = lengths[queries], ptr[queries]
        rows = ranked_rows(values, starts, n, ties, doc_ids)
        places = np.arange(rows.shape[1])
        inside = places < n[:, None]
        order[(starts[:, None] + places)[inside]] = rows[inside]
    return order
