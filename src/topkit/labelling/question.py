"""Questions and answers about one document (a grade), two (a preference) or several (the best)."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import NamedTuple, cast

from topkit.data.judgments import ANSWERS, Answer, Preference
from topkit.labelling.contest import LETTERS
from topkit.labelling.strategies.graded import GRADES


class Question(NamedTuple):
    """Which of two documents is more relevant? Or, if ``b`` is None: which grade has document ``a``?"""

    a: str
    b: str | None = None

    @property
    def documents(self) -> tuple[str, ...]:
        """All documents of the question."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed answers."""
        return ANSWERS if self.b is not None else GRADES


class BestOf(Question):
    """Which of more than two documents is the most relevant? Answers: "a", "b", "c", … or "tie".

    >>> question = BestOf.among(["x", "y", "z"])
    >>> question.choices, question.documents
    (('a', 'b', 'c', 'tie'), ('x', 'y', 'z'))
    """

    rest: tuple[str, ...]

    @classmethod
    def among(cls, documents: Sequence[str]) -> BestOf:
        """The question about these documents."""
        question = cls(documents[0], documents[1])
        question.rest = tuple(documents[2:])
        return question

    @property
    def documents(self) -> tuple[str, ...]:
        """All documents of the question."""
        return (self.a, cast(str, self.b), *self.rest)

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed answers: the letter of the best document, or "tie" if all are about the same."""
        return (*LETTERS[: len(self.documents)], "tie")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BestOf) and self.documents == other.documents

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.documents)

    def __repr__(self) -> str:
        return f"BestOf{self.documents}"


def question_about(documents: Sequence[str]) -> Question:
    """The question about one, two or more documents."""
    if len(documents) > 2:
        return BestOf.among(documents)
    return Question(*documents)


class Answered(NamedTuple):
    """A question with its answer; the assessor and the seconds are kept but do not change the labelling."""

    a: str
    b: str | None
    answer: str
    assessor: str = ""
    seconds: float | None = None
    rest: tuple[str, ...] = ()
    """The documents after the first two, if the question was about more."""

    @property
    def question(self) -> Question:
        """The question that was answered."""
        return question_about((self.a, self.b, *self.rest) if self.b is not None else (self.a,))

    def preferences(self, query: str) -> list[Preference]:
        """The answer as preferences of pairs; the best of c documents gives c − 1, which share the time.

        >>> [p[1:4] for p in Answered("x", "y", "b", rest=("z",)).preferences("q")]
        [('x', 'y', 'b'), ('y', 'z', 'a')]
        """
        if self.b is None:
            return []
        time = nan if self.seconds is None else self.seconds
        if not self.rest:
            return [Preference(query, self.a, self.b, cast(Answer, self.answer), self.assessor, time)]
        documents = [self.a, self.b, *self.rest]
        best = 0 if self.answer == "tie" else LETTERS.index(self.answer)
        pairs: list[Preference] = []
        for place, other in enumerate(documents):
            if place != best:
                a, b = (documents[best], other) if best < place else (other, documents[best])
                answer: Answer = "tie" if self.answer == "tie" else "a" if best < place else "b"
                share = time / (len(documents) - 1)
                pairs.append(Preference(query, a, b, answer, self.assessor, share))
        return pairs


class Progress(NamedTuple):
    """The progress of a labelling."""

    asked: int
    least: int
    """The minimum number of remaining questions."""
    most: int
    """The maximum number of remaining questions."""
    likely: float
    """The expected number of remaining questions, for a progress bar."""
    lower_bound: float
    """Judgments that any strategy needs in the worst case; see :func:`lower_bound`."""

    @property
    def share(self) -> float:
        """The completed share of the work, from 0 to 1."""
        return self.asked / (self.asked + self.likely) if self.asked + self.likely else 1.0
