"""How consistent each assessor is: agreement with the others, circles, leanings, pace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from math import isnan
from statistics import median
from typing import NamedTuple

from topkit.data.judgments import Preference
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, JudgedPairs, pairs_judged


class Triads(NamedTuple):
    """Three documents of which one assessor judged all three pairs."""

    complete: int
    circles: int
    """a ≻ b ≻ c ≻ a."""
    violations: int
    """Circles, and triads that a tie breaks: a ∼ b ∼ c but a ≻ c, or a ≻ b ∼ c but not a ≻ c."""


class Quality(NamedTuple):
    """What the judgments tell of one assessor; shares are NaN where there is nothing to count."""

    judgments: int
    agreement: float
    """Share of the other assessors' answers to the same pairs that are the same."""
    agreement_without_ties: float
    with_majority: float
    """Share of pairs where the answer is the most frequent of the others' (ties in the vote left out)."""
    tie_share: float
    left_share: float
    """Share of preferences for the document shown first: far from ½ means a leaning."""
    repeats_same: float
    """Share of pairs judged again that got the same answer."""
    triads: Triads
    median_seconds: float


def intransitive(preferences: Iterable[Preference]) -> Triads:
    """Triads within one assessor and query that contradict themselves, over all assessors and queries.

    >>> ring = [Preference("q", a, b, "a", "ann") for a, b in ("xy", "yz", "zx")]
    >>> intransitive(ring)
    Triads(complete=1, circles=1, violations=1)
    """
    sessions: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for preference in preferences:
        said = TIE if preference.winner is None else FIRST if preference.winner == preference.a else SECOND
        table = sessions.setdefault((preference.assessor, preference.query), {})
        table[preference.a, preference.b], table[preference.b, preference.a] = said, SECOND - said
    complete = circles = violations = 0
    for table in sessions.values():
        neighbours: dict[str, set[str]] = {}
        for a, b in table:
            neighbours.setdefault(a, set()).add(b)
        rank = {doc: i for i, doc in enumerate(neighbours)}
        for a, b in table:
            for c in neighbours[a] & neighbours[b] if rank[a] < rank[b] else ():
                if rank[b] < rank[c]:
                    complete += 1
                    circle, broken = _contradicts(table[a, b], table[b, c], table[c, a])
                    circles += circle
                    violations += broken
    return Triads(complete, circles, violations)


def _contradicts(*around: int) -> tuple[bool, bool]:
    """(a circle, any contradiction) for what was said of (a, b), (b, c), (c, a).

    Going round, wins and losses must both occur, or all three be ties.
    """
    wins, losses = around.count(FIRST), around.count(SECOND)
    return 3 in (wins, losses), (wins == 0) != (losses == 0)


def assessor_quality(preferences: Iterable[Preference]) -> dict[str, Quality]:
    """The quality of every assessor, in the order of first mention."""
    given = list(preferences)
    pairs = pairs_judged(given)
    by_assessor: dict[str, list[Preference]] = {}
    for preference in given:
        by_assessor.setdefault(preference.assessor, []).append(preference)
    return {name: _quality(name, answers, pairs) for name, answers in by_assessor.items()}


def _quality(name: str, answers: list[Preference], pairs: JudgedPairs) -> Quality:
    same: list[bool] = []
    same_preference: list[bool] = []
    with_most: list[bool] = []
    repeated: list[bool] = []
    for judged in pairs.values():
        mine = [said for assessor, said in judged if assessor == name]
        others = [said for assessor, said in judged if assessor != name]
        repeated += [a == b for a, b in combinations(mine, 2)]
        votes = Counter(others).most_common()
        clear = votes and (len(votes) == 1 or votes[0][1] > votes[1][1])
        for said in mine:
            same += [said == other for other in others]
            same_preference += [said == other for other in others if TIE not in (said, other)]
            with_most += [said == votes[0][0]] if clear else []
    preferred = [answer for answer in answers if answer.winner is not None]
    seconds = [answer.seconds for answer in answers if not isnan(answer.seconds)]
    return Quality(
        len(answers),
        _share(same),
        _share(same_preference),
        _share(with_most),
        1 - len(preferred) / len(answers),
        _share([answer.winner == answer.a for answer in preferred]),
        _share(repeated),
        intransitive(answers),
        median(seconds) if seconds else float("nan"),
    )


def _share(of: list[bool]) -> float:
    return sum(of) / len(of) if of else float("nan")
