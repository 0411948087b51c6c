"""Several assessors on one query: their labellings merged into one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.labelling.labelling import Labelling
from topkit.labelling.result import TopK

EXACT = 10
"""Up to this many items the best order is found exactly, in O(2ⁿ·n²); above it, by moving single items."""

Margins = NDArray[np.int64]
Decisions = Mapping[tuple[str, str], str]
"""Settled pairs: (a, b) → "a", "b" or "tie". They outweigh all assessors together."""


def merge_labellings(labellings: Sequence[Labelling], decisions: Decisions | None = None) -> TopK:
    """One top k from several labellings of the same items, one per assessor.

    The margin of a pair is the number of assessors whose answers say or imply that the first item is better,
    minus the number who say the opposite. The order is the one that contradicts the fewest of them (Kemeny).
    Labellings need not be complete. An item is bad if more than half of the assessors say so. ``decisions``
    are pairs that somebody settled: the order follows them whatever the assessors say.
    """
    first = labellings[0]
    if any(lab.items != first.items or lab.k != first.k for lab in labellings):
        raise InputError("the labellings have different items or k", "merge labellings of one task")
    items = list(first.items)
    margins = np.zeros((len(items), len(items)), np.int64)
    bad = np.zeros(len(items), np.int64)
    for lab in labellings:
        known = lab.known()
        bad += [known.is_bad(i) for i in range(len(items))]
        for i in range(len(items)):
            for j in range(i):
                relation = known.relation(i, j)
                step = (relation == "a") - (relation == "b")
                margins[i, j] += step
                margins[j, i] -= step
    tops = [lab.result.order for lab in labellings if lab.result is not None]
    _settle(items, margins, decisions or {})
    return _top(items, margins, first.k, tops, bad * 2 > len(labellings))


def consensus(results: Sequence[TopK], k: int | None = None, decisions: Decisions | None = None) -> TopK:
    """One top k from several complete ones.

    An item in a result is better than every item that is not in it; two items that are not in it are not
    compared. Ties count for neither item. ``k`` is by default that of the first result. ``decisions`` are
    settled pairs, as in :func:`merge_labellings`.

    >>> a, b = TopK(("x", "y"), (1, 2)), TopK(("x", "z"), (1, 2))
    >>> consensus([a, b, TopK(("y", "x"), (1, 2))]).order
    ('x', 'y')
    """
    items = list(dict.fromkeys(item for result in results for item in (*result.order, *result.tied_out)))
    margins = np.zeros((len(items), len(items)), np.int64)
    for result in results:
        place = dict(zip(result.order, result.places, strict=True))
        place |= dict.fromkeys(result.tied_out, result.places[-1])
        last = len(result.order) + 1
        places = np.array([place.get(item, last) for item in items])
        margins += np.sign(places[None, :] - places[:, None])
    _settle(items, margins, decisions or {})
    bad = np.array([2 * sum(item in result.bad for result in results) > len(results) for item in items])
    return _top(items, margins, k or len(results[0].order), [result.order for result in results], bad)


def _settle(items: list[str], margins: Margins, decisions: Decisions) -> None:
    """Replace the margins of settled pairs; a decision weighs more than all other margins together."""
    number = {item: i for i, item in enumerate(items)}
    weight = 1 + int(np.abs(margins).sum())
    for (a, b), verdict in decisions.items():
        if a in number and b in number:
            i, j = number[a], number[b]
            margins[i, j] = weight * ((verdict == "a") - (verdict == "b"))
            margins[j, i] = -margins[i, j]


def _top(
    items: list[str], margins: Margins, k: int, tops: Sequence[Sequence[str]], bad: NDArray[np.bool_]
) -> TopK:
    order = [i for i in best_order(margins) if not bad[i]] + np.flatnonzero(bad).tolist()
    places = [1]
    for number, (i, j) in enumerate(pairwise(order), 2):
        tied = bool(bad[i]) == bool(bad[j]) and (bool(bad[i]) or margins[i, j] == 0)
        places.append(places[-1] if tied else number)
    k = min(k, len(items))
    cut = places[k - 1]
    named = [items[i] for i in order]
    support = tuple(sum(item in top for top in tops) / len(tops) for item in named[:k]) if tops else None
    return TopK(
        tuple(named[:k]),
        tuple(places[:k]),
        tuple(item for item, place in zip(named[k:], places[k:], strict=True) if place == cut),
        frozenset(items[int(i)] for i in np.flatnonzero(bad)),
        support,
    )


def best_order(margins: Margins) -> list[int]:
    """The order of items that contradicts the smallest sum of margins (Kemeny's order), best first.

    Exact up to 10 items. For more items: the order by sums of margins (Borda's order), improved by moving
    single items until no move helps.

    >>> best_order(np.array([[0, -1, 1], [1, 0, 2], [-1, -2, 0]]))
    [1, 0, 2]
    """
    start = np.argsort(-margins.sum(1), kind="stable").tolist()
    return _exact_order(margins, start) if len(start) <= EXACT else _improved_order(margins, start)


def _exact_order(margins: Margins, start: list[int]) -> list[int]:
    """Dynamic programming: the best order of a set from the best orders of the sets with one item less."""
    best: dict[int, tuple[int, list[int]]] = {0: (0, [])}
    for members in range(1, 1 << len(start)):
        options = []
        for place, item in enumerate(start):
            if members >> place & 1:
                value, order = best[members ^ (1 << place)]
                gained = sum(int(margins[other, item]) for other in order)
                options.append((value + gained, -place, [*order, item]))
        value, _, order = max(options, key=lambda option: option[:2])
        best[members] = (value, order)
    return best[(1 << len(start)) - 1][1]


def _improved_order(margins: Margins, order: list[int]) -> list[int]:
    moved = True
    while moved:
        moved = False
        for item in tuple(order):
            current = order.index(item)
            rest = [other for other in order if other != item]
            ahead = np.array([margins[item, other] for other in rest])
            # value of position p: margins over the items behind it, minus margins over the items before it
            value = ahead.sum() - 2 * np.concatenate([[0], np.cumsum(ahead)])
            best = int(np.argmax(value))
            if value[best] > value[current]:
                order, moved = [*rest[:best], item, *rest[best:]], True
    return order
