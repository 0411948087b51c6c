"""Questions that a labelling will ask whatever the answers before them are: they can be asked at once."""

from __future__ import annotations

from random import Random

from topkit.labelling.labelling import Labelling
from topkit.labelling.question import Question

PLAYS = 6
"""Random continuations that are compared. A question in all of them does not depend on the answers."""
HORIZON = 3
"""The length of a continuation, as a multiple of the number of questions wanted."""


def foreseeable(labelling: Labelling, most: int = 16) -> list[Question]:
    """Up to ``most`` questions, the next one first, that do not depend on answers that are still open.

    The labelling is continued with random answers several times; a question that occurs in every continuation
    will be asked in any case. A mistake of this method costs a superfluous question, never a wrong result.

    >>> len(foreseeable(Labelling([f"d{i}" for i in range(16)], k=1, strategy="knockout"), 8))
    8
    """
    if labelling.question is None:
        return []
    plays = [_continued(labelling, HORIZON * most, Random(seed)) for seed in range(PLAYS)]
    common = set.intersection(*(set(play) for play in plays))
    chosen = [question for documents, question in plays[0].items() if documents in common]
    return chosen[:most]


def _continued(labelling: Labelling, questions: int, chance: Random) -> dict[frozenset[str], Question]:
    """The questions of a continuation with random answers, by their documents."""
    lab = Labelling.from_answers(
        labelling.items,
        labelling.k,
        labelling.strategy,
        labelling.seed,
        labelling.prior,
        answers=labelling.answers,
    )
    asked: dict[frozenset[str], Question] = {}
    for _ in range(questions):
        question = lab.question
        if question is None:
            break
        asked.setdefault(frozenset(question.documents), question)
        answers = question.choices[: len(question.documents)] if question.b is not None else question.choices
        lab = lab.answer(chance.choice(answers))
    return asked
