"""The ideal order that preferences imply: levels of documents, for measures that compare with an ideal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from topkit.data import Preference


def levels(preferences: Iterable[Preference]) -> dict[str, float]:
    """Document → the number of documents that it beats, directly or through others.

    The majority of the answers to a pair decides; an equal number, and ties, decide nothing. If A beats B, A
    has a higher level than B, unless a cycle of preferences leads back from B to A: the documents of a cycle
    have the same level. A document that beats none has level 0.

    >>> from topkit.data import Preference
    >>> levels([Preference("q", "x", "y", "a"), Preference("q", "y", "z", "a")])
    {'x': 2.0, 'y': 1.0, 'z': 0.0}
    """
    margin: Counter[tuple[str, str]] = Counter()
    documents: dict[str, None] = {}
    for answer in preferences:
        documents |= dict.fromkeys((answer.a, answer.b))
        if answer.winner is not None:
            loser = answer.b if answer.winner == answer.a else answer.a
            margin[answer.winner, loser] += 1
            margin[loser, answer.winner] -= 1
    beaten: dict[str, list[str]] = {doc: [] for doc in documents}
    for (winner, loser), count in margin.items():
        if count > 0:
            beaten[winner].append(loser)
    return {doc: float(len(_reached(doc, beaten))) for doc in documents}


def _reached(start: str, beaten: dict[str, list[str]]) -> set[str]:
    """The documents below one; in a cycle, it is among them itself, as all others of the cycle are."""
    reached: set[str] = set()
    waiting = list(beaten[start])
    while waiting:
        doc = waiting.pop()
        if doc not in reached:
            reached.add(doc)
            waiting += beaten[doc]
    return reached
