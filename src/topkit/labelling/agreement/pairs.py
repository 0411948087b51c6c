"""Pairs of documents with what each assessor said of them: asked, implied, or inferred from grades."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from topkit.data.judgments import Answer, Grade, Preference
from topkit.labelling.known import Known

FIRST, TIE, SECOND = 0, 1, 2
"""A ≻ B, A ∼ B, A ≺ B."""


class Pair(NamedTuple):
    """Two documents of a query, in the order in which the pair was first met."""

    query: str
    a: str
    b: str


JudgedPairs = dict[Pair, list[tuple[str, int]]]
"""Pair → (assessor, FIRST, TIE or SECOND), in the order given."""


def pairs_judged(preferences: Iterable[Preference]) -> JudgedPairs:
    """Preferences by pair. The same two documents are one pair however they were shown; "bad" is a loss.

    >>> pairs_judged([Preference("q", "x", "y", "a", "ann"), Preference("q", "y", "x", "bad-a", "bob")])
    {Pair(query='q', a='x', b='y'): [('ann', 0), ('bob', 0)]}
    """
    found: JudgedPairs = {}
    for preference in preferences:
        pair = Pair(preference.query, preference.a, preference.b)
        turned = Pair(preference.query, preference.b, preference.a)
        pair = turned if turned in found else pair
        said = TIE if preference.winner is None else FIRST if preference.winner == pair.a else SECOND
        found.setdefault(pair, []).append((preference.assessor, said))
    return found


def pairs_by_grades(grades: Iterable[Grade]) -> JudgedPairs:
    """The preferences that grades imply: the document with the higher grade, or a tie.

    Where an assessor graded a document twice, the last grade counts.
    """
    given: dict[tuple[str, str], dict[str, float]] = {}
    seen: dict[str, dict[str, int]] = {}
    for grade in grades:
        given.setdefault((grade.query, grade.assessor), {})[grade.doc] = grade.grade
        documents = seen.setdefault(grade.query, {})
        documents.setdefault(grade.doc, len(documents))
    found: JudgedPairs = {}
    for (query, assessor), by_doc in given.items():
        for a, b in combinations(sorted(by_doc, key=seen[query].__getitem__), 2):
            said = TIE if by_doc[a] == by_doc[b] else FIRST if by_doc[a] > by_doc[b] else SECOND
            found.setdefault(Pair(query, a, b), []).append((assessor, said))
    return found


def implied_preferences(preferences: Iterable[Preference]) -> list[Preference]:
    """All that each assessor's answers to a query say or imply, one preference a pair.

    Two assessors are rarely asked the same pairs by a labelling; what their answers imply can be compared.
    """
    sessions: dict[tuple[str, str], list[Preference]] = {}
    for preference in preferences:
        sessions.setdefault((preference.query, preference.assessor), []).append(preference)
    found: list[Preference] = []
    for (query, assessor), answers in sessions.items():
        documents = list(dict.fromkeys(doc for answer in answers for doc in (answer.a, answer.b)))
        number = {doc: i for i, doc in enumerate(documents)}
        known = Known(len(documents))
        for answer in answers:
            known.record(number[answer.a], number[answer.b], answer.answer)
        for a, b in combinations(documents, 2):
            relation: Answer | None = known.relation(number[a], number[b])
            if relation is not None:
                found.append(Preference(query, a, b, relation, assessor))
    return found
