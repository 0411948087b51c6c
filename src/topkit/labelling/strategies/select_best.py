"""Repeated selection of the best remaining item."""

from __future__ import annotations

from topkit.labelling.contest import Contest, Finish, Play, count
from topkit.labelling.strategies.forest import Bounds, Forest, one_after_another


def select_best(contest: Contest) -> Play:
    """Find the best item by comparing the best so far with each item, then the best of the rest, k times.

    What earlier rounds imply is not asked again. About n + k²/2·ln(n/k) judgments, but little reading,
    because the best item so far stays on the screen.

    Reference: R. Song et al.: Select-the-best-ones, Information Processing & Management 47, 2011.

    Use it for comparison only, or for k = 1. Not for larger k: it starts again for every place.
    """
    forest = Forest(contest.n)
    groups: list[list[int]] = []
    roots = contest.arrival()
    while roots and count(groups) < contest.k:
        places = contest.k - count(groups)
        most = forest.most_matches(roots, places) - (len(roots) - 1)
        best = yield from forest.play(one_after_another(roots), Bounds(most=max(0, most)))
        groups.append([best, *forest.twins[best]])
        roots = forest.beaten[best]
    return Finish(groups)
