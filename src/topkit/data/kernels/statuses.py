"""What a scanner returns. 0 is success."""

from __future__ import annotations

OK, BAD_LABEL, NO_QUERY, BAD_PAIR, BAD_INDEX, UNSORTED, BAD_VALUE = range(7)
MORE_FEATURES, MORE_EXACT, FEW_FIELDS, BAD_SCORE = range(7, 11)
