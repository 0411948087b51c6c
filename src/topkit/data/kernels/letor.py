"""The scanner of LETOR lines."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.data.kernels import (
    BAD_INDEX,
    BAD_LABEL,
    BAD_PAIR,
    BAD_VALUE,
    MORE_EXACT,
    MORE_FEATURES,
    NO_QUERY,
    OK,
    UNSORTED,
)
from topkit.data.kernels.text import (
    COLON,
    EQUALS,
    FLOAT32_LIMIT,
    HARD_NUMBER,
    HASH,
    NEWLINE,
    NOT_A_NUMBER,
    ZERO,
    Bytes,
    Ints,
    field_end,
    is_blank,
    line_end,
    mark_exact,
    note_query,
    parse_number,
    short_number,
    skip_blanks,
    token_end,
)

Floats = NDArray[np.float32]

LONG_INDEX = 9
"""A feature index of more digits is far beyond any limit and could overflow."""


@njit(cache=True, nogil=True)
def is_missing(text: Bytes, start: int, end: int) -> bool:
    """Whether text[start:end] is NULL or NaN in any case."""
    if end - start == 4:
        n, u, l1, l2 = text[start] | 32, text[start + 1] | 32, text[start + 2] | 32, text[start + 3] | 32
        return bool(n == 110 and u == 117 and l1 == 108 and l2 == 108)
    if end - start == 3:
        return bool(text[start] | 32 == 110 and text[start + 1] | 32 == 97 and text[start + 2] | 32 == 110)
    return False


@njit(cache=True, nogil=True)
def comment_parts(text: Bytes, start: int, end: int) -> tuple[int, int, int, int]:
    """Spans of the document id and of the note in a comment: ``docid = ID note``, or all of it is the id."""
    start = skip_blanks(text, start, end)
    while end > start and is_blank(text[end - 1]):
        end -= 1
    word = np.array([100, 111, 99, 105, 100], np.uint8)  # docid
    if end - start > 5:
        named = True
        for i in range(5):
            named = named and text[start + i] == word[i]
        i = skip_blanks(text, start + 5, end)
        if named and i < end and text[i] == EQUALS:
            first = skip_blanks(text, i + 1, end)
            last = token_end(text, first, end)
            return first, last, skip_blanks(text, last, end), end
    return start, end, end, end


@njit(cache=True, nogil=True, inline="always")
def append(blob: Bytes, used: int, text: Bytes, first: int, last: int) -> int:
    """Copy text[first:last] to the end of the used part of ``blob``; returns how much is used then."""
    for j in range(first, last):
        blob[used] = text[j]
        used += 1
    return used


@njit(cache=True, nogil=True)
def scan_features(text: Bytes, i: int, X: Floats, row: int, exact: Ints, marked: int) -> tuple[int, int, int]:
    """Scan ``index:value …`` from i to the end of the line or its comment into a row of X.

    Returns (status, position, rows of ``exact`` used); the position is that of the end, or of the failure.
    """
    width = X.shape[1]
    column = 0
    while True:
        while is_blank(text[i]):
            i += 1
        if text[i] == NEWLINE or text[i] == HASH:
            break
        index = 0
        first = i
        digit = np.uint64(text[i]) - np.uint64(ZERO)
        while digit <= np.uint64(9):
            index = index * 10 + int(digit)
            i += 1
            digit = np.uint64(text[i]) - np.uint64(ZERO)
        if i == first or text[i] != COLON:
            return BAD_PAIR, first, marked
        if i - first > LONG_INDEX:
            index = 1 << 40
        if index == 0:
            return BAD_INDEX, first, marked
        if index > width:
            return MORE_FEATURES, first, marked
        if index <= column:
            return UNSORTED, first, marked
        first = i + 1
        i, value = short_number(text, first)
        if i < 0:
            i = field_end(text, first)
            status, value = parse_number(text, first, i)
            if status == NOT_A_NUMBER:
                if not is_missing(text, first, i):
                    return BAD_VALUE, first, marked
                value = np.nan
            elif abs(value) >= FLOAT32_LIMIT:
                return BAD_VALUE, first, marked
            elif status == HARD_NUMBER:
                if marked == len(exact):
                    return MORE_EXACT, first, marked
                marked = mark_exact(exact, marked, row, index - 1, first, i)
        for gap in range(column, index - 1):
            X[row, gap] = 0.0
        X[row, index - 1] = value
        column = index
    for gap in range(column, width):
        X[row, gap] = 0.0
    return OK, i, marked


@njit(cache=True, nogil=True)
def largest_index(text: Bytes, limit: int) -> int:
    """The largest feature index up to ``limit`` in whole lines; larger ones are left to the scanner."""
    largest = 0
    i = 0
    while i < len(text):
        while text[i] != NEWLINE and text[i] != HASH:
            index = 0
            first = i
            while ZERO <= text[i] <= ZERO + 9:
                index = min(index * 10 + (text[i] - ZERO), limit + 1)
                i += 1
            if i > first and text[i] == COLON and index <= limit:
                largest = max(largest, index)
            i = field_end(text, i)
            while is_blank(text[i]):
                i += 1
        i = line_end(text, i) + 1
    return largest


@njit(cache=True, nogil=True)
def scan_letor(
    text: Bytes,
    X: Floats,
    y: Floats,
    query_starts: Ints,
    query_spans: Ints,
    ids: Bytes,
    id_ends: Ints,
    notes: Bytes,
    note_ends: Ints,
    exact: Ints,
) -> tuple[int, int, int, int, int, int]:
    """Scan whole lines into the rows of the output arrays.

    Returns (status, lines, rows, queries, marked, where): the numbers of lines, rows and changes of query,
    and the rows of ``exact`` used. After a failure, ``lines`` is the number of the line in the text (from 0)
    and ``where`` the position in the text.
    """
    i = 0
    lines = rows = queries = marked = 0
    id_used = note_used = 0
    while i < len(text):
        while is_blank(text[i]):
            i += 1
        if text[i] == NEWLINE or text[i] == HASH:
            i = line_end(text, i) + 1
            lines += 1
            continue
        first = i
        i = field_end(text, i)
        status, value = parse_number(text, first, i)
        if status == NOT_A_NUMBER or abs(value) >= FLOAT32_LIMIT:
            return BAD_LABEL, lines, rows, queries, marked, first
        if status == HARD_NUMBER:
            if marked == len(exact):
                return MORE_EXACT, lines, rows, queries, marked, first
            marked = mark_exact(exact, marked, rows, -1, first, i)
        y[rows] = value
        while is_blank(text[i]):
            i += 1
        first = i
        i = field_end(text, i)
        named = i - first > 4 and text[first] == 113 and text[first + 1] == 105 and text[first + 2] == 100
        if not (named and text[first + 3] == COLON):  # not "qid:" with an id
            return NO_QUERY, lines, rows, queries, marked, first
        first += 4
        queries = note_query(text, first, i, rows, query_starts, query_spans, queries)
        status, i, marked = scan_features(text, i, X, rows, exact, marked)
        if status != OK:
            return status, lines, rows, queries, marked, i
        if text[i] == HASH:
            first, i = i + 1, line_end(text, i)
            id_first, id_last, note_first, note_last = comment_parts(text, first, i)
            id_used = append(ids, id_used, text, id_first, id_last)
            note_used = append(notes, note_used, text, note_first, note_last)
        id_ends[rows], note_ends[rows] = id_used, note_used
        rows += 1
        lines += 1
        i += 1
    return OK, lines, rows, queries, marked, 0
