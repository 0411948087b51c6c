"""Optimised interleaving."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from topkit.clicks.interleaving.outcome import Interleaved

LISTS = 1024
"""Pages among which the distribution is chosen; all of them for pages of up to ten documents."""


def optimised(a: Sequence[str], b: Sequence[str], length: int, rng: np.random.Generator) -> Interleaved:
    """Optimised: of the pages that both rankers could agree on, a distribution that is fair and sensitive.

    Every page takes the best remaining document of A or of B at each place. The credit of a document is
    1/rank by A − 1/rank by B. The distribution is the solution of a linear program: users who click at random
    among the first k documents prefer neither ranker, for every k, and pages on which a click separates the
    rankers are as likely as possible. Radlinski & Craswell, WSDM 2013.

    Use it for the fewest pages that still look like those of the two rankers. Not for pages of many more than
    ten documents: the number of possible pages doubles with each.
    """
    lists, p = _distribution(tuple(a), tuple(b), length)
    docs = lists[int(rng.choice(len(lists), p=p))]
    credit = _credit(a, b)
    return Interleaved(docs, tuple(credit[doc] for doc in docs))


@lru_cache(maxsize=4096)
def _distribution(
    a: tuple[str, ...], b: tuple[str, ...], length: int
) -> tuple[list[tuple[str, ...]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The possible pages and their probabilities."""
    from scipy.optimize import linprog

    lists = possible_pages(a, b, length)
    credit = _credit(a, b)
    table = np.array([[credit[doc] for doc in docs] for docs in lists])
    places = np.arange(1, table.shape[1] + 1)
    share = (1.0 / places) / (1.0 / places).sum()  # where users click
    sensitivity = np.sqrt((table**2) @ share)
    # One slack per constraint: if no distribution is fair, the least unfair one is taken.
    fair = np.cumsum(table, axis=1).T
    slack = np.eye(len(fair))
    equal = np.vstack(
        [np.hstack([fair, slack, -slack]), np.hstack([np.ones(len(lists)), np.zeros(2 * len(fair))])]
    )
    right = np.append(np.zeros(len(fair)), 1.0)
    cost = np.concatenate([-sensitivity, np.full(2 * len(fair), 1e3)])
    solution = linprog(cost, A_eq=equal, b_eq=right, bounds=(0, None), method="highs")
    p = np.maximum(np.asarray(solution.x, np.float64)[: len(lists)], 0.0)
    return lists, p / p.sum()


def possible_pages(a: Sequence[str], b: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """All pages that take the best remaining document of A or of B at each place, up to LISTS of them.

    >>> possible_pages(["x", "y"], ["y", "x"], 2)
    [('x', 'y'), ('y', 'x')]
    """
    pages: list[tuple[str, ...]] = [()]
    for _ in range(length):
        longer: dict[tuple[str, ...], None] = {}
        for page in pages:
            for ranking in (a, b):
                best = next((doc for doc in ranking if doc not in page), None)
                if best is not None and len(longer) < LISTS:
                    longer[(*page, best)] = None
        if not longer:
            break
        pages = list(longer)
    return pages


def _credit(a: Sequence[str], b: Sequence[str]) -> dict[str, float]:
    credit = dict.fromkeys([*a, *b], 0.0)
    for sign, ranking in ((1.0, a), (-1.0, b)):
        for rank, doc in enumerate(ranking, 1):
            credit[doc] += sign / rank
    return credit
