"""The scanner of TREC runs, and documents that come twice."""

from __future__ import annotations

import numpy as np
from numba import njit

from topkit.data.kernels.bytes_and_tokens import HASH, NEWLINE, ends_token, is_blank, same, skip_blanks
from topkit.data.kernels.numbers import HARD_NUMBER, NOT_A_NUMBER, parse_number, short_number
from topkit.data.kernels.statuses import BAD_SCORE, FEW_FIELDS, MORE_EXACT, OK


@njit(cache=True, nogil=True)
def scan_run(text, scores, row_lines, query_starts, query_spans, docs, doc_ends, hard):  # type: ignore[no-untyped-def]
    """Scan lines ``query Q0 document rank score tag``; the outputs and the returned values are as above."""
    n = len(text)
    position = 0
    lines = rows = queries = hards = 0
    used = 0
    last_query, last_length = 0, -1
    while position < n:
        i = skip_blanks(text, position, n)
        if text[i] == NEWLINE or text[i] == HASH:
            while text[i] != NEWLINE:
                i += 1
            position = i + 1
            lines += 1
            continue
        first = i
        while not ends_token(text[i]):
            i += 1
        length = i - first
        if length != last_length or not same(text, first, last_query, length):
            query_starts[queries] = rows
            query_spans[queries, 0], query_spans[queries, 1] = first, i
            queries += 1
            last_query, last_length = first, length
        for field in range(1, 6):
            while is_blank(text[i]):
                i += 1
            if text[i] == NEWLINE:
                return FEW_FIELDS, lines, rows, queries, hards, i
            first = i
            if field == 4:
                i, value = short_number(text, first)
                if i >= 0 and text[i] != HASH:
                    scores[rows] = value
                    continue
                i = first
            if field == 2:
                while not ends_token(text[i]):
                    docs[used] = text[i]
                    used += 1
                    i += 1
                doc_ends[rows] = used
            else:
                while not ends_token(text[i]):
                    i += 1
            if field == 4:
                status, value = parse_number(text, first, i)
                if status == NOT_A_NUMBER:
                    return BAD_SCORE, lines, rows, queries, hards, first
                if status == HARD_NUMBER:
                    if hards == len(hard):
                        return MORE_EXACT, lines, rows, queries, hards, first
                    hard[hards, 0], hard[hards, 1], hard[hards, 2], hard[hards, 3] = rows, -1, first, i
                    hards += 1
                scores[rows] = value
        row_lines[rows] = lines
        while text[i] != NEWLINE:
            i += 1
        rows += 1
        lines += 1
        position = i + 1
    return OK, lines, rows, queries, hards, 0


@njit(cache=True, nogil=True, inline="always")
def _word(blob, i):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def first_repeat(blob, ends, starts, together):  # type: ignore[no-untyped-def]
    """The first row whose document an earlier row of its query has too, or −1.

    starts: where each stretch of rows of one query begins, and the number of rows.
    together: the query number of each stretch if a query may have several, else an empty array; then one
    small hash table serves every stretch, because rows before the stretch count as free places.
    """
    n = len(ends)
    longest = n
    if len(together) == 0:
        longest = 0
        for s in range(len(starts) - 1):
            longest = max(longest, starts[s + 1] - starts[s])
    size = 16
    while size < 2 * longest:
        size *= 2
    table = np.full(size, -1, np.int64)
    query = np.zeros(n if len(together) else 0, np.int64)
    mask = np.uint64(size - 1)
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    for s in range(len(starts) - 1):
        oldest = starts[s] if len(together) == 0 else 0
        number = together[s] if len(together) else 0
        for row in range(starts[s], starts[s + 1]):
            start = ends[row - 1] if row > 0 else 0
            stop = ends[row]
            h = np.uint64(number)
            i = start
            while i + 8 <= stop:
                h = (h ^ _word(blob, i)) * multiplier
                h ^= h >> np.uint64(32)
                i += 8
            while i < stop:
                h = (h ^ np.uint64(blob[i])) * multiplier
                i += 1
            slot = (h ^ (h >> np.uint64(29))) & mask
            if len(together):
                query[row] = number
            while table[slot] >= oldest:
                other = table[slot]
                begin = ends[other - 1] if other > 0 else 0
                same_query = len(together) == 0 or query[other] == number
                if (
                    same_query
                    and ends[other] - begin == stop - start
                    and same(blob, begin, start, stop - start)
                ):
                    return row
                slot = (slot + np.uint64(1)) & mask
            table[slot] = row
    return -1
