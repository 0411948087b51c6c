"""Texts in CSV files that a spreadsheet must not take for formulas."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


def safe_cell(text: str) -> str:
    """The text with an apostrophe before it, if a spreadsheet would take it for a formula.

    Somebody who may name a document or themselves could otherwise run a formula in the spreadsheet of whoever
    opens the file. Numbers stay as they are.

    >>> safe_cell('=HYPERLINK("http://x")'), safe_cell("-1.5"), safe_cell("d7")
    ('\\'=HYPERLINK("http://x")', '-1.5', 'd7')
    """
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def plain_cell(text: str) -> str:
    """The text that :func:`safe_cell` has written.

    >>> [plain_cell(safe_cell(text)) for text in ("=1+1", "'=1", "'d", "-3")]
    ['=1+1', "'=1", "'d", '-3']
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
