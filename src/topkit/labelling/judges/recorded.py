"""A judge that gives recorded answers, such as those of people who answered a list of questions."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from topkit.data.judgments import Preference
from topkit.labelling.contest import SWAPPED
from topkit.labelling.judges.judge import Verdict
from topkit.labelling.question import Question


class NotAnsweredError(LookupError):
    """There is no recorded answer to a question."""


class RecordedJudge:
    """Answers pairs from preferences, in either order; the last answer to a pair counts.

    >>> people = RecordedJudge("people", [Preference("q", "x", "y", "a", "ann", 4.0)])
    >>> people.judge("q", Question("y", "x"))
    Verdict(answer='b', seconds=4.0, confidence=None, assessor='ann')
    """

    def __init__(self, name: str, preferences: Iterable[Preference]) -> None:
        self.name = name
        self._answers: dict[tuple[str, str, str], Verdict] = {}
        for p in preferences:
            seconds = None if isnan(p.seconds) else p.seconds
            verdict = Verdict(p.answer, seconds, None, p.assessor or name)
            self._answers[p.query, p.a, p.b] = verdict
            self._answers[p.query, p.b, p.a] = verdict._replace(answer=SWAPPED[p.answer])

    def judge(self, query: str, question: Question) -> Verdict:
        """The recorded answer; raises :class:`NotAnsweredError` if there is none."""
        verdict = self._answers.get((query, question.a, question.b or ""))
        if verdict is None or len(question.documents) != 2:
            raise NotAnsweredError(f"no answer to {question} of query {query!r}")
        return verdict
