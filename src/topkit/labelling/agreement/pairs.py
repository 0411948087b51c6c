"""Pairs of documents with the answer of each assessor: asked, implied, or inferred from grades."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from topkit.data.judgments import Answer, Grade, Preference
from topkit.labelling.known import Known

FIRST, TIE, SECOND = 0, 1, 2
"""A ≻ B, A ∼ B, A ≺ B."""


class Pair(NamedTuple):
    """Two documents of a query, in the order in which the pair occurred first."""

    query: str
    a: str
    b: str


JudgedPairs = dict[Pair, list[tuple[str, int]]]
"""Pair → (assessor, FIRST, TIE or SECOND), in the order given."""


def pairs_judged(preferences: Iterable[Preference]) -> JudgedPairs:
    """Preferences by pair. Two documents are the same pair in either order; a "bad" mark is a loss.

    >>> pairs_judged([Preference("q", "x", "y", "a", "ann"), Preference("q", "y", "x", "bad-a", "bob")])
    {Pair(query='q', a='x', b='y'): [('ann', 0), ('bob', 0)]}
    """
    judged: JudgedPairs = {}
    for preference in preferences:
        pair = Pair(preference.query, preference.a, preference.b)
        swapped = Pair(preference.query, preference.b, preference.a)
        pair = swapped if swapped in judged else pair
        judged.setdefault(pair, []).append((preference.assessor, outcome(preference, pair.a)))
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
            judged.setdefault(Pair(query, a, b), []).append((assessor, preferred))
    return judged


def implied_preferences(preferences: Iterable[Preference]) -> list[Preference]:
    """The preferences that each assessor's answers to a query state or imply, one per pair.

    A labelling rarely asks two assessors the same pairs, but what their answers imply can be compared.
    """
    sessions: dict[tuple[str, str], list[Preference]] = {}
    for preference in preferences:
        sessions.setdefault((preference.query, preference.assessor), []).append(preference)
    implied: list[Preference] = []
    for (query, assessor), answers in sessions.items():
        documents = list(dict.fromkeys(doc for answer in answers for doc in (answer.a, answer.b)))
        number = {doc: i for i, doc in enumerate(documents)}
        known = Known(len(documents))
        for answer in answers:
            known.record(number[answer.a], number[answer.b], answer.answer)
        for a, b in combinations(documents, 2):
            relation: Answer | None = known.relation(number[a], number[b])
            if relation is not None:
                implied.append(Preference(query, a, b, relation, assessor))
    return implied
