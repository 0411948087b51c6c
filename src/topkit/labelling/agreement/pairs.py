"""Pairs of documents with the answer of each assessor: asked, implied, or inferred from grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from topkit.data.judgments import Answer, Grade, Preference
from topkit.labelling.known import Known

FIRST, TIE, SECOND = 0, 1, 2
"""A ≻ B, A ∼ B, A ≺ B."""
ANSWER_OF: tuple[Answer, ...] = ("a", "tie", "b")
"""The answers that mean FIRST, TIE and SECOND."""


class Pair(NamedTuple):
    """Two documents of a query, in the order in which the pair occurred first."""

    query: str
    a: str
    b: str


JudgedPairs = dict[Pair, dict[str, int]]
"""Pair → assessor → FIRST, TIE or SECOND: one rating per assessor and pair, as agreement needs it."""


def pairs_judged(preferences: Iterable[Preference]) -> JudgedPairs:
    """The last rating of each assessor for each pair.

    Two documents are the same pair in either order; a "bad" mark is a loss. Repeated answers of one assessor
    say nothing about the agreement between assessors, so only the last one counts.

    >>> answers = [("x", "y", "b", "ann"), ("y", "x", "bad-a", "bob"), ("y", "x", "b", "ann")]
    >>> pairs_judged(Preference("q", a, b, answer, who) for a, b, answer, who in answers)
    {Pair(query='q', a='x', b='y'): {'ann': 0, 'bob': 0}}
    """
    judged: JudgedPairs = {}
    for preference in preferences:
        pair = Pair(preference.query, preference.a, preference.b)
        swapped = Pair(preference.query, preference.b, preference.a)
        pair = swapped if swapped in judged else pair
        judged.setdefault(pair, {})[preference.assessor] = outcome(preference, pair.a)
    return judged


def outcome(preference: Preference, a: str) -> int:
    """FIRST if document ``a`` of the pair is preferred, SECOND if the other is, or TIE."""
    if preference.winner is None:
        return TIE
    return FIRST if preference.winner == a else SECOND


def pairs_by_grades(grades: Iterable[Grade]) -> JudgedPairs:
    """The preferences that grades imply: the document with the higher grade, or a tie.

    If an assessor graded a document more than once, the last grade counts.
    """
    by_session: dict[tuple[str, str], dict[str, float]] = {}
    position: dict[str, dict[str, int]] = {}
    for grade in grades:
        by_session.setdefault((grade.query, grade.assessor), {})[grade.doc] = grade.grade
        documents = position.setdefault(grade.query, {})
        documents.setdefault(grade.doc, len(documents))
    judged: JudgedPairs = {}
    for (query, assessor), by_doc in by_session.items():
        for a, b in combinations(sorted(by_doc, key=position[query].__getitem__), 2):
            preferred = TIE if by_doc[a] == by_doc[b] else FIRST if by_doc[a] > by_doc[b] else SECOND
            judged.setdefault(Pair(query, a, b), {})[assessor] = preferred
    return judged


def implied_preferences(preferences: Iterable[Preference]) -> list[Preference]:
    """The preferences that each assessor's answers to a query state or imply, one per pair.

    A labelling rarely asks two assessors the same pairs, but what their answers imply can be compared. If an
    assessor judged a pair more than once, the last answer counts. An answer counts as given even if it
    contradicts what the other answers imply.
    """
    sessions: dict[tuple[str, str], dict[frozenset[str], Preference]] = {}
    for preference in preferences:
        session = sessions.setdefault((preference.query, preference.assessor), {})
        session[frozenset((preference.a, preference.b))] = preference
    return [
        preference
        for (query, assessor), last in sessions.items()
        for preference in _stated_or_implied(query, assessor, last)
    ]


def _stated_or_implied(
    query: str, assessor: str, last: dict[frozenset[str], Preference]
) -> Iterator[Preference]:
    documents = list(dict.fromkeys(doc for answer in last.values() for doc in (answer.a, answer.b)))
    number = {doc: i for i, doc in enumerate(documents)}
    known = Known(len(documents))
    for answer in last.values():
        known.record(number[answer.a], number[answer.b], answer.answer)
    for a, b in combinations(documents, 2):
        stated = last.get(frozenset((a, b)))
        relation: Answer | None = known.relation(number[a], number[b])
        if stated is not None:
            relation = ANSWER_OF[outcome(stated, a)]
        if relation is not None:
            yield Preference(query, a, b, relation, assessor)
