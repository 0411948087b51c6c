"""The consistency of each assessor: agreement with the others, cycles, side bias, pace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from math import isnan
from statistics import median
from typing import NamedTuple

from topkit.data.judgments import Preference
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, JudgedPairs, outcome, pairs_judged


class Triads(NamedTuple):
    """Counts of triads: three documents of which one assessor judged all three pairs."""

    complete: int
    circles: int
    """Cycles: a ≻ b ≻ c ≻ a."""
    violations: int
    """Cycles, and contradictions with ties: a ∼ b ∼ c but a ≻ c, or a ≻ b ∼ c but not a ≻ c."""


class Quality(NamedTuple):
    """The consistency of one assessor; a share of no pairs is NaN."""

    judgments: int
    agreement: float
    """Share of the other assessors' answers to the same pairs that agree; the last answer of each counts."""
    agreement_without_ties: float
    with_majority: float
    """Share of pairs where the answer is the most frequent one of the others (tied votes are ignored)."""
    tie_share: float
    left_share: float
    """Share of preferences for the document shown first; far from ½ means a side bias."""
    repeats_same: float
    """Share of repeated pairs that got the same answer."""
    triads: Triads
    median_seconds: float


def intransitive(preferences: Iterable[Preference]) -> Triads:
    """Contradictory triads, each within one assessor and query, over all assessors and queries.

    >>> ring = [Preference("q", a, b, "a", "ann") for a, b in ("xy", "yz", "zx")]
    >>> intransitive(ring)
    Triads(complete=1, circles=1, violations=1)
    """
    sessions: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for preference in preferences:
        preferred = outcome(preference, preference.a)
        table = sessions.setdefault((preference.assessor, preference.query), {})
        table[preference.a, preference.b], table[preference.b, preference.a] = preferred, SECOND - preferred
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
                    cycle, contradiction = _contradicts(table[a, b], table[b, c], table[c, a])
                    circles += cycle
                    violations += contradiction
    return Triads(complete, circles, violations)


def _contradicts(*around: int) -> tuple[bool, bool]:
    """(is a cycle, is any contradiction) for the answers to (a, b), (b, c), (c, a).

    Without contradiction, wins and losses both occur, or all three are ties.
    """
    wins, losses = around.count(FIRST), around.count(SECOND)
    return 3 in (wins, losses), (wins == 0) != (losses == 0)


def assessor_quality(preferences: Iterable[Preference]) -> dict[str, Quality]:
    """The quality of every assessor, in the order of their first judgment."""
    preferences = list(preferences)
    pairs = pairs_judged(preferences)
    by_assessor: dict[str, list[Preference]] = {}
    for preference in preferences:
        by_assessor.setdefault(preference.assessor, []).append(preference)
    return {name: _quality(name, answers, pairs) for name, answers in by_assessor.items()}


def _quality(name: str, answers: list[Preference], pairs: JudgedPairs) -> Quality:
    same: list[bool] = []
    same_preference: list[bool] = []
    as_majority: list[bool] = []
    for judged in pairs.values():
        if name not in judged:
            continue
        preferred = judged[name]
        others = [answer for assessor, answer in judged.items() if assessor != name]
        votes = Counter(others).most_common()
        clear = votes and (len(votes) == 1 or votes[0][1] > votes[1][1])
        same += [preferred == other for other in others]
        same_preference += [preferred == other for other in others if TIE not in (preferred, other)]
        as_majority += [preferred == votes[0][0]] if clear else []
    decided = [answer for answer in answers if answer.winner is not None]
    seconds = [answer.seconds for answer in answers if not isnan(answer.seconds)]
    return Quality(
        len(answers),
        _share(same),
        _share(same_preference),
        _share(as_majority),
        1 - len(decided) / len(answers),
        _share([answer.winner == answer.a for answer in decided]),
        _share(_repeats(answers)),
        intransitive(answers),
        median(seconds) if seconds else float("nan"),
    )


def _repeats(answers: list[Preference]) -> list[bool]:
    """Whether two answers of one assessor to the same pair are the same, for all such answers."""
    by_pair: dict[tuple[str, str, str], list[int]] = {}
    for answer in answers:
        first, second = sorted((answer.a, answer.b))
        by_pair.setdefault((answer.query, first, second), []).append(outcome(answer, first))
    return [a == b for outcomes in by_pair.values() for a, b in combinations(outcomes, 2)]


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else float("nan")
