"""The most informative question about the top k when answers may be wrong."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Ints
from topkit.labelling.strategies.beliefs import (
    Beliefs,
    above_cuts,
    below,
    entropy,
    normalised,
    wrong_way,
)

CANDIDATES = 14
"""Only pairs of this many units are considered, the least certain ones: it bounds the work per question."""
ON_SCREEN = 1.02
"""A pair with a document of the last question is chosen even if it is less informative by this factor."""


def best_check(
    beliefs: Beliefs, cuts: dict[int, float], allowed: Floats, last: frozenset[int] = frozenset()
) -> tuple[int, int] | None:
    """The pair whose answer is expected to reduce the uncertainty about the cuts most; None if there is none.

    The uncertainty is Σ over cuts of weight × entropy of "is above the cut", for both units. The expectation
    is over the answer, given all answers so far, including those to the same pair.
    """
    belief = beliefs.belief()
    above = above_cuts(belief, beliefs.sizes, list(cuts))
    weight = np.array(list(cuts.values()))
    unsure = entropy(belief @ above) @ weight
    order = np.argsort(-np.where(allowed, unsure, -1.0).round(9), kind="stable")
    chosen = order[: min(CANDIDATES, int(allowed.sum()))]
    if len(chosen) < 2:
        return None
    i, j = (chosen[side] for side in np.triu_indices(len(chosen), 1))
    first, second, wrong = _without_own_pair(beliefs, belief, i, j)
    second_worse, first_worse = below(second), below(first)
    ahead = (first * second_worse).sum(1)
    total = (1 - wrong) * ahead + wrong * (1 - ahead)
    gain = unsure[i] + unsure[j]
    for if_ahead, if_behind in ((1 - beliefs.error, beliefs.error), (beliefs.error, 1 - beliefs.error)):
        better, worse = (1 - wrong) * if_ahead, wrong * if_behind
        chance = better * ahead + worse * (1 - ahead)
        b, w = better[:, None], worse[:, None]
        first_after = (first * (w + (b - w) * second_worse)) @ above / chance[:, None]
        second_after = (second * (b + (w - b) * first_worse)) @ above / chance[:, None]
        gain -= chance / total * ((entropy(first_after) + entropy(second_after)) @ weight)
    on_screen = np.zeros(len(belief), bool)
    on_screen[list(last)] = True
    kept = on_screen[i] ^ on_screen[j]
    best = int(np.argmax((gain * np.where(kept, ON_SCREEN, 1.0)).round(9)))
    return int(i[best]), int(j[best])


def _without_own_pair(beliefs: Beliefs, belief: Floats, i: Ints, j: Ints) -> tuple[Floats, Floats, Floats]:
    """Beliefs of i and j without the messages of their pair, and e of the pair (½ if it was never asked)."""
    first, second = belief[i], belief[j]
    wrong = np.full(len(i), 0.5)
    rows = np.array([beliefs.row.get(pair, -1) for pair in zip(i.tolist(), j.tolist(), strict=True)])
    which = np.flatnonzero(rows >= 0)
    rows = rows[which]
    wrong[which] = wrong_way(beliefs.error, beliefs.wins[rows] - beliefs.wins[rows ^ 1])
    first[which] = normalised(beliefs.log_belief[i[which]] - beliefs.messages[rows])
    second[which] = normalised(beliefs.log_belief[j[which]] - beliefs.messages[rows ^ 1])
    return first, second, wrong
