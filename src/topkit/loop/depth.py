"""How deep: how many documents of a list are compared, and how many places are put in order.

Many shallow labellings teach a ranker more than a few deep ones, as long as there are queries left. So the
time that is left is spread over the queries that are left in this round: a list gets the deepest labelling
that its part of the time pays for, and never less than the best two of eight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.labelling import lower_bound
from topkit.loop.settings import LoopSettings
from topkit.scorers import Floats


class Depth(NamedTuple):
    """The number of places to fill, the number of documents to compare, and why."""

    k: int
    candidates: int
    why: str


DEPTHS = ((2, 8), (2, 16), (3, 24), (5, 32), (10, 50))
"""(k, candidates) from shallow to deep; beyond the last, the top ten of all documents."""


def choose_depth(settings: LoopSettings, documents: int, questions: float) -> Depth:
    """The depth for a list of this many documents, if its part of the time pays for this many questions.

    >>> choose_depth(LoopSettings(), documents=20, questions=1.8)[:2]
    (2, 8)
    >>> choose_depth(LoopSettings(), documents=150, questions=20.0)[:2]
    (2, 16)
    >>> choose_depth(LoopSettings(k=10), documents=150, questions=16.0)
    Depth(k=10, candidates=150, why='top 10 of 150: set by the user')
    """
    if settings.k is not None or settings.candidates is not None:
        k = settings.k or 1
        candidates = min(documents, settings.candidates or documents)
        return Depth(min(k, candidates), candidates, f"top {k} of {candidates}: set by the user")
    menu = [(min(k, documents), min(c, documents)) for k, c in (*DEPTHS, (10, documents))]
    k, candidates = menu[0]
    for deeper in menu[1:]:
        if expected_questions(*deeper) <= questions:
            k, candidates = deeper
    if expected_questions(k, candidates) > questions:
        why = f"the time left pays for {questions:.1f} questions per query, so every list is labelled briefly"
    else:
        why = f"the time left pays for {questions:.1f} questions for each query that is left"
    return Depth(k, candidates, f"top {k} of {candidates}: {why}")


def expected_questions(k: int, candidates: int) -> float:
    """About the number of questions that a labelling asks; no strategy can promise fewer.

    >>> expected_questions(2, 8)
    9.0
    """
    return lower_bound(candidates, k)


def choose_candidates(
    scores: Floats | None, documents: int, count: int, explore: float, chance: np.random.Generator
) -> NDArray[np.int64]:
    """The positions of the documents to compare: the first by the scores, and the rest at random.

    Documents from further down tell the ranker what it has missed; without them it learns only to order
    documents that it already likes. Without scores all are drawn at random.
    """
    if count >= documents:
        return np.arange(documents)
    if scores is None:
        return np.sort(chance.permutation(documents)[:count])
    ranked = np.argsort(-scores, kind="stable")
    top = count - round(explore * count)
    drawn = chance.permutation(ranked[top:])[: count - top]
    return np.sort(np.concatenate([ranked[:top], drawn]))
