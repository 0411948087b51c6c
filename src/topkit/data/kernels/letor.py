"""The scanner of LETOR lines.

It is one flat function on purpose: what Numba compiles grows with every call, and reading is often the first
thing that a process does. Fields of a rare form are noted, and the caller reads them in Python.
"""

from __future__ import annotations

import numpy as np

from topkit.compute import Bytes, Floats32, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL
from topkit.data.kernels import BAD_INDEX, BAD_PAIR, MORE_FEATURES, MORE_NOTED, NO_QUERY, OK, UNSORTED

NEWLINE, HASH, COLON, PLUS, MINUS, DOT, ZERO, EQUALS = (ord(c) for c in "\n#:+-.0=")
SMALL_E, CAPITAL_E = ord("e"), ord("E")
DOCID = np.frombuffer(b"docid", np.uint8)
BLANK = np.array([chr(c) in " \t\r\f\v" for c in range(256)])
"""Whether a byte separates fields within a line."""
ENDS_FIELD = np.array([chr(c) in " \t\r\f\v\n#" for c in range(256)])
"""Whether a byte ends a field; a comment may follow without a space."""

LONG_INDEX = 9
"""A feature index of more digits is far beyond any limit and could overflow."""
SAFE_DIGITS = 18
"""Significant digits that always fit 64 bits."""
POWERS_OF_TEN = np.array([float(10**e) for e in range(61)])
"""10^0, 10^1, … as doubles; they are exact up to 10^22."""
SLACK = 4e-16
"""Three roundings to double (digits, power of ten, quotient) change a number by less than this share."""
LARGEST = float(np.finfo(np.float32).max)


@njit(**KERNEL, error_model="numpy")
def scan_letor(
    text: Bytes,
    X: Floats32,
    y: Floats32,
    query_starts: Ints,
    query_spans: Ints,
    ids: Bytes,
    id_ends: Ints,
    notes: Bytes,
    note_ends: Ints,
    noted: Ints,
) -> tuple[int, int, int, int, int, int]:
    """Scan whole lines into the rows of the output arrays.

    Returns (status, lines, rows, queries, marked, where): the numbers of lines, rows and changes of query,
    and the rows of ``noted`` used. After a failure, ``lines`` is the number of the line in the text (from 0)
    and ``where`` the position in the text.

    A label or value that is not a number of the usual form, or whose rounding to 32 bits is in doubt, is
    noted as (row, column, first byte, last byte) with column −1 for the label, and set to 0.
    """
    width = X.shape[1]
    lines = rows = queries = marked = id_used = note_used = i = 0
    while i < len(text):
        while BLANK[text[i]]:
            i += 1
        column = -1  # the label, then the number of columns that have a value
        while text[i] != NEWLINE and text[i] != HASH:
            if column >= 0:
                index = 0
                first = i
                while ZERO <= text[i] <= ZERO + 9:
                    index = index * 10 + (text[i] - ZERO)
                    i += 1
                if i == first or text[i] != COLON:
                    return BAD_PAIR, lines, rows, queries, marked, first
                if index == 0:
                    return BAD_INDEX, lines, rows, queries, marked, first
                if index > width or i - first > LONG_INDEX:
                    return MORE_FEATURES, lines, rows, queries, marked, first
                if index <= column:
                    return UNSORTED, lines, rows, queries, marked, first
                while column < index - 1:
                    X[rows, column] = 0.0
                    column += 1
                i += 1

            # the number [sign]digits[.digits][e[sign]digits]
            start = i
            negative = text[i] == MINUS
            if negative or text[i] == PLUS:
                i += 1
            first = i
            while text[i] == ZERO:
                i += 1
            zeros = i - first
            mantissa = exponent = 0
            first = i
            while ZERO <= text[i] <= ZERO + 9:
                mantissa = mantissa * 10 + (text[i] - ZERO)
                i += 1
            digits = i - first
            if text[i] == DOT:
                i += 1
                first = i
                if digits == 0:
                    while text[i] == ZERO:
                        i += 1
                    zeros += i - first
                significant = i
                while ZERO <= text[i] <= ZERO + 9:
                    mantissa = mantissa * 10 + (text[i] - ZERO)
                    i += 1
                digits += i - significant
                exponent = first - i
            usual = digits + zeros > 0 and digits <= SAFE_DIGITS
            if text[i] == SMALL_E or text[i] == CAPITAL_E:
                i += 1
                falling = text[i] == MINUS
                if falling or text[i] == PLUS:
                    i += 1
                power = 0
                first = i
                while ZERO <= text[i] <= ZERO + 9:
                    power = power * 10 + (text[i] - ZERO)
                    i += 1
                usual = usual and 0 < i - first < LONG_INDEX
                exponent += -power if falling else power
            value = 0.0
            if -len(POWERS_OF_TEN) < exponent <= 0:
                value = mantissa / POWERS_OF_TEN[-exponent]
            elif 0 < exponent < len(POWERS_OF_TEN):
                value = mantissa * POWERS_OF_TEN[exponent]
            else:
                usual = False
            usual = usual and value < LARGEST
            usual = usual and np.float32(value * (1.0 - SLACK)) == np.float32(value * (1.0 + SLACK))
            while not ENDS_FIELD[text[i]]:
                usual = False
                i += 1
            if not usual:
                if marked == len(noted):
                    return MORE_NOTED, lines, rows, queries, marked, start
                noted[marked, 0], noted[marked, 1], noted[marked, 2], noted[marked, 3] = (
                    rows,
                    column,
                    start,
                    i,
                )
                marked += 1
                value = 0.0
            if column >= 0:
                X[rows, column] = -value if negative else value
                column += 1
            else:
                y[rows] = -value if negative else value

            while BLANK[text[i]]:
                i += 1
            if column >= 0:
                continue

            # the query id after the label; a new one is noted
            column = 0
            first = i
            while not ENDS_FIELD[text[i]]:
                i += 1
            if not (
                i - first > 4
                and text[first] == 113
                and text[first + 1] == 105
                and text[first + 2] == 100
                and text[first + 3] == COLON
            ):  # not "qid:" with an id
                return NO_QUERY, lines, rows, queries, marked, first
            first += 4
            before = query_spans[queries - 1, 0] if queries > 0 else 0
            same = queries > 0 and query_spans[queries - 1, 1] - before == i - first
            j = first
            while same and j < i:
                same = text[j] == text[before + j - first]
                j += 1
            if not same:
                query_starts[queries], query_spans[queries, 0], query_spans[queries, 1] = rows, first, i
                queries += 1
            while BLANK[text[i]]:
                i += 1

        first = i + 1
        while text[i] != NEWLINE:
            i += 1
        if column >= 0:
            while column < width:
                X[rows, column] = 0.0
                column += 1

            # the comment "docid = ID note", or all of it is the id
            last = i
            while first < last and BLANK[text[last - 1]]:
                last -= 1
            while first < last and BLANK[text[first]]:
                first += 1
            j = 0
            while first + j < last and j < len(DOCID) and text[first + j] == DOCID[j]:
                j += 1
            named = j == len(DOCID)
            j += first
            while j < last and BLANK[text[j]]:
                j += 1
            named = named and j < last and text[j] == EQUALS
            if named:
                first = j + 1
                while first < last and BLANK[text[first]]:
                    first += 1
            while first < last and not (named and BLANK[text[first]]):
                ids[id_used] = text[first]
                id_used += 1
                first += 1
            while first < last and BLANK[text[first]]:
                first += 1
            while first < last:
                notes[note_used] = text[first]
                note_used += 1
                first += 1
            id_ends[rows], note_ends[rows] = id_used, note_used
            rows += 1
        i += 1
        lines += 1
    return OK, lines, rows, queries, marked, 0


@njit(**KERNEL)
def largest_index(text: Bytes, limit: int) -> int:
    """The largest feature index up to ``limit`` in whole lines; larger ones are left to the scanner."""
    largest = i = 0
    while i < len(text):
        while text[i] != NEWLINE and text[i] != HASH:
            index = 0
            first = i
            while ZERO <= text[i] <= ZERO + 9:
                if index <= limit:
                    index = index * 10 + (text[i] - ZERO)
                i += 1
            if i > first and text[i] == COLON and largest < index <= limit:
                largest = index
            while not ENDS_FIELD[text[i]]:
                i += 1
            while BLANK[text[i]]:
                i += 1
        while text[i] != NEWLINE:
            i += 1
        i += 1
    return largest
