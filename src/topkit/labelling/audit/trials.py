"""Trials: single answers of a judge, with the order in which the documents were shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple, Protocol

from topkit.data.judgments import Preference
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, Pair, outcome
from topkit.labelling.judges.conversation import Opinion

LABELS = {"1": FIRST, "2": SECOND, "tie": TIE, "bad-1": SECOND, "bad-2": FIRST}
"""What an answer prefers; a "bad" mark on one document is a win of the other."""

DOCUMENTS = 6
"""Documents per query of which all judged pairs are sampled."""


class Trial(NamedTuple):
    """One answer of a judge about two documents."""

    query: str
    first: str
    """The document shown first."""
    second: str
    preferred: int
    """FIRST, TIE or SECOND."""
    confidence: float | None = None
    """The probability that the answer is right, as the judge sees it."""

    @property
    def pair(self) -> Pair:
        """The two documents, whatever their order."""
        a, b = sorted((self.first, self.second))
        return Pair(self.query, a, b)

    @property
    def value(self) -> float:
        """1 if the first document is preferred, ½ for a tie, 0 if the second one is."""
        return 1 - self.preferred / 2


class Presenter(Protocol):
    """A judge that can be asked about documents in a given order, and again."""

    def present(self, query: str, documents: Sequence[str], repeat: int = 0) -> Callable[[], Opinion]:
        """Ask once; the function returned waits for the answer."""
        ...


def ask_trials(
    judge: Presenter,
    pairs: Iterable[Pair],
    repeats: int = 2,
    on_trial: Callable[[], object] = lambda: None,
) -> list[Trial]:
    """Ask about each pair in both orders, each ``repeats`` times. Answers that are missing are left out."""
    asked = [
        (query, shown, judge.present(query, shown, repeat))
        for query, a, b in pairs
        for shown in ((a, b), (b, a))
        for repeat in range(repeats)
    ]
    trials: list[Trial] = []
    for query, shown, wait in asked:
        opinion = wait()
        on_trial()
        if opinion.label is not None:
            trials.append(Trial(query, *shown, LABELS[opinion.label], opinion.confidence))
    return trials


def trials_of(preferences: Iterable[Preference]) -> list[Trial]:
    """Recorded answers as trials: document a was shown first."""
    return [Trial(p.query, p.a, p.b, outcome(p, p.a)) for p in preferences]


def sample_pairs(pairs: Iterable[Pair], most: int, seed: int = 0) -> list[Pair]:
    """Up to ``most`` pairs from many queries: those among six random documents per query.

    The pairs of six documents contain complete triads, which show whether preferences are transitive. If that
    gives too few pairs, the others follow in random order.
    """
    chance = Random(seed)
    by_query: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_query.setdefault(pair.query, []).append(pair)
    first: list[Pair] = []
    rest: list[Pair] = []
    for query in chance.sample(sorted(by_query), len(by_query)):
        documents = sorted({document for pair in by_query[query] for document in (pair.a, pair.b)})
        chosen = set(chance.sample(documents, min(DOCUMENTS, len(documents))))
        for pair in by_query[query]:
            (first if {pair.a, pair.b} <= chosen else rest).append(pair)
    chance.shuffle(rest)
    return [*first, *rest][:most]
