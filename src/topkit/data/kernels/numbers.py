"""Decimal numbers in text, correctly rounded by a 128-bit product (Eisel and Lemire), but for a few."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from topkit.data.kernels.bytes_and_tokens import DOT, MINUS, NINE, PLUS, ZERO, ends_field

NUMBER, NOT_A_NUMBER, HARD_NUMBER = range(3)

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
def product(a, b):  # type: ignore[no-untyped-def]
    """The high and low half of the 128-bit product of two 64-bit numbers."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    cross = a1 * b0 + ((a0 * b0) >> half)
    middle = a0 * b1 + (cross & low)
    return a1 * b1 + (cross >> half) + (middle >> half), a * b


@njit(cache=True, nogil=True)
def round_decimal(mantissa, q):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def parse_number(text, start, end):  # type: ignore[no-untyped-def]
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
        value = round_decimal(mantissa, exponent)
    else:
        return HARD_NUMBER, 0.0
    return NUMBER, -value if negative else value


@njit(cache=True, nogil=True, inline="always")
def short_number(text, i):  # type: ignore[no-untyped-def]
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
    if digits == 0 or digits > 19 or not ends_field(text[i]):
        return -1, 0.0
    if mantissa <= EXACT:
        value = float(np.int64(mantissa)) / POWERS_OF_TEN[places]
    else:
        value = round_decimal(mantissa, -places)
    return i, -value if negative else value
