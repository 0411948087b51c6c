"""A simulated model with known faults, to test audits and routing: flips, position bias, length bias."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from math import log2
from typing import Any

from topkit.data.errors import InputError
from topkit.data.judgments import Preference
from topkit.labelling.contest import LETTERS
from topkit.labelling.judges.conversation import Opinion
from topkit.labelling.judges.judge import Verdict
from topkit.labelling.judges.prompts import fingerprint
from topkit.labelling.question import Question

MOST_DOUBLINGS = 2.0
"""Length ratios beyond a factor of four have no further effect."""


@dataclass(frozen=True)
class BiasedJudge:
    """Prefers the first of two documents with probability
    ½ + s·(½ − ``flips``) + ``position`` + ``length``·log₂(length of the first / length of the second),

    where s is 1 if the first document is truly better, −1 if it is worse and 0 if they tie. The logarithm is
    limited to ±2 and the probability to 0 and 1. Answers depend on the documents, their order, ``repeat`` and
    the seed only, so the judge has no state.

    - ``truth``: (query, first, second) → positive if the first document is better, negative if it is worse.
    - ``flips``: the share of wrong answers without the other two faults.
    - ``position``: points of probability that the document shown first gains.
    - ``length``: points of probability that a document of twice the length gains.

    >>> judge = BiasedJudge.of_relevance("m", {("q", "x"): 1.0, ("q", "y"): 0.0}, flips=0.2, position=0.1)
    >>> round(judge.prefers_first("q", "x", "y"), 2), round(judge.prefers_first("q", "y", "x"), 2)
    (0.9, 0.3)
    """

    name: str
    truth: Callable[[str, str, str], float]
    _: KW_ONLY
    flips: float = 0.0
    position: float = 0.0
    length: float = 0.0
    lengths: Callable[[str], float] = lambda document: 1.0
    """Document id → its length."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.flips <= 0.5:
            raise InputError(f"flips must be from 0 to 0.5, got {self.flips}")

    @classmethod
    def of_relevance(
        cls, name: str, relevance: Mapping[tuple[str, str], float], **faults: Any
    ) -> BiasedJudge:
        """A judge who knows the relevance of (query, document)."""
        return cls(name, lambda query, a, b: relevance[query, a] - relevance[query, b], **faults)

    @classmethod
    def of_people(cls, name: str, preferences: Iterable[Preference], **faults: Any) -> BiasedJudge:
        """A judge who knows what most people prefer; pairs that nobody judged tie."""
        wins: dict[tuple[str, str, str], int] = {}
        for p in preferences:
            step = 0 if p.winner is None else 1 if p.winner == p.a else -1
            wins[p.query, p.a, p.b] = wins.get((p.query, p.a, p.b), 0) + step
            wins[p.query, p.b, p.a] = wins.get((p.query, p.b, p.a), 0) - step
        return cls(name, lambda query, a, b: wins.get((query, a, b), 0), **faults)

    def prefers_first(self, query: str, first: str, second: str) -> float:
        """The probability that the document shown first is preferred."""
        gap = self.truth(query, first, second)
        sign = (gap > 0) - (gap < 0)
        doublings = log2(max(self.lengths(first), 1e-9) / max(self.lengths(second), 1e-9))
        doublings = min(max(doublings, -MOST_DOUBLINGS), MOST_DOUBLINGS)
        probability = 0.5 + sign * (0.5 - self.flips) + self.position + self.length * doublings
        return min(max(probability, 0.0), 1.0)

    def present(self, query: str, documents: Sequence[str], repeat: int = 0) -> Callable[[], Opinion]:
        """Ask once, with the documents in this order."""
        first, second = documents
        probability = self.prefers_first(query, first, second)
        drawn = (
            int(fingerprint(str(self.seed), self.name, query, first, second, str(repeat))[:12], 16) / 16**12
        )
        label = "1" if drawn < probability else "2"
        confidence = max(probability, 1 - probability)
        return lambda: Opinion(label, confidence, label)

    def judge(self, query: str, question: Question) -> Verdict:
        """The answer with the documents in the order of the question."""
        if len(question.documents) != 2:
            raise InputError("a BiasedJudge compares two documents", "use a strategy that asks pairs")
        opinion = self.present(query, question.documents)()
        return Verdict(LETTERS[int(opinion.label or "1") - 1], None, opinion.confidence)
