"""The order of documents by falling score, with the two rules for ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from topkit.data import InputError, Strings
from topkit.metrics.conventions import Ties

BLOCK_DOCUMENTS = 1 << 16
"""Documents of one block of queries: its arrays stay in the cache of a core."""

Scores = NDArray[np.floating[Any]]
"""64-bit numbers, or 32-bit ones."""

_LARGEST = np.int64(np.iinfo(np.int64).max)


def query_blocks(
    lengths: NDArray[np.int64], size: int = BLOCK_DOCUMENTS
) -> tuple[NDArray[np.int64], list[slice]]:
    """Queries by rising length, and slices of them that fill about ``size`` places each when padded.

    Queries without documents have a slice of their own.
    """
    by_length = np.argsort(lengths, kind="stable")
    ordered = lengths[by_length]
    start = int(np.searchsorted(ordered, 1))
    blocks = [slice(0, start)] if start else []
    while start < len(ordered):
        low, high = start + 1, len(ordered)
        while low < high:  # the most queries whose padded rows fit
            middle = (low + high + 1) // 2
            fits = (middle - start) * int(ordered[middle - 1]) <= size
            low, high = (middle, high) if fits else (low, middle - 1)
        blocks.append(slice(start, low))
        start = low
    return by_length, blocks


def ranked_rows(
    scores: Scores,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    ties: Ties,
    doc_ids: Strings | None,
) -> NDArray[np.int64]:
    """Row numbers of documents by falling score: (queries, longest).

    Beyond the end of a list they mean nothing and may be too large (take them with ``mode="clip"``).

    Scores and places are packed into one integer each, because sorting values is several times as fast as
    sorting indices and the place in the low bits settles ties by input order for nothing. The few rows in
    which the bits that gave way to the place decide the order are sorted again in full.
    """
    width = int(lengths.max(initial=0))
    shortest = int(lengths.min(initial=0))
    places = np.arange(width)
    keys = _as_integers(_gathered(scores, starts, lengths, width))
    bits = max(1, (width - 1).bit_length())
    low = np.int64((1 << bits) - 1)
    keys &= ~low
    keys |= places
    if shortest < width:  # what is beyond the end of a list goes last, no two keys alike
        edge = places[shortest:]
        np.copyto(keys[:, shortest:], _LARGEST - (edge << bits), where=edge >= lengths[:, None])
    keys.sort(axis=1)
    flat = keys.ravel()
    near = np.flatnonzero(np.bitwise_xor(flat[1:], flat[:-1]).view(np.uint64) <= np.uint64(low))
    keys &= low
    keys += starts[:, None]
    if len(near):
        _settle_ties(flat, near[(near + 1) % width != 0], scores, ties, doc_ids)
    return keys


def _gathered(scores: Scores, starts: NDArray[np.int64], lengths: NDArray[np.int64], width: int) -> Scores:
    """The scores of each query in a row; what comes after the end of a list is of no account."""
    last = len(scores) - width
    numbers = sliding_window_view(scores, width)[np.minimum(starts, last)]
    for row in np.flatnonzero(starts > last):  # too near to the end of the array for a window
        own = slice(int(starts[row]), int(starts[row] + lengths[row]))
        numbers[row, : lengths[row]] = scores[own]
    return numbers


def _as_integers(numbers: Scores) -> NDArray[np.int64]:
    """Integers in the opposite order of the numbers; the memory of 64-bit numbers is used again."""
    again = numbers if numbers.dtype == np.float64 else None
    keys = np.subtract(0.0, numbers, out=again, dtype=np.float64).view(np.int64)  # and makes both zeros one
    flip = (keys >> 63).view(np.uint64)  # all bits of a negative number but its sign run backwards
    flip >>= np.uint64(1)
    keys ^= flip.view(np.int64)
    return keys


def _settle_ties(
    rows: NDArray[np.int64],
    near: NDArray[np.int64],
    scores: Scores,
    ties: Ties,
    doc_ids: Strings | None,
) -> None:
    """Order what the sort saw as equal, the places ``near`` and after them, by all bits, then by ``ties``."""
    same = scores[rows[near]] == scores[rows[near + 1]]
    if ties == "input" and same.all():
        return
    places = np.union1d(near, near + 1)
    members = rows[places]
    group = np.cumsum(~np.isin(places, near + 1))  # a document that is not next to an equal one opens a group
    if ties == "document" and same.any():
        if doc_ids is None:
            raise InputError(
                "equal scores are ordered by document id here, and the data has no document ids",
                "give document ids, or use a convention that keeps the input order of ties",
            )
        names = doc_ids.take(members).tobytes()
        by_name = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True))
    else:
        by_name = np.argsort(members, kind="stable")
    rows[places] = members[by_name[np.lexsort((-scores[members[by_name]], group[by_name]))]]


def as_scores(scores: ArrayLike) -> Scores:
    """The scores as an array of 64-bit numbers, or of 32-bit numbers if they are that already."""
    values = np.asarray(scores)
    if values.dtype == np.float32:
        return np.ascontiguousarray(values, np.float32)
    return np.ascontiguousarray(values, np.float64)


def ranked_order(
    scores: ArrayLike, ptr: NDArray[np.int64], ties: Ties = "input", doc_ids: Strings | None = None
) -> NDArray[np.int64]:
    """Row numbers of all documents, query by query, by falling score.

    Equal scores keep their input order (``ties="input"``) or go by document id, descending as bytes
    (``ties="document"``, the rule of trec_eval).

    >>> ranked_order([0.5, 2.0, 0.5, 1.0], np.array([0, 3, 4]))
    array([1, 0, 2, 3])
    """
    values = as_scores(scores)
    lengths = np.diff(ptr)
    order = np.empty(len(values), np.int64)
    by_length, blocks = query_blocks(lengths)
    for block in blocks:
        queries = by_length[block]
        n, starts = lengths[queries], ptr[queries]
        if n.any():
            rows = ranked_rows(values, starts, n, ties, doc_ids)
            places = np.arange(rows.shape[1])
            inside = places < n[:, None]
            order[(starts[:, None] + places)[inside]] = rows[inside]
    return order
