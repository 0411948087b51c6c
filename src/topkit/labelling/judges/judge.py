"""The interface of a judge, and labelling by one or several judges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple, Protocol

from topkit.labelling.labelling import Labelling, Question


class Verdict(NamedTuple):
    """An answer and the seconds it took, if they were measured."""

    answer: str
    seconds: float | None = None


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
        question = labelling.question
        if question is None:
            break
        verdict = judge.judge(query, question)
        labelling = labelling.answer(verdict.answer, judge.name, verdict.seconds)
    return labelling
