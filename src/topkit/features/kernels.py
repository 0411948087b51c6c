"""Numba kernels over text and postings; the tests compare each with plain Python."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from topkit.compute import Ints, Ints32
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

Hashes = NDArray[np.uint64]


@register_jitable
def same_bytes(blob: NDArray[np.uint8], first: int, second: int, length: int) -> bool:
    """Whether two places of a text hold the same bytes."""
    for j in range(length):  # noqa: SIM110 - Numba compiles a loop, not a generator
        if blob[first + j] != blob[second + j]:
            return False
    return True


@register_jitable
def hash_table(hashes: Hashes, count: int, size: int) -> Ints32:
    """An open-addressing table of this size (a power of 2) with the first ``count`` hashes."""
    table = np.full(size, -1, np.int32)
    for k in range(count):
        slot = np.int64(hashes[k] & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = k
    return table


@register_jitable
def longer(hashes: Hashes, starts: Ints, stops: Ints) -> tuple[Hashes, Ints, Ints]:
    """The three columns with room for twice as many tokens; np.concatenate takes Numba longer to compile."""
    n = len(hashes)
    more_hashes = np.empty(2 * n, np.uint64)
    more_starts, more_stops = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    for i in range(n):
        more_hashes[i], more_starts[i], more_stops[i] = hashes[i], starts[i], stops[i]
    return more_hashes, more_starts, more_stops


@njit(**KERNEL)
def number_tokens(
    blob: NDArray[np.uint8], is_word: NDArray[np.bool_], segments: int
) -> tuple[Ints32, Ints, Ints, Ints]:
    """Tokens of texts that are separated by zero bytes, numbered by first appearance.

    Returns the tokens, where each text starts in them, and where each distinct token first starts and stops
    in ``blob``. Tokens are compared by their bytes, not by a hash only.
    """
    n = len(blob)
    tokens = np.empty(n // 2 + 1, np.int32)
    bounds = np.zeros(segments + 1, np.int64)
    size = 1 << 15
    hashes = np.empty(size // 2, np.uint64)
    table = hash_table(hashes, 0, size)
    starts = np.empty(size // 2, np.int64)
    stops = np.empty(size // 2, np.int64)
    count, distinct, segment = 0, 0, 0
    i = 0
    while i < n:
        byte = blob[i]
        if byte == 0:
            segment += 1
            bounds[segment] = count
            i += 1
            continue
        if not is_word[byte]:
            i += 1
            continue
        start = i
        code = np.uint64(14695981039346656037)
        while i < n and is_word[blob[i]]:
            code = (code ^ np.uint64(blob[i])) * np.uint64(1099511628211)
            i += 1
        code ^= code >> np.uint64(29)
        slot = np.int64(code & np.uint64(size - 1))
        while True:
            known = table[slot]
            if known < 0:
                known = distinct
                table[slot] = distinct
                hashes[distinct] = code
                starts[distinct] = start
                stops[distinct] = i
                distinct += 1
                break
            same_length = stops[known] - starts[known] == i - start
            if hashes[known] == code and same_length and same_bytes(blob, starts[known], start, i - start):
                break
            slot = (slot + 1) & (size - 1)
        tokens[count] = known
        count += 1
        if distinct == len(hashes):  # half full: double the hash table
            size *= 2
            table = hash_table(hashes, distinct, size)
            hashes, starts, stops = longer(hashes, starts, stops)
    bounds[segments] = count
    return tokens[:count].copy(), bounds, starts[:distinct].copy(), stops[:distinct].copy()


@njit(**KERNEL)
def count_terms(
    tokens: Ints32, bounds: Ints, term_of: Ints32, step: int, first: int, take: int, terms: int
) -> tuple[Ints32, Ints32, Ints32, Ints32, Ints32]:
    """Term counts of each document, which has ``step`` texts; ``take`` of them from ``first`` are counted.

    Returns term, document and count of each posting in the order of documents, and the number of terms and of
    distinct terms of each document. ``term_of[token]`` is −1 for a stop word.
    """
    documents = (len(bounds) - 1) // step
    counts = np.zeros(terms, np.int32)
    out_term = np.empty(len(tokens), np.int32)
    out_doc = np.empty(len(tokens), np.int32)
    out_count = np.empty(len(tokens), np.int32)
    lengths = np.zeros(documents, np.int32)
    distinct = np.zeros(documents, np.int32)
    n = 0
    for d in range(documents):
        start = n
        for i in range(bounds[d * step + first], bounds[d * step + first + take]):
            term = term_of[tokens[i]]
            if term < 0:
                continue
            if counts[term] == 0:
                out_term[n] = term
                out_doc[n] = d
                n += 1
            counts[term] += 1
            lengths[d] += 1
        for i in range(start, n):
            out_count[i] = counts[out_term[i]]
            counts[out_term[i]] = 0
        distinct[d] = n - start
    return out_term[:n].copy(), out_doc[:n].copy(), out_count[:n].copy(), lengths, distinct


@njit(**KERNEL)
def scatter(
    terms: Ints32, docs: Ints32, counts: Ints32, at: Ints, out_docs: Ints32, out_counts: Ints32
) -> None:
    """Copy postings to the places of their terms; ``at`` is the next free place of each term."""
    for i in range(len(terms)):
        place = at[terms[i]]
        out_docs[place] = docs[i]
        out_counts[place] = counts[i]
        at[terms[i]] = place + 1


@njit(**KERNEL)
def look_up(
    ptr: Ints, docs: Ints32, counts: Ints32, terms: Ints32, term_ptr: Ints, candidates: Ints32, row_ptr: Ints
) -> Ints32:
    """How often each query term occurs in each candidate of its query, by bisection, row by row."""
    queries = len(term_ptr) - 1
    total = 0
    for q in range(queries):
        total += (term_ptr[q + 1] - term_ptr[q]) * (row_ptr[q + 1] - row_ptr[q])
    out = np.zeros(total, np.int32)
    base = 0
    for q in range(queries):
        width = term_ptr[q + 1] - term_ptr[q]
        for t in range(width):
            term = terms[term_ptr[q] + t]
            for r in range(row_ptr[q + 1] - row_ptr[q]):
                doc = candidates[row_ptr[q] + r]
                low, high = ptr[term], ptr[term + 1]
                end = high
                while low < high:
                    middle = (low + high) >> 1
                    if docs[middle] < doc:
                        low = middle + 1
                    else:
                        high = middle
                if low < end and docs[low] == doc:
                    out[base + r * width + t] = counts[low]
        base += width * (row_ptr[q + 1] - row_ptr[q])
    return out
