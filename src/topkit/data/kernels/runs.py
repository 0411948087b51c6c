"""The scanner of TREC runs, and the search for repeated documents."""

from __future__ import annotations

import numpy as np

from topkit.compute import Bytes, Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL
from topkit.data.kernels import BAD_SCORE, FEW_FIELDS, MORE_NOTED, OK
from topkit.data.kernels.text import (
    HARD_NUMBER,
    HASH,
    NEWLINE,
    NOT_A_NUMBER,
    ends_token,
    is_blank,
    line_end,
    mark_exact,
    note_query,
    parse_number,
    same,
    short_number,
    skip_blanks,
)


@njit(**KERNEL)
def scan_run(
    text: Bytes,
    scores: Floats,
    row_lines: Ints,
    query_starts: Ints,
    query_spans: Ints,
    docs: Bytes,
    doc_ends: Ints,
    exact: Ints,
) -> tuple[int, int, int, int, int, int]:
    """Scan lines ``query Q0 document rank score tag``; returns the same as the scanner of LETOR lines."""
    i = 0
    lines = rows = queries = marked = 0
    used = 0
    while i < len(text):
        i = skip_blanks(text, i, len(text))
        if text[i] == NEWLINE or text[i] == HASH:
            i = line_end(text, i) + 1
            lines += 1
            continue
        first = i
        while not ends_token(text[i]):
            i += 1
        queries = note_query(text, first, i, rows, query_starts, query_spans, queries)
        for field in range(1, 6):
            while is_blank(text[i]):
                i += 1
            if text[i] == NEWLINE:
                return FEW_FIELDS, lines, rows, queries, marked, i
            first = i
            if field == 4:
                i, value = short_number(text, first)
                if i >= 0 and text[i] != HASH:
                    scores[rows] = value
                    continue
                i = first
            while not ends_token(text[i]):
                if field == 2:
                    docs[used] = text[i]
                    used += 1
                i += 1
            if field == 4:
                status, value = parse_number(text, first, i)
                if status == NOT_A_NUMBER:
                    return BAD_SCORE, lines, rows, queries, marked, first
                if status == HARD_NUMBER:
                    if marked == len(exact):
                        return MORE_NOTED, lines, rows, queries, marked, first
                    marked = mark_exact(exact, marked, rows, -1, first, i)
                scores[rows] = value
        doc_ends[rows] = used
        row_lines[rows] = lines
        rows += 1
        lines += 1
        i = line_end(text, i) + 1
    return OK, lines, rows, queries, marked, 0


@njit(**KERNEL, forceinline=True)
def _word(blob: Bytes, i: int) -> np.uint64:
    """Eight bytes as one number."""
    low = (
        np.uint64(blob[i])
        | (np.uint64(blob[i + 1]) << np.uint64(8))
        | (np.uint64(blob[i + 2]) << np.uint64(16))
        | (np.uint64(blob[i + 3]) << np.uint64(24))
    )
    high = (
        np.uint64(blob[i + 4])
        | (np.uint64(blob[i + 5]) << np.uint64(8))
        | (np.uint64(blob[i + 6]) << np.uint64(16))
        | (np.uint64(blob[i + 7]) << np.uint64(24))
    )
    return low | (high << np.uint64(32))


@njit(**KERNEL, forceinline=True)
def _hash(blob: Bytes, start: int, stop: int, seed: int) -> np.uint64:
    """A hash of blob[start:stop], eight bytes at a time."""
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    h = np.uint64(seed)
    i = start
    while i + 8 <= stop:
        h = (h ^ _word(blob, i)) * multiplier
        h ^= h >> np.uint64(32)
        i += 8
    while i < stop:
        h = (h ^ np.uint64(blob[i])) * multiplier
        i += 1
    return h ^ (h >> np.uint64(29))


@njit(**KERNEL)
def first_repeat(blob: Bytes, ends: Ints, starts: Ints, query_of: Ints) -> int:
    """The first row whose document also occurs in an earlier row of its query, or −1.

    starts: where each block of rows of one query starts, and the number of rows at the end.
    query_of: the query of each block if a query may have several blocks, else an empty array. If it is empty,
    one small hash table serves every block, because entries of earlier blocks count as free.
    """
    scattered = len(query_of) > 0
    longest = len(ends)
    if not scattered:
        longest = 0
        for s in range(len(starts) - 1):
            longest = max(longest, starts[s + 1] - starts[s])
    size = 16
    while size < 2 * longest:
        size *= 2
    table = np.full(size, -1, np.int64)
    query = np.zeros(len(ends) if scattered else 0, np.int64)
    mask = np.uint64(size - 1)
    for s in range(len(starts) - 1):
        oldest = 0 if scattered else starts[s]
        number = query_of[s] if scattered else 0
        for row in range(starts[s], starts[s + 1]):
            start = ends[row - 1] if row > 0 else 0
            length = ends[row] - start
            slot = _hash(blob, start, ends[row], number) & mask
            if scattered:
                query[row] = number
            while table[slot] >= oldest:
                other = table[slot]
                begin = ends[other - 1] if other > 0 else 0
                same_query = not scattered or query[other] == number
                if same_query and ends[other] - begin == length and same(blob, begin, start, length):
                    return row
                slot = (slot + np.uint64(1)) & mask
            table[slot] = row
    return -1
