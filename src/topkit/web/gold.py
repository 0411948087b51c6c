"""Gold questions: questions with a known answer, mixed into the work of assessors to measure their accuracy.

Pure: which gold question is due is a function of the labelling's seed and the answers that stand, so every
process shows the same one, and an undo shows it again. The answer is a row in the log of judgments like any
other, marked with :data:`MARK`, so it is saved exactly once; the labelling itself never sees it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topkit.labelling import GRADES, Question

MARK = "gold:"
"""Starts the stored answer to a gold question."""


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """Two documents of a topic and which is better ("a", "b" or "tie"), or a document and its grade."""

    id: int
    a: str
    b: str | None
    answer: str

    @property
    def documents(self) -> frozenset[str]:
        """The documents of the question."""
        return frozenset((self.a,) if self.b is None else (self.a, self.b))

    def shown(self, seed: int) -> Question:
        """The question with its sides in random order."""
        if self.b is None or _random(seed, "side", self.id) < 0.5:
            return Question(self.a, self.b)
        return Question(self.b, self.a)

    def is_right(self, a: str, answer: str) -> bool:
        """True if the answer is correct; ``a`` was shown on the left. Marking the worse one as bad is right.

        >>> GoldQuestion(1, "x", "y", "a").is_right("y", "bad-a")
        True
        """
        if self.b is None:
            return answer == self.answer
        side = {"a": "a", "bad-b": "a", "b": "b", "bad-a": "b"}.get(answer, answer)
        if a != self.a and side in ("a", "b"):
            side = "b" if side == "a" else "a"
        return side == self.answer


def choices(b: str | None) -> tuple[str, ...]:
    """The answers that a gold question may have."""
    return GRADES if b is None else ("a", "b", "tie")


def due(
    questions: Sequence[GoldQuestion],
    rate: float,
    seed: int,
    answered: Sequence[Iterable[str]],
    asked_now: Question,
) -> GoldQuestion | None:
    """The gold question to show next, or None.

    ``answered`` are the documents of the answers that stand. Nobody gets a gold question whose documents they
    have compared, or are about to compare.
    """
    if rate <= 0 or _random(seed, "gold", len(answered)) >= rate:
        return None
    used = {frozenset(documents) for documents in answered} | {frozenset(asked_now.documents)}
    left = [question for question in questions if question.documents not in used]
    return min(left, key=lambda question: _random(seed, "order", question.id)) if left else None


def is_gold(answer: str) -> bool:
    """True for the stored answer to a gold question."""
    return answer.startswith(MARK)


def unmarked(answer: str) -> str:
    """The answer as the assessor gave it.

    >>> unmarked("gold:tie"), unmarked("b")
    ('tie', 'b')
    """
    return answer.removeprefix(MARK)


def _random(seed: int, use: str, number: int) -> float:
    """A number in [0, 1) that looks random and is always the same."""
    digest = hashlib.sha256(f"{seed} {use} {number}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
