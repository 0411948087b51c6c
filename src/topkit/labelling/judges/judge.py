"""What a judge is, and how one or several carry a labelling to its end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple, Protocol

from topkit.labelling.labelling import Labelling, Question


class Verdict(NamedTuple):
    """An answer and the seconds it took, where they were measured."""

    answer: str
    seconds: float | None = None


class Judge(Protocol):
    """Anything that answers questions about the documents of a query."""

    @property
    def name(self) -> str:
        """The assessor's name in the records."""
        ...

    def judge(self, query: str, question: Question) -> Verdict:
        """Answer one of ``question.choices``."""
        ...


def label(labelling: Labelling, judge: Judge, query: str = "") -> Labelling:
    """The labelling after the judge has answered all its questions."""
    return take_turns(labelling, [judge], query)


def take_turns(labelling: Labelling, judges: Sequence[Judge], query: str = "") -> Labelling:
    """One labelling shared by several judges, who answer in turn until it is complete."""
    for judge in cycle(judges):
        question = labelling.question
        if question is None:
            break
        verdict = judge.judge(query, question)
        labelling = labelling.answer(verdict.answer, judge.name, verdict.seconds)
    return labelling
