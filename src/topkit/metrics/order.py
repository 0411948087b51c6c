"""The order of documents by falling score, with the two rules for ties."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data import InputError, Strings
from topkit.metrics.conventions import Ties

BLOCK_DOCUMENTS = 1 << 16
"""Documents of one block of queries: its arrays stay in the cache of a core."""

_LARGEST = np.int64(np.iinfo(np.int64).max)


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
    """Row numbers of documents by falling score: (queries, longest).

    Beyond the end of a list they mean nothing and may be too large (take them with ``mode="clip"``).

    Scores and places are packed into one integer each, because sorting values is several times as fast as
    sorting indices and the place in the low bits settles ties by input order for nothing. The few rows in
    which the bits that gave way to the place decide the order are sorted again in full.
    """
    width = int(lengths.max(initial=0))
    shortest = int(lengths.min(initial=0))
    if width == 0:
        return np.zeros((len(starts), 0), np.int64)
    places = np.arange(width)
    numbers = scores.take(starts[:, None] + places, mode="clip")
    np.subtract(0.0, numbers, out=numbers)  # larger first; and subtraction from zero makes both zeros one
    keys = _as_integers(numbers)
    bits = max(1, (width - 1).bit_length())
    low = np.int64((1 << bits) - 1)
    keys &= ~low
    keys |= places
    if shortest < width:  # what is beyond the end of a list goes last, no two keys alike
        outside = places[shortest:] >= lengths[:, None]
        keys[:, shortest:][outside] = _LARGEST - (np.nonzero(outside)[1] << bits)
    keys.sort(axis=1)
    flat = keys.ravel()
    near = None
    if np.bitwise_xor(flat[1:], flat[:-1]).view(np.uint64).min(initial=_LARGEST) <= np.uint64(low):
        near = np.bitwise_xor(keys[:, 1:], keys[:, :-1]).view(np.uint64) <= np.uint64(low)
    keys &= low
    keys += starts[:, None]
    if near is not None:
        _settle_ties(keys, near, scores, ties, doc_ids)
    return keys


def _as_integers(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the numbers, made in place."""
    keys = numbers.view(np.int64)
    twice = np.minimum(keys, 0)  # of a negative number: its size and the top bit, which doubling drops
    np.left_shift(twice, 1, out=twice)
    keys &= _LARGEST
    keys -= twice
    return keys


def _settle_ties(
    rows: NDArray[np.int64],
    near: NDArray[np.bool_],
    scores: NDArray[np.float64],
    ties: Ties,
    doc_ids: Strings | None,
) -> None:
    """Order the neighbours that the sort saw as equal: by the last bits of their scores, then by ``ties``."""
    query, place = np.nonzero(near)
    same = scores[rows[query, place]] == scores[rows[query, place + 1]]
    if ties == "input" and same.all():
        return
    follows = np.zeros(rows.shape, np.bool_)  # was seen as equal to the document before it
    follows[query, place + 1] = True
    tied = follows.copy()
    tied[query, place] = True
    members = rows[tied]
    group = np.cumsum(~follows[tied])
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
    rows[tied] = members[by_name[np.lexsort((-scores[members[by_name]], group[by_name]))]]


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
