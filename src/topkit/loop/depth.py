"""How deep: how many documents of a list are compared, and how many places are put in order.

Many brief labellings teach a ranker more than a few deep ones. So every list is first labelled briefly, and
when all have been, a second time with other candidates, which the ranker can choose better by then. Only
when a ranker has seen every list twice does it pay to go deeper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.labelling import lower_bound
from topkit.loop.settings import LoopSettings


class Depth(NamedTuple):
    """The number of places to fill, the number of documents to compare, and why."""

    k: int
    candidates: int
    why: str


DEPTHS = ((2, 8), (2, 8), (3, 16), (5, 32), (10, 50))
"""(k, candidates) of the first rounds through all queries; after them, the top ten of all documents."""


def choose_depth(settings: LoopSettings, documents: int, round_: int) -> Depth:
    """The depth for a list of this many documents in this round through the queries, from 0.

    >>> choose_depth(LoopSettings(), documents=20, round_=0)[:2]
    (2, 8)
    >>> choose_depth(LoopSettings(), documents=20, round_=2)[:2]
    (3, 16)
    >>> choose_depth(LoopSettings(k=10), documents=150, round_=0)
    Depth(k=10, candidates=150, why='top 10 of 150: set by the user')
    """
    if settings.k is not None or settings.candidates is not None:
        candidates = min(documents, settings.candidates or documents)
        k = min(settings.k or DEPTHS[0][0], candidates)
        return Depth(k, candidates, f"top {k} of {candidates}: set by the user")
    k, candidates = DEPTHS[round_] if round_ < len(DEPTHS) else (10, documents)
    k, candidates = min(k, documents), min(candidates, documents)
    why = "briefly, because many brief labellings teach more than a few deep ones"
    if round_:
        times = "once" if round_ == 1 else f"{round_} times"
        how = "again with other candidates" if DEPTHS[min(round_, 1)] == (k, candidates) else "deeper"
        why = f"{how}, because every query has been labelled {times}"
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
