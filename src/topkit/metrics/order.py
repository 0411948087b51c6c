"""The order of documents by falling score, with the two rules for ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike, NDArray

from topkit.data import InputError, Strings
from topkit.metrics.conventions import Ties

CACHED_DOCUMENTS = 1 << 15
"""So many documents are sorted at a time: their keys stay in the cache of a core."""

Scores = NDArray[np.floating[Any]]
"""64-bit numbers, or 32-bit ones."""

_LARGEST = np.int64(np.iinfo(np.int64).max)


def query_blocks(
    lengths: NDArray[np.int64], size: int = CACHED_DOCUMENTS
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


def ranked_places(
    scores: Scores,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    ties: Ties,
    doc_ids: Strings | None,
) -> NDArray[np.int64]:
    """Places of documents in their queries by falling score: (queries, longest); nonsense after a list's end.

    Scores and places are packed into one integer each, because sorting values is several times as fast as
    sorting indices and the place in the low bits settles ties by input order for nothing. The few
    documents whose order hangs on the bits that gave way to the place are ordered again in full.
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
    near = near[(near + 1) % width != 0]  # not the last of one query and the first of the next
    keys &= low
    if len(near):
        _settle_ties(keys, near, scores, starts, ties, doc_ids)
    return keys


def _gathered(scores: Scores, starts: NDArray[np.int64], lengths: NDArray[np.int64], width: int) -> Scores:
    """The scores of each query in a row, (queries, width); after a list's end, nonsense."""
    last = len(scores) - width
    windows = as_strided(scores, (last + 1, width), scores.strides * 2, writeable=False)
    rows = windows[np.minimum(starts, last)]
    for row in np.flatnonzero(starts > last):  # too near to the end of the array for a window
        own = slice(int(starts[row]), int(starts[row] + lengths[row]))
        rows[row, : lengths[row]] = scores[own]
    return rows


def _as_integers(numbers: Scores) -> NDArray[np.int64]:
    """Integers in the opposite order of the numbers; the memory of 64-bit numbers is used again."""
    again = numbers if numbers.dtype == np.float64 else None
    keys = np.subtract(0.0, numbers, out=again, dtype=np.float64).view(np.int64)  # and makes both zeros one
    flip = (keys >> 63).view(np.uint64)  # all bits of a negative number but its sign run backwards
    flip >>= np.uint64(1)
    keys ^= flip.view(np.int64)
    return keys


def _settle_ties(
    places: NDArray[np.int64],
    near: NDArray[np.int64],
    scores: Scores,
    starts: NDArray[np.int64],
    ties: Ties,
    doc_ids: Strings | None,
) -> None:
    """Order what the sort saw as equal, the spots ``near`` and after them, by all bits, then by ``ties``."""
    flat, width = places.ravel(), places.shape[1]
    start = starts[near // width]
    differ = scores[start + flat[near]] != scores[start + flat[near + 1]]
    if ties == "input" and not differ.any():
        return
    opens = np.diff(near, prepend=-9) != 1  # where a group of neighbours begins
    if ties == "input":  # a group of truly equal scores is in order already
        group = np.cumsum(opens) - 1
        mixed = np.bincount(group, differ) > 0
        near, opens = near[mixed[group]], opens[mixed[group]]
    closes = np.append(opens[1:], True)
    spots = np.sort(np.concatenate([near, near[closes] + 1]))
    group = np.searchsorted(near[opens], spots, side="right")
    rows = flat[spots] + starts[spots // width]
    if ties == "document" and not differ.all():
        if doc_ids is None:
            raise InputError(
                "equal scores are ordered by document id here, and the data has no document ids",
                "give document ids, or use a convention that keeps the input order of ties",
            )
        names = doc_ids.take(rows).tobytes()
        by_name = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True))
    else:
        by_name = np.argsort(rows, kind="stable")
    flat[spots] = flat[spots][by_name[np.lexsort((-scores[rows[by_name]], group[by_name]))]]


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
            places = ranked_places(values, starts, n, ties, doc_ids)
            ranks = np.arange(places.shape[1])
            inside = ranks < n[:, None]
            order[(starts[:, None] + ranks)[inside]] = (starts[:, None] + places)[inside]
    return order
