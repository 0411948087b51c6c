"""Numbers with their nouns, for messages and notes."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and its noun, singular or plural.

    >>> counted(1, "query"), counted(1200, "query"), counted(2, "document")
    ('1 query', '1,200 queries', '2 documents')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"
