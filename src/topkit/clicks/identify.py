"""Whether a log can tell the examination of its positions: it needs documents that were shown at several."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.compute import Ints
from topkit.data import InputError

REMEDY = (
    "show documents at several positions (swap or shuffle some pages, or log several rankers), "
    "or give the propensities"
)


def linked_positions(log: ClickLog) -> Ints:
    """Pairs of positions, as rows from 0, at which some clicked document was shown.

    Neighbours in the list of a document's positions are enough to decide what is connected.
    """
    cells = log.cells()
    clicks = np.bincount(cells.pair, cells.clicks, len(log.pairs))
    informative = clicks[cells.pair] > 0
    pair, position = cells.pair[informative], cells.bucket[informative]
    same = pair[1:] == pair[:-1]
    links = np.unique(np.stack([position[:-1][same], position[1:][same]], axis=1), axis=0)
    return links.astype(np.int64)


def check_connected(log: ClickLog) -> None:
    """InputError unless every position is connected to the first one by documents shown at both.

    >>> from topkit.data import Page
    >>> check_connected(ClickLog.of_pages([Page("q", ("a", "b"), (True, False))]))
    Traceback (most recent call last):
    topkit.data.errors.InputError: no clicked document was shown at two positions, so the examination of \
positions cannot be told from relevance; show documents at several positions (swap or shuffle some pages, or \
log several rankers), or give the propensities
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    shown = np.unique(log.position.astype(np.int64)) - 1
    links = _links(log)
    if len(shown) == 1:
        return
    size = log.n_positions
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), (size, size))
    _, part = connected_components(graph, directed=False)
    apart = shown[part[shown] != part[shown[0]]]
    if len(apart):
        together = shown[part[shown] == part[shown[0]]]
        raise InputError(
            f"no clicked document was shown both at position {_listed(together)} and at position "
            f"{_listed(apart)}, so their examination cannot be compared",
            REMEDY,
        )


def check_first(log: ClickLog) -> None:
    """InputError unless every position shares a clicked document with the first one."""
    _check_pairs(log, [(0, int(place) - 1) for place in np.unique(log.position) if place > 1])


def check_adjacent(log: ClickLog) -> None:
    """InputError unless every position shares a clicked document with the next one."""
    shown = (np.unique(log.position).astype(np.int64) - 1).tolist()
    _check_pairs(log, list(pairwise(shown)))


def _check_pairs(log: ClickLog, needed: list[tuple[int, int]]) -> None:
    from topkit.clicks.harvest import interventions

    if needed:
        _links(log)
    sets = interventions(log)
    have = set(zip(sets.first.tolist(), sets.second.tolist(), strict=True))
    for first, second in needed:
        if (first, second) not in have:
            raise InputError(
                f"no clicked document was shown both at position {first + 1} and at position {second + 1}",
                f"use the method all-pairs or pbm, or {REMEDY}",
            )


def _links(log: ClickLog) -> Ints:
    links = linked_positions(log)
    if len(links) == 0 and log.n_positions > 1:
        raise InputError(
            "no clicked document was shown at two positions, so the examination of positions cannot be told "
            "from relevance",
            REMEDY,
        )
    return links


def _listed(places: Ints) -> str:
    names = [str(place + 1) for place in places.tolist()]
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])}, … {names[-1]}"
