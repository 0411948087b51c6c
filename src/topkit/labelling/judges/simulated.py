"""A simulated assessor with known relevance, errors, ties and pace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import exp
from random import Random

from topkit.labelling.contest import LETTERS
from topkit.labelling.judges.judge import Verdict
from topkit.labelling.question import Question
from topkit.labelling.strategies.graded import GRADES


def error_by_gap(rate: float, scale: float) -> Callable[[float], float]:
    """An error rate that decreases with the gap in relevance: rate·exp(−gap/scale).

    >>> wrong = error_by_gap(0.4, scale=2.0)
    >>> wrong(0.0), round(wrong(2.0), 3)
    (0.4, 0.147)
    """
    return lambda gap: rate * exp(-gap / scale)


@dataclass
class SimulatedAssessor:
    """Answers by a hidden relevance: a true order (n − rank), or hidden grades.

    - ``error``: probability of a wrong preference, a number or a function of the gap.
    - ``tie_band``: gaps up to this are "about the same" (an error there prefers one of the two at random).
    - ``bad_below``: documents with a smaller relevance are marked bad.
    - ``borders``: four ascending numbers that separate the five grades; for questions about one document.
    - ``blur``: standard deviation of normal noise on the relevance when grading.
    - ``seconds``: the mean time of a judgment; the times are log-normal, with a standard deviation of about
      half the mean.

    >>> ann = SimulatedAssessor("ann", {"x": 3.0, "y": 1.0, "z": 0.0}, bad_below=0.5)
    >>> [ann.judge("q", Question(*pair)).answer for pair in ("xy", "yx", "yz")]
    ['a', 'b', 'bad-b']
    """

    name: str
    relevance: Mapping[str, float]
    _: KW_ONLY
    error: float | Callable[[float], float] = 0.0
    tie_band: float | None = None
    bad_below: float | None = None
    borders: Sequence[float] = (0.5, 1.5, 2.5, 3.5)
    blur: float = 0.0
    seconds: float | None = None
    seed: int = 0
    _chance: Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._chance = Random(
            f"{self.seed} {self.name}"
        )  # with the name, so that assessors err independently

    @classmethod
    def of_order(cls, name: str, order: Sequence[str], **settings: object) -> SimulatedAssessor:
        """An assessor who knows this order, best first."""
        relevance = {item: float(len(order) - place) for place, item in enumerate(order)}
        return cls(name, relevance, **settings)  # type: ignore[arg-type]

    def judge(self, query: str, question: Question) -> Verdict:
        """The answer by the hidden relevance, with errors."""
        if question.b is None:
            answer = self._grade(question.a)
        elif len(question.documents) == 2:
            answer = self._prefer(question.a, question.b)
        else:
            answer = self._best(question.documents)
        return Verdict(answer, self._time())

    def _best(self, items: Sequence[str]) -> str:
        """The best of several: the winner of comparisons one after another, with errors as in pairs."""
        best = 0
        for place in range(1, len(items)):
            if self._prefer(items[best], items[place]) in ("b", "bad-a"):
                best = place
        return LETTERS[best]

    def _prefer(self, a: str, b: str) -> str:
        first, second = self.relevance[a], self.relevance[b]
        if self.bad_below is not None and min(first, second) < self.bad_below:
            return "bad-a" if first < second else "bad-b"
        gap = abs(first - second)
        wrong = self._chance.random() < (self.error(gap) if callable(self.error) else self.error)
        if self.tie_band is not None and gap <= self.tie_band:
            return self._chance.choice("ab") if wrong else "tie"
        return "a" if (first > second) != wrong else "b"

    def _grade(self, item: str) -> str:
        perceived = self.relevance[item] + self._chance.gauss(0.0, self.blur)
        return GRADES[sum(perceived >= border for border in self.borders)]

    def _time(self) -> float | None:
        if self.seconds is None:
            return None
        return self.seconds * self._chance.lognormvariate(-0.125, 0.5)  # mean 1
