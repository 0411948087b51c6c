"""Compiled scanners of LETOR lines and TREC runs. Each has a plain Python twin in the tests.

A scanner never raises: it returns a status and where it stopped, and the caller writes the message.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

# Statuses of a scanner; 0 is success.
OK, BAD_LABEL, NO_QUERY, BAD_PAIR, BAD_INDEX, UNSORTED, BAD_VALUE = range(7)
MORE_FEATURES, MORE_EXACT, FEW_FIELDS, BAD_SCORE = range(7, 11)
NUMBER, NOT_A_NUMBER, HARD_NUMBER = range(3)

SPACE, TAB, RETURN, NEWLINE, HASH, COLON = 32, 9, 13, 10, 35, 58
PLUS, MINUS, DOT, ZERO, NINE, EQUALS = 43, 45, 46, 48, 57, 61

LEAST_POWER, MOST_POWER = -27, 55  # where the 128-bit product below always decides the rounding


def _powers_of_five() -> Any:
    """The top 128 bits of 5^q for q in LEAST_POWER..MOST_POWER, rounded up for negative q."""
    table = np.zeros((MOST_POWER - LEAST_POWER + 1, 2), np.uint64)
    for q in range(LEAST_POWER, MOST_POWER + 1):
        power = 5 ** abs(q)
        if q < 0:
            bits = (1 << ((power - 1).bit_length() + 127)) // power + 1
        else:
            bits = (power << 128) >> power.bit_length()
        table[q - LEAST_POWER] = bits >> 64, bits & (2**64 - 1)
    return table


POWERS_OF_FIVE = _powers_of_five()
EXACT = np.uint64(1 << 53)  # up to here a whole number is a double
FLOAT32_LIMIT = float(2**128 - 2**103)  # from here on a number rounds to infinity
POWERS_OF_TEN = np.array([float(10**e) for e in range(23)])


@njit(cache=True, nogil=True, inline="always")
def _product(a, b):  # type: ignore[no-untyped-def]
    """The high and low half of the 128-bit product of two 64-bit numbers."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    cross = a1 * b0 + ((a0 * b0) >> half)
    middle = a0 * b1 + (cross & low)
    return a1 * b1 + (cross >> half) + (middle >> half), a * b


@njit(cache=True, nogil=True)
def _round_decimal(mantissa, q):  # type: ignore[no-untyped-def]
    """mantissa·10^q, correctly rounded to a double, for LEAST_POWER ≤ q ≤ MOST_POWER (Eisel and Lemire)."""
    w = np.uint64(mantissa)
    shift = 0
    while w < np.uint64(1 << 63):
        w <<= np.uint64(1)
        shift += 1
    high, low = _product(w, POWERS_OF_FIVE[q - LEAST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        correction, _ = _product(w, POWERS_OF_FIVE[q - LEAST_POWER, 1])
        low += correction
        if correction > low:
            high += np.uint64(1)
    top = int(high >> np.uint64(63))
    drop = np.uint64(top + 9)
    m = high >> drop
    if low <= np.uint64(1) and -4 <= q <= 23 and m & np.uint64(3) == np.uint64(1) and (m << drop) == high:
        m &= ~np.uint64(1)  # exactly half-way: round to even
    m = (m + (m & np.uint64(1))) >> np.uint64(1)
    exponent = ((217706 * q) >> 16) + 63 + top - shift
    return math.ldexp(float(m), exponent - 52)


@njit(cache=True, nogil=True)
def _parse_number(text, start, end):  # type: ignore[no-untyped-def]
    """A decimal number in text[start:end] → (status, value); HARD_NUMBER: valid, but leave it to Python."""
    i = start
    negative = False
    if i < end and (text[i] == MINUS or text[i] == PLUS):
        negative = text[i] == MINUS
        i += 1
    start = i
    mantissa = np.uint64(0)
    ten = np.uint64(10)
    exponent = 0
    while i < end and text[i] == ZERO:
        i += 1
    zeros = i - start
    first = i
    while i < end and ZERO <= text[i] <= NINE:
        mantissa = mantissa * ten + np.uint64(text[i] - ZERO)
        i += 1
    digits = i - first
    if i < end and text[i] == DOT:
        i += 1
        first = i
        if digits == 0:
            while i < end and text[i] == ZERO:
                i += 1
            zeros += i - first
        significant = i
        while i < end and ZERO <= text[i] <= NINE:
            mantissa = mantissa * ten + np.uint64(text[i] - ZERO)
            i += 1
        digits += i - significant
        exponent = first - i
    if digits + zeros == 0:
        return NOT_A_NUMBER, 0.0
    if i < end and (text[i] == 101 or text[i] == 69):  # e, E
        i += 1
        minus = False
        if i < end and (text[i] == MINUS or text[i] == PLUS):
            minus = text[i] == MINUS
            i += 1
        first = i
        power = 0
        while i < end and ZERO <= text[i] <= NINE:
            power = min(power * 10 + (text[i] - ZERO), 100000)
            i += 1
        if i == first:
            return NOT_A_NUMBER, 0.0
        exponent += -power if minus else power
    if i != end:
        return NOT_A_NUMBER, 0.0
    if digits > 19:
        return HARD_NUMBER, 0.0
    if mantissa == np.uint64(0):
        value = 0.0
    elif mantissa <= EXACT and -22 <= exponent <= 22:
        value = float(mantissa)
        value = value / POWERS_OF_TEN[-exponent] if exponent < 0 else value * POWERS_OF_TEN[exponent]
    elif LEAST_POWER <= exponent <= MOST_POWER:
        value = _round_decimal(mantissa, exponent)
    else:
        return HARD_NUMBER, 0.0
    return NUMBER, -value if negative else value


@njit(cache=True, nogil=True, inline="always")
def _is_blank(c):  # type: ignore[no-untyped-def]
    """What separates fields within a line: a space, tab, vertical tab, form feed or carriage return."""
    return c == SPACE or (TAB <= c <= RETURN and c != NEWLINE)


@njit(cache=True, nogil=True, inline="always")
def _ends_token(c):  # type: ignore[no-untyped-def]
    return c == SPACE or TAB <= c <= RETURN


@njit(cache=True, nogil=True, inline="always")
def _ends_field(c):  # type: ignore[no-untyped-def]
    """In LETOR lines a comment may follow a field without a space."""
    return TAB <= c <= RETURN or c in (SPACE, HASH)


@njit(cache=True, nogil=True, inline="always")
def _field_end(text, i):  # type: ignore[no-untyped-def]
    while not _ends_field(text[i]):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def _skip_blanks(text, i, end):  # type: ignore[no-untyped-def]
    while i < end and _is_blank(text[i]):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def _token_end(text, i, end):  # type: ignore[no-untyped-def]
    while i < end and not _is_blank(text[i]):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def _same(text, a, b, length):  # type: ignore[no-untyped-def]
    for i in range(length):  # noqa: SIM110 (compiled: a loop is what it becomes)
        if text[a + i] != text[b + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_missing(text, start, end):  # type: ignore[no-untyped-def]
    """Whether text[start:end] is NULL or NaN in any case."""
    if end - start == 4:
        n, u, l1, l2 = text[start] | 32, text[start + 1] | 32, text[start + 2] | 32, text[start + 3] | 32
        return n == 110 and u == 117 and l1 == 108 and l2 == 108
    if end - start == 3:
        return text[start] | 32 == 110 and text[start + 1] | 32 == 97 and text[start + 2] | 32 == 110
    return False


@njit(cache=True, nogil=True)
def _comment_parts(text, start, end):  # type: ignore[no-untyped-def]
    """Spans of the document id and of the rest in a comment: ``docid = ID rest``, or all of it is the id."""
    start = _skip_blanks(text, start, end)
    while end > start and _is_blank(text[end - 1]):
        end -= 1
    word = np.array([100, 111, 99, 105, 100], np.uint8)  # docid
    if end - start > 5:
        named = True
        for i in range(5):
            named = named and text[start + i] == word[i]
        i = _skip_blanks(text, start + 5, end)
        if named and i < end and text[i] == EQUALS:
            first = _skip_blanks(text, i + 1, end)
            last = _token_end(text, first, end)
            return first, last, _skip_blanks(text, last, end), end
    return start, end, end, end


@njit(cache=True, nogil=True, inline="always")
def _short_number(text, i):  # type: ignore[no-untyped-def]
    """The number ``digits[.digits]`` that starts at i, if it is that plain → (end, value); else end is −1.

    Nearly all numbers are, and files are made of them: one pass over the bytes, mostly one division.
    """
    negative = text[i] == MINUS
    if negative:
        i += 1
    start = i
    mantissa = np.uint64(0)
    digit = np.uint64(text[i]) - np.uint64(ZERO)
    while digit <= np.uint64(9):
        mantissa = mantissa * np.uint64(10) + digit
        i += 1
        digit = np.uint64(text[i]) - np.uint64(ZERO)
    digits = i - start
    places = 0
    if text[i] == DOT:
        i += 1
        start = i
        digit = np.uint64(text[i]) - np.uint64(ZERO)
        while digit <= np.uint64(9):
            mantissa = mantissa * np.uint64(10) + digit
            i += 1
            digit = np.uint64(text[i]) - np.uint64(ZERO)
        places = i - start
        digits += places
    if digits == 0 or digits > 19 or not _ends_field(text[i]):
        return -1, 0.0
    if mantissa <= EXACT:
        value = float(np.int64(mantissa)) / POWERS_OF_TEN[places]
    else:
        value = _round_decimal(mantissa, -places)
    return i, -value if negative else value


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
        while _is_blank(text[i]):
            i += 1
        if text[i] == NEWLINE or text[i] == HASH:
            while text[i] != NEWLINE:
                i += 1
            i += 1
            lines += 1
            continue
        first = i
        i = _field_end(text, i)
        status, value = _parse_number(text, first, i)
        if status == NOT_A_NUMBER or abs(value) >= FLOAT32_LIMIT:
            return BAD_LABEL, lines, rows, queries, hards, first
        if status == HARD_NUMBER:
            if hards == len(hard):
                return MORE_EXACT, lines, rows, queries, hards, first
            hard[hards, 0], hard[hards, 1], hard[hards, 2], hard[hards, 3] = rows, -1, first, i
            hards += 1
        y[rows] = value
        while _is_blank(text[i]):
            i += 1
        first = i
        i = _field_end(text, i)
        named = i - first > 4 and text[first] == 113 and text[first + 1] == 105 and text[first + 2] == 100
        if not (named and text[first + 3] == COLON):  # not "qid:" and something after it
            return NO_QUERY, lines, rows, queries, hards, first
        first += 4
        if i - first != last_length or not _same(text, first, last_query, last_length):
            query_starts[queries] = rows
            query_spans[queries, 0], query_spans[queries, 1] = first, i
            queries += 1
            last_query, last_length = first, i - first
        column = 0
        while True:
            while _is_blank(text[i]):
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
            i, value = _short_number(text, first)
            if i < 0:
                i = _field_end(text, first)
                status, value = _parse_number(text, first, i)
                if status == NOT_A_NUMBER:
                    if not _is_missing(text, first, i):
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
            id_first, id_last, note_first, note_last = _comment_parts(text, first, i)
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


@njit(cache=True, nogil=True)
def scan_run(text, scores, row_lines, query_starts, query_spans, docs, doc_ends, hard):  # type: ignore[no-untyped-def]
    """Scan lines ``query Q0 document rank score tag``; the outputs and the returned values are as above."""
    n = len(text)
    position = 0
    lines = rows = queries = hards = 0
    used = 0
    last_query, last_length = 0, -1
    while position < n:
        i = _skip_blanks(text, position, n)
        if text[i] == NEWLINE or text[i] == HASH:
            while text[i] != NEWLINE:
                i += 1
            position = i + 1
            lines += 1
            continue
        first = i
        while not _ends_token(text[i]):
            i += 1
        length = i - first
        if length != last_length or not _same(text, first, last_query, length):
            query_starts[queries] = rows
            query_spans[queries, 0], query_spans[queries, 1] = first, i
            queries += 1
            last_query, last_length = first, length
        for field in range(1, 6):
            while _is_blank(text[i]):
                i += 1
            if text[i] == NEWLINE:
                return FEW_FIELDS, lines, rows, queries, hards, i
            first = i
            if field == 4:
                i, value = _short_number(text, first)
                if i >= 0 and text[i] != HASH:
                    scores[rows] = value
                    continue
                i = first
            if field == 2:
                while not _ends_token(text[i]):
                    docs[used] = text[i]
                    used += 1
                    i += 1
                doc_ends[rows] = used
            else:
                while not _ends_token(text[i]):
                    i += 1
            if field == 4:
                status, value = _parse_number(text, first, i)
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
                    and _same(blob, begin, start, stop - start)
                ):
                    return row
                slot = (slot + np.uint64(1)) & mask
            table[slot] = row
    return -1
