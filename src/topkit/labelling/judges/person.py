"""A person at a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from topkit.labelling.contest import LETTERS
from topkit.labelling.judges.judge import Verdict
from topkit.labelling.question import Question


@dataclass(frozen=True)
class Person:
    """Shows both documents and reads the answer; an invalid answer shows the choices again.

    >>> replies = iter(["left", "a"])
    >>> ann = Person("ann", text="<{}>".format, show=print, read=lambda prompt: next(replies))
    >>> ann.judge("jaguar speed", Question("d1", "d2")).answer
    Query: jaguar speed
    A: <d1>
    B: <d2>
    invalid answer 'left': choose from a, b, tie, bad-a, bad-b
    'a'
    """

    name: str
    text: Callable[[str], str] = str
    """Document id → the text to show."""
    show: Callable[[str], object] = print
    read: Callable[[str], str] = input
    clock: Callable[[], float] = time.monotonic

    def judge(self, query: str, question: Question) -> Verdict:
        """Ask until the answer is one of the choices."""
        started = self.clock()
        self.show(f"Query: {query}")
        if question.b is None:
            self.show(self.text(question.a))
        else:
            for letter, document in zip(LETTERS, question.documents, strict=False):
                self.show(f"{letter.upper()}: {self.text(document)}")
        while True:
            answer = self.read("Answer: ").strip().lower()
            if answer in question.choices:
                return Verdict(answer, self.clock() - started)
            self.show(f"invalid answer {answer!r}: choose from {', '.join(question.choices)}")
