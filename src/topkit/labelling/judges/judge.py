"""The interface of a judge, and labelling by one or several judges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple, Protocol

from topkit.labelling.labelling import Labelling
from topkit.labelling.question import Question


class Verdict(NamedTuple):
    """An answer, the seconds it took if they were measured, and how sure the judge is if it says so."""

    answer: str
    seconds: float | None = None
    confidence: float | None = None
    """The probability that the answer is right, as the judge sees it; an audit shows whether it is."""
    assessor: str | None = None
    """Who answered, if a judge passes questions on to others; None is the judge itself."""


class Judge(Protocol):
    """Anything that answers questions about the documents of a query."""

    @property
    def name(self) -> str:
        """The name of the assessor in the judgments."""
        ...

    def judge(self, query: str, question: Question) -> Verdict:
        """Answer one of ``question.choices``."""
        ...


def label(labelling: Labelling, judge: Judge, query: str = "") -> Labelling:
    """The labelling after the judge has answered all its questions."""
    return take_turns(labelling, [judge], query)


def take_turns(labelling: Labelling, judges: Sequence[Judge], query: str = "") -> Labelling:
    """The labelling after several judges have answered its questions in turn."""
    for judge in cycle(judges):
        if labelling.question is None:
            break
        labelling = answered_by(labelling, judge, query)
    return labelling


def answered_by(labelling: Labelling, judge: Judge, query: str) -> Labelling:
    """The labelling after the judge has answered its next question."""
    question = labelling.question
    if question is None:
        return labelling
    verdict = judge.judge(query, question)
    return labelling.answer(verdict.answer, verdict.assessor or judge.name, verdict.seconds)
