"""Words of messages: a number with its noun, and names looked up with the nearest one as a suggestion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from topkit.data.errors import InputError

T = TypeVar("T")


def counted(number: int, noun: str) -> str:
    """A number and its noun, singular or plural.

    >>> counted(1, "query"), counted(1200, "query"), counted(2, "document")
    ('1 query', '1,200 queries', '2 documents')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"


def lookup(registry: Mapping[str, T], name: str, what: str) -> T:
    """``registry[name]``, or an InputError that suggests the nearest name: ``unknown ranker 'lisnet'``."""
    if name not in registry:
        raise InputError(
            f"unknown {what} {name!r}", suggestion(name, registry, f"choose from {', '.join(registry)}")
        )
    return registry[name]


def suggestion(word: str, names: Iterable[str], otherwise: str) -> str:
    """``did you mean 'listnet'?`` if a name is near the word (in any case), else ``otherwise``.

    >>> suggestion("ListNt", ["listmle", "listnet"], "choose one")
    "did you mean 'listnet'?"
    """
    from difflib import get_close_matches  # here, because only errors need it

    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(str(word).lower(), list(by_lower), 1)
    return f"did you mean {by_lower[near[0]]!r}?" if near else otherwise
