"""Bytes, fields and decimal numbers in text.

Numbers are rounded correctly by a 128-bit product (Eisel and Lemire); the few it cannot decide are marked.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Bytes, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

SPACE, TAB, RETURN, NEWLINE, HASH = 32, 9, 13, 10, 35
PLUS, MINUS, DOT, ZERO, SMALL_E, CAPITAL_E = 43, 45, 46, 48, 101, 69

NUMBER, NOT_A_NUMBER, HARD_NUMBER = range(3)
"""The results of :func:`parse_number`; a hard number is valid, but Python must round it."""

LEAST_POWER, MOST_POWER = -27, 55
"""Powers of ten for which the 128-bit product always decides the rounding."""
EXACT = np.uint64(1 << 53)
"""Integers up to this are doubles."""
FLOAT32_LIMIT = float(2**128 - 2**103)
"""From this size on a number rounds to infinity in 32 bits."""
POWERS_OF_TEN = np.array([float(10**e) for e in range(23)])
"""The powers of ten that are doubles."""
MANY_DIGITS = 19
"""More digits than this may overflow 64 bits."""


def _powers_of_five() -> NDArray[np.uint64]:
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


# -- fields ------------------------------------------------------------------------------------------------
@njit(**KERNEL, forceinline=True)
def is_blank(c: int) -> bool:
    """Whether a byte separates fields within a line: space, tab, vertical tab, form feed, carriage return."""
    return c == SPACE or (TAB <= c <= RETURN and c != NEWLINE)


@njit(**KERNEL, forceinline=True)
def ends_token(c: int) -> bool:
    """Whether a byte ends a field of a TREC run."""
    return c == SPACE or TAB <= c <= RETURN


@njit(**KERNEL, forceinline=True)
def ends_field(c: int) -> bool:
    """Whether a byte ends a field that a comment may follow without a space."""
    return TAB <= c <= RETURN or c in (SPACE, HASH)


@njit(**KERNEL, forceinline=True)
def line_end(text: Bytes, i: int) -> int:
    """Where the line ends; every text ends with a newline."""
    while text[i] != NEWLINE:
        i += 1
    return i


@njit(**KERNEL, forceinline=True)
def skip_blanks(text: Bytes, i: int, end: int) -> int:
    """The first byte from i on that is not blank, or ``end``."""
    while i < end and is_blank(text[i]):
        i += 1
    return i


@njit(**KERNEL, forceinline=True)
def same(text: Bytes, a: int, b: int, length: int) -> bool:
    """Whether the bytes from a and from b on are equal."""
    for i in range(length):  # noqa: SIM110 - compiled to a loop in any case
        if text[a + i] != text[b + i]:
            return False
    return True


@njit(**KERNEL, forceinline=True)
def note_query(text: Bytes, first: int, end: int, row: int, starts: Ints, spans: Ints, queries: int) -> int:
    """Note a query id that differs from the one before; returns the number of changes of query so far."""
    last = queries - 1
    if last >= 0:
        length = spans[last, 1] - spans[last, 0]
        if end - first == length and same(text, first, spans[last, 0], length):
            return queries
    starts[queries] = row
    spans[queries, 0], spans[queries, 1] = first, end
    return queries + 1


@njit(**KERNEL, forceinline=True)
def mark_exact(exact: Ints, used: int, row: int, column: int, first: int, last: int) -> int:
    """Note that Python must round text[first:last]; returns how many rows of ``exact`` are used."""
    exact[used, 0], exact[used, 1], exact[used, 2], exact[used, 3] = row, column, first, last
    return used + 1


# -- numbers -----------------------------------------------------------------------------------------------
@njit(**KERNEL, forceinline=True)
def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The high and low half of the 128-bit product of two 64-bit numbers."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    cross = a1 * b0 + ((a0 * b0) >> half)
    middle = a0 * b1 + (cross & low)
    return a1 * b1 + (cross >> half) + (middle >> half), a * b


@njit(**KERNEL)
def round_decimal(mantissa: np.uint64, q: int) -> float:
    """mantissa·10^q, correctly rounded to a double, for LEAST_POWER ≤ q ≤ MOST_POWER (Eisel and Lemire)."""
    w = np.uint64(mantissa)
    shift = 0
    while w < np.uint64(1 << 63):
        w <<= np.uint64(1)
        shift += 1
    high, low = product(w, POWERS_OF_FIVE[q - LEAST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        correction, _ = product(w, POWERS_OF_FIVE[q - LEAST_POWER, 1])
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


@njit(**KERNEL, forceinline=True)
def read_digits(text: Bytes, i: int, mantissa: np.uint64) -> tuple[int, np.uint64]:
    """The end of the digits at i, and the mantissa continued by them."""
    digit = np.uint64(text[i]) - np.uint64(ZERO)
    while digit <= np.uint64(9):
        mantissa = mantissa * np.uint64(10) + digit
        i += 1
        digit = np.uint64(text[i]) - np.uint64(ZERO)
    return i, mantissa


@njit(**KERNEL, forceinline=True)
def read_sign(text: Bytes, i: int) -> tuple[int, bool]:
    """Where the number after an optional sign starts, and whether it is negative."""
    if text[i] == MINUS or text[i] == PLUS:
        return i + 1, text[i] == MINUS
    return i, False


@njit(**KERNEL, forceinline=True)
def skip_zeros(text: Bytes, i: int) -> int:
    """The first byte from i on that is not a zero."""
    while text[i] == ZERO:
        i += 1
    return i


@njit(**KERNEL)
def read_exponent(text: Bytes, i: int) -> tuple[int, int]:
    """The end and the value of the exponent at i, after the ``e``; the end is −1 if there are no digits."""
    i, minus = read_sign(text, i)
    first = i
    power = 0
    while np.uint64(text[i]) - np.uint64(ZERO) <= np.uint64(9):
        power = min(power * 10 + (text[i] - ZERO), 100000)
        i += 1
    return -1 if i == first else i, -power if minus else power


@njit(**KERNEL)
def parse_number(text: Bytes, start: int, end: int) -> tuple[int, float]:
    """The decimal number text[start:end], which a byte other than a digit follows: (status, value)."""
    i, negative = read_sign(text, start)
    first = i
    i = skip_zeros(text, i)
    zeros = i - first
    first = i
    i, mantissa = read_digits(text, i, np.uint64(0))
    digits = i - first
    exponent = 0
    if text[i] == DOT:
        i += 1
        first = i
        if digits == 0:
            i = skip_zeros(text, i)
            zeros += i - first
        significant = i
        i, mantissa = read_digits(text, i, mantissa)
        digits += i - significant
        exponent = first - i
    if digits + zeros == 0:
        return NOT_A_NUMBER, 0.0
    if i < end and (text[i] == SMALL_E or text[i] == CAPITAL_E):
        i, power = read_exponent(text, i + 1)
        exponent += power
    if i != end:
        return NOT_A_NUMBER, 0.0
    if digits > MANY_DIGITS:
        return HARD_NUMBER, 0.0
    if mantissa == np.uint64(0):
        value = 0.0
    elif mantissa <= EXACT and -22 <= exponent <= 22:
        value = float(mantissa)
        value = value / POWERS_OF_TEN[-exponent] if exponent < 0 else value * POWERS_OF_TEN[exponent]
    elif LEAST_POWER <= exponent <= MOST_POWER:
        value = round_decimal(mantissa, exponent)
    else:
        return HARD_NUMBER, 0.0
    return NUMBER, -value if negative else value


@njit(**KERNEL, forceinline=True)
def short_number(text: Bytes, i: int) -> tuple[int, float]:
    """The number ``digits[.digits]`` at i: (end, value), or an end of −1 for any other form.

    Nearly all numbers in files have this form, so it has a fast path: one pass over the bytes and mostly one
    division.
    """
    negative = text[i] == MINUS
    if negative:
        i += 1
    first = i
    i, mantissa = read_digits(text, i, np.uint64(0))
    digits = i - first
    places = 0
    if text[i] == DOT:
        first = i + 1
        i, mantissa = read_digits(text, first, mantissa)
        places = i - first
        digits += places
    if digits == 0 or digits > MANY_DIGITS or not ends_field(text[i]):
        return -1, 0.0
    if mantissa <= EXACT:
        value = float(np.int64(mantissa)) / POWERS_OF_TEN[places]
    else:
        value = round_decimal(mantissa, -places)
    return i, -value if negative else value
