"""The scanner of LETOR lines."""

from __future__ import annotations

import numpy as np
from numba import njit

from topkit.data.kernels.bytes_and_tokens import (
    COLON,
    EQUALS,
    HASH,
    NEWLINE,
    ZERO,
    field_end,
    is_blank,
    same,
    skip_blanks,
    token_end,
)
from topkit.data.kernels.numbers import FLOAT32_LIMIT, HARD_NUMBER, NOT_A_NUMBER, parse_number, short_number
from topkit.data.kernels.statuses import (
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


@njit(cache=True, nogil=True)
def is_missing(text, start, end):  # type: ignore[no-untyped-def]
    """Whether text[start:end] is NULL or NaN in any case."""
    if end - start == 4:
        n, u, l1, l2 = text[start] | 32, text[start + 1] | 32, text[start + 2] | 32, text[start + 3] | 32
        return n == 110 and u == 117 and l1 == 108 and l2 == 108
    if end - start == 3:
        return text[start] | 32 == 110 and text[start + 1] | 32 == 97 and text[start + 2] | 32 == 110
    return False


@njit(cache=True, nogil=True)
def comment_parts(text, start, end):  # type: ignore[no-untyped-def]
    """Spans of the document id and of the rest in a comment: ``docid = ID rest``, or all of it is the id."""
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


@njit(cache=True, nogil=True)
def scan_letor(text, X, y, query_starts, query_spans, ids, id_ends, notes, note_ends, hard):  # type: ignore[no-untyped-def]
    """Scan whole lines into the rows of the output arrays.

    Returns (status, lines, rows, queries, hards, where): how many lines, rows, changes of query and hard
    numbers were seen; after a failure ``lines`` is the line's number in the text (from 0) and ``where`` the
    place in it.
    """
    width = X.shape[1]
    n = len(text)
    i = 0
    lines = rows = queries = hards = 0
    id_used = note_used = 0
    last_query, last_length = 0, -1
    while i < n:
        while is_blank(text[i]):
            i += 1
        if text[i] == NEWLINE or text[i] == HASH:
            while text[i] != NEWLINE:
                i += 1
            i += 1
            lines += 1
            continue
        first = i
        i = field_end(text, i)
        status, value = parse_number(text, first, i)
        if status == NOT_A_NUMBER or abs(value) >= FLOAT32_LIMIT:
            return BAD_LABEL, lines, rows, queries, hards, first
        if status == HARD_NUMBER:
            if hards == len(hard):
                return MORE_EXACT, lines, rows, queries, hards, first
            hard[hards, 0], hard[hards, 1], hard[hards, 2], hard[hards, 3] = rows, -1, first, i
            hards += 1
        y[rows] = value
        while is_blank(text[i]):
            i += 1
        first = i
        i = field_end(text, i)
        named = i - first > 4 and text[first] == 113 and text[first + 1] == 105 and text[first + 2] == 100
        if not (named and text[first + 3] == COLON):  # not "qid:" and something after it
            return NO_QUERY, lines, rows, queries, hards, first
        first += 4
        if i - first != last_length or not same(text, first, last_query, last_length):
            query_starts[queries] = rows
            query_spans[queries, 0], query_spans[queries, 1] = first, i
            queries += 1
            last_query, last_length = first, i - first
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
                return BAD_PAIR, lines, rows, queries, hards, first
            if i - first > 9:  # before it could overflow
                index = 1 << 40
            if index == 0:
                return BAD_INDEX, lines, rows, queries, hards, first
            if index > width:
                return MORE_FEATURES, lines, rows, queries, hards, first
            if index <= column:
                return UNSORTED, lines, rows, queries, hards, first
            first = i + 1
            i, value = short_number(text, first)
            if i < 0:
                i = field_end(text, first)
                status, value = parse_number(text, first, i)
                if status == NOT_A_NUMBER:
                    if not is_missing(text, first, i):
                        return BAD_VALUE, lines, rows, queries, hards, first
                    value = np.nan
                elif abs(value) >= FLOAT32_LIMIT:
                    return BAD_VALUE, lines, rows, queries, hards, first
                elif status == HARD_NUMBER:
                    if hards == len(hard):
                        return MORE_EXACT, lines, rows, queries, hards, first
                    hard[hards, 0], hard[hards, 1], hard[hards, 2], hard[hards, 3] = rows, index - 1, first, i
                    hards += 1
            for gap in range(column, index - 1):
                X[rows, gap] = 0.0
            X[rows, index - 1] = value
            column = index
        for gap in range(column, width):
            X[rows, gap] = 0.0
        if text[i] == HASH:
            first = i + 1
            while text[i] != NEWLINE:
                i += 1
            id_first, id_last, note_first, note_last = comment_parts(text, first, i)
            for j in range(id_first, id_last):
                ids[id_used] = text[j]
                id_used += 1
            for j in range(note_first, note_last):
                notes[note_used] = text[j]
                note_used += 1
        id_ends[rows] = id_used
        note_ends[rows] = note_used
        rows += 1
        lines += 1
        i += 1
    return OK, lines, rows, queries, hards, 0
