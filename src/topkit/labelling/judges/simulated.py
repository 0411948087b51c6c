"""An assessor whose knowledge, errors, ties and pace are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp
from random import Random

from topkit.labelling.judges.judge import Verdict
from topkit.labelling.labelling import Question
from topkit.labelling.strategies.graded import GRADES


def error_by_gap(rate: float, scale: float) -> Callable[[float], float]:
    """An error rate that falls with the gap in relevance: rate·exp(−gap/scale).

    >>> wrong = error_by_gap(0.4, scale=2.0)
    >>> wrong(0.0), round(wrong(2.0), 3)
    (0.4, 0.147)
    """
    return lambda gap: rate * exp(-gap / scale)


class SimulatedAssessor:
    """Answers by a hidden relevance: a true order (n − place), or hidden grades.

    - ``error``: probability of naming the wrong document, one number or a function of the gap.
    - ``tie_band``: gaps up to it are "about the same" (an error there names one of the two at random).
    - ``bad_below``: documents of less relevance are marked bad.
    - ``borders``: four rising numbers that part the five grades; for questions about one document.
    - ``blur``: standard deviation of normal noise on the relevance when grading.
    - ``seconds``: the mean time of a judgment; single ones vary log-normally, by half of it as a rule.

    >>> ann = SimulatedAssessor("ann", {"x": 3.0, "y": 1.0, "z": 0.0}, bad_below=0.5)
    >>> [ann.judge("q", Question(*pair)).answer for pair in ("xy", "yx", "yz")]
    ['a', 'b', 'bad-b']
    """

    def __init__(
        self,
        name: str,
        relevance: Mapping[str, float],
        *,
        error: float | Callable[[float], float] = 0.0,
        tie_band: float | None = None,
        bad_below: float | None = None,
        borders: Sequence[float] = (0.5, 1.5, 2.5, 3.5),
        blur: float = 0.0,
        seconds: float | None = None,
        seed: int = 0,
    ) -> None:
        self.name = name
        self.relevance = relevance
        self.error = error
        self.tie_band = tie_band
        self.bad_below = bad_below
        self.borders = borders
        self.blur = blur
        self.seconds = seconds
        self._chance = Random(f"{seed} {name}")  # a string, so that every assessor has luck of their own

    @classmethod
    def of_order(cls, name: str, order: Sequence[str], **settings: object) -> SimulatedAssessor:
        """An assessor who knows this order, the best first."""
        relevance = {item: float(len(order) - place) for place, item in enumerate(order)}
        return cls(name, relevance, **settings)  # type: ignore[arg-type]

    def judge(self, query: str, question: Question) -> Verdict:
        """The answer by the hidden relevance, with errors."""
        answer = self._grade(question.a) if question.b is None else self._prefer(question.a, question.b)
        return Verdict(answer, self._time())

    def _prefer(self, a: str, b: str) -> str:
        one, two = self.relevance[a], self.relevance[b]
        if self.bad_below is not None and min(one, two) < self.bad_below:
            return "bad-a" if one < two else "bad-b"
        gap = abs(one - two)
        wrong = self._chance.random() < (self.error(gap) if callable(self.error) else self.error)
        if self.tie_band is not None and gap <= self.tie_band:
            return self._chance.choice("ab") if wrong else "tie"
        return "a" if (one > two) != wrong else "b"

    def _grade(self, item: str) -> str:
        seen = self.relevance[item] + self._chance.gauss(0.0, self.blur)
        return GRADES[sum(seen >= border for border in self.borders)]

    def _time(self) -> float | None:
        if self.seconds is None:
            return None
        return self.seconds * self._chance.lognormvariate(-0.125, 0.5)  # mean 1
