"""The order of documents by descending score, with the two rules for ties."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike, NDArray

from topkit.data import InputError, Strings
from topkit.metrics.conventions import Ties

SORTED_DOCUMENTS = 1 << 17
"""Documents sorted at a time: few enough for the cache of a core, enough to outweigh the interpreter lock."""

Scores = NDArray[np.floating[Any]]
"""float64 or float32."""

_LARGEST = np.int64(np.iinfo(np.int64).max)

_HIGH = 1 if sys.byteorder == "little" else 0
"""Which half of a 64-bit integer is the upper one."""


class NotANumberError(ValueError):
    """Scores that contain NaN, which cannot be sorted."""


def query_blocks(
    lengths: NDArray[np.int64], size: int = SORTED_DOCUMENTS
) -> tuple[NDArray[np.int64], list[slice]]:
    """Queries by ascending length, and slices of them that fill about ``size`` places each when padded.

    Queries without documents are in a separate slice.
    """
    short = int(lengths.max(initial=0)) < 1 << 16
    by_length = np.argsort(lengths.astype(np.uint16) if short else lengths, kind="stable")  # radix sort
    ordered = lengths[by_length]
    start = int(np.searchsorted(ordered, 1))
    blocks = [slice(0, start)] if start else []
    while start < len(ordered):
        low, high = start + 1, len(ordered)
        while low < high:  # the largest number of queries whose padded rows fit
            middle = (low + high + 1) // 2
            fits = (middle - start) * int(ordered[middle - 1]) <= size
            low, high = (middle, high) if fits else (low, middle - 1)
        blocks.append(slice(start, low))
        start = low
    return by_length, blocks


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The documents of some queries: those of query i are rows ``starts[i]:starts[i]+lengths[i]``."""

    scores: Scores
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    ties: Ties
    doc_ids: Strings | None


def ranked_places(rows: ScoredRows) -> NDArray[np.int64]:
    """Places of documents in their queries by descending score: (queries, longest), undefined at the end."""
    keys, bits = _sort_keys(rows)
    near = _undecided(keys, bits)
    keys &= np.int64((1 << bits) - 1)
    if len(near):
        _settle_ties(keys, near, rows)
    return keys


def ranked_labels(labels: NDArray[np.int8], rows: ScoredRows) -> NDArray[np.int8]:
    """The labels by descending score: (queries, longest), with −1 after the end of a list.

    The label is part of the sorted key (its lowest 8 bits), so no look-up is needed after the sort.
    """
    keys, bits = _sort_keys(rows, labels)
    near = _undecided(keys, bits)
    ranked = keys.astype(np.int8)  # keeps the lowest 8 bits
    if len(near):
        keys >>= np.int64(8)
        keys &= np.int64((1 << (bits - 8)) - 1)
        spots = _settle_ties(keys, near, rows)
        ranked.ravel()[spots] = labels[keys.ravel()[spots] + rows.starts[spots // keys.shape[1]]]
    return ranked


def _sort_keys(rows: ScoredRows, labels: NDArray[np.int8] | None = None) -> tuple[NDArray[np.int64], int]:
    """Sorted integers (queries, longest) and the number of their low bits that hold place and label.

    Score and place are packed into one integer: sorting values is several times as fast as sorting indices,
    and the place in the low bits breaks ties by input order at no cost.
    """
    starts, lengths = rows.starts, rows.lengths
    width = int(lengths.max(initial=0))
    shortest = int(lengths.min(initial=0))
    places = np.arange(width)
    numbers = _gathered(rows.scores, starts, lengths, width)
    if width >= 1 << 22:  # place and label do not fit next to a 32-bit number
        numbers = numbers.astype(np.float64)
    tags: NDArray[Any] = places.astype(np.int32 if width < 1 << 22 else np.int64)
    end = width
    if labels is not None:
        tags, end = (tags << 8) | _gathered(labels, starts, lengths, width).view(np.uint8), width << 8
    keys, bits = _with_tags(numbers, tags, end)
    beyond = _LARGEST - (places << bits)
    if labels is not None:
        beyond |= 255  # the label −1
    if shortest < width:  # places after the end of a list are sorted last; all keys differ
        outside = places[shortest:] >= lengths[:, None]
        np.copyto(keys[:, shortest:], beyond[shortest:], where=outside)
    keys.sort(axis=1)
    return keys, bits


def _undecided(keys: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Places whose key and the next one of the same query differ only in their low bits.

    Their order depends on the bits of the score that were replaced by place and label.
    """
    flat, width = keys.ravel(), keys.shape[1]
    alike = np.bitwise_xor(flat[1:], flat[:-1]).view(np.uint64) < np.uint64(1 << bits)
    near: NDArray[np.int64] = np.flatnonzero(alike)
    inner: NDArray[np.bool_] = (near + 1) % width != 0  # not the last of one query and the first of the next
    return near[inner]


Values = TypeVar("Values", bound=np.generic)


def _gathered(
    values: NDArray[Values], starts: NDArray[np.int64], lengths: NDArray[np.int64], width: int
) -> NDArray[Values]:
    """The values of each query in a row, (queries, width); undefined after the end of a list."""
    last = len(values) - width
    windows = as_strided(values, (last + 1, width), values.strides * 2, writeable=False)
    rows = windows[np.minimum(starts, last)]
    for row in np.flatnonzero(starts > last):  # too close to the end of the array for a window
        documents = slice(int(starts[row]), int(starts[row] + lengths[row]))
        rows[row, : lengths[row]] = values[documents]
    return rows


def _with_tags(numbers: Scores, tags: NDArray[Any], end: int) -> tuple[NDArray[np.int64], int]:
    """Integers that increase as the numbers decrease, with tags below ``end`` in low bits; and their count.

    Different numbers may become equal, but never change order. The numbers are subtracted from the largest
    finite one. The results are not negative (apart from +∞ scores), so their bits are in order as integers.
    32-bit numbers keep all their bits above 32 bits for the tag, 64-bit numbers lose their lowest bits.
    """
    largest = numbers.max() + numbers.dtype.type(0)  # never −0, because −0 − 0 = −0
    if np.isnan(largest):  # the maximum is NaN if any score is
        raise NotANumberError("a score is not a number (NaN)")
    if np.isinf(largest):
        least = numbers.dtype.type(np.finfo(numbers.dtype).min)
        largest = np.max(numbers, where=np.isfinite(numbers), initial=least) + numbers.dtype.type(0)
    with np.errstate(over="ignore"):
        if numbers.dtype == np.float32:
            keys = np.empty(numbers.shape, np.int64)
            np.subtract(largest, numbers, out=keys.view(np.float32)[:, _HIGH::2])
            keys.view(np.int32)[:, 1 - _HIGH :: 2] = tags
            return keys, 32
        keys = np.subtract(largest, numbers, out=numbers).view(np.int64)
    bits = (end - 1).bit_length()
    keys &= np.int64(-1 << bits)
    keys |= tags
    return keys, bits


def _settle_ties(places: NDArray[np.int64], near: NDArray[np.int64], rows: ScoredRows) -> NDArray[np.int64]:
    """Sort the places that the keys left undecided by all bits of the score, then by the rule for ties.

    ``near`` are such places; each is undecided with the next one. Returns the places that may have changed.
    """
    scores, starts, ties, doc_ids = rows.scores, rows.starts, rows.ties, rows.doc_ids
    flat, width = places.ravel(), places.shape[1]
    start = starts[near // width]
    differ = scores[start + flat[near]] != scores[start + flat[near + 1]]
    if ties == "input" and not differ.any():
        return near[:0]
    opens = np.diff(near, prepend=-9) != 1  # the first place of each group of neighbours
    if ties == "input":  # groups of equal scores are in order already
        group = np.cumsum(opens) - 1
        mixed = np.bincount(group, differ) > 0
        near, opens = near[mixed[group]], opens[mixed[group]]
    closes = np.append(opens[1:], True)
    spots = np.sort(np.concatenate([near, near[closes] + 1]))
    group = np.searchsorted(near[opens], spots, side="right")
    documents = flat[spots] + starts[spots // width]
    if ties == "document" and _any_equal(scores[documents], group):
        if doc_ids is None:
            raise InputError(
                "this convention sorts equal scores by document id, and the data has no document ids",
                "add document ids, or use a convention that keeps the input order of ties",
            )
        names = doc_ids.take(documents).tobytes()
        by_name = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True))
    else:
        by_name = np.argsort(documents, kind="stable")
    flat[spots] = flat[spots][by_name[np.lexsort((-scores[documents[by_name]], group[by_name]))]]
    return spots


def _any_equal(scores: Scores, group: NDArray[np.int64]) -> bool:
    """Whether a group contains two equal scores, next to each other or not."""
    order = np.lexsort((scores, group))
    sorted_scores, sorted_group = scores[order], group[order]  # compared, because ∞ − ∞ is not 0
    same = (sorted_scores[1:] == sorted_scores[:-1]) & (sorted_group[1:] == sorted_group[:-1])
    return bool(same.any())


def as_scores(scores: ArrayLike) -> Scores:
    """The scores as a contiguous array of float32 if they are float32, else of float64."""
    values = np.asarray(scores)
    if values.dtype == np.float32:
        return np.ascontiguousarray(values, np.float32)
    return np.ascontiguousarray(values, np.float64)


def at_precision(scores: Scores, single: bool) -> Scores:
    """The scores as they are compared: rounded to 32 bits if the convention says so.

    trec_eval stores scores as 32-bit numbers, so it takes those that differ only beyond that precision as
    ties; a score that is too large for 32 bits is infinite.
    """
    with np.errstate(over="ignore"):
        return scores.astype(np.float32, copy=False) if single else scores


def ranked_order(
    scores: ArrayLike, ptr: NDArray[np.int64], ties: Ties = "input", doc_ids: Strings | None = None
) -> NDArray[np.int64]:
    """Row numbers of all documents, query by query, by descending score.

    Equal scores keep their input order (``ties="input"``) or are sorted by document id, descending as bytes
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
            places = ranked_places(ScoredRows(values, starts, n, ties, doc_ids))
            ranks = np.arange(places.shape[1])
            inside = ranks < n[:, None]
            order[(starts[:, None] + ranks)[inside]] = (starts[:, None] + places)[inside]
    return order
