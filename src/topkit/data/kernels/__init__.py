"""Compiled scanners of LETOR lines and TREC runs. Each has a plain Python twin in the tests.

A scanner never raises. It returns a status and the position where it stopped, and the caller writes the
message. The statuses are here, because this file does not import Numba.
"""

from __future__ import annotations

OK, BAD_LABEL, NO_QUERY, BAD_PAIR, BAD_INDEX, UNSORTED, BAD_VALUE, FEW_FIELDS, BAD_SCORE = range(9)
"""Status of a scan: success, or the problem of the line where the scanner stopped."""

MORE_FEATURES, MORE_NOTED = range(9, 11)
"""The matrix has too few columns, or the array of noted fields too few rows: give more and scan again."""
