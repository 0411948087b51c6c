"""The outcome of a labelling: a total order of the top k that says which neighbours tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.labelling.contest import Finish
from topkit.labelling.known import Known, bits


@dataclass(frozen=True)
class TopK:
    """The ordered top k of a labelling.

    >>> top = TopK(("b", "a", "c"), (1, 2, 2), tied_out=("d",), bad=frozenset("e"))
    >>> top.tied
    (False, True)
    >>> top.labels(["a", "b", "c", "d", "e"])
    array([2., 3., 1., 0., 0.], dtype=float32)
    """

    order: tuple[str, ...]
    """The best min(k, n) items, the best first."""
    places: tuple[int, ...]
    """The place of each, counted from 1; items that tie share the first place of their group."""
    tied_out: tuple[str, ...] = ()
    """Items that tie with the last of the order and fell outside by chance."""
    bad: frozenset[str] = frozenset()
    """Items marked bad, or known to be no better than one that was. They come last of all."""
    confidence: tuple[float, ...] | None = None
    """Probability that the item at each place belongs to the top k; only of strategies that weigh errors."""
    grades: Mapping[str, str] | None = None
    """The grade of every item, where grades were asked."""

    @property
    def tied(self) -> tuple[bool, ...]:
        """For each place but the last: whether its item ties with the next."""
        return tuple(a == b for a, b in zip(self.places, self.places[1:], strict=False))

    def labels(self, items: Sequence[str]) -> NDArray[np.float32]:
        """Top-k labels of the items: k+1−rank for the order, 0 for the rest (ties by the order given)."""
        rank = {item: i for i, item in enumerate(self.order)}
        k = len(self.order)
        return np.array([k - rank[item] if item in rank else 0 for item in items], np.float32)


def top_k(
    items: Sequence[str], k: int, finish: Finish, known: Known, grades: Mapping[str, str] | None = None
) -> TopK:
    """The result of a finished play, with what the answers tell of bad items.

    Bad items are below all others and tie with one another. They are in the top k only if fewer than k items
    are not bad: they then take the last places, in the order of ``items``, so that min(k, n) places are
    always filled.
    """
    groups = [list(group) for group in finish.groups]
    kept = {item for group in groups for item in group}  # noisy answers may imply "bad" of one that is kept
    bad = [item for item in bits(known.bad) if item not in kept]
    k = min(k, len(items))
    if bad and sum(map(len, groups)) < k:
        groups.append(bad)
    order: list[int] = []
    places: list[int] = []
    tied_out: list[int] = []
    for group in groups:
        if len(order) == k:
            break
        room = k - len(order)
        places += [len(order) + 1] * min(room, len(group))
        order += group[:room]
        tied_out = group[room:]
    listed = {*order, *tied_out}  # a strategy may have dropped what ties with its last place
    tied_out += [i for i in range(len(items)) if i not in listed and known.relation(order[-1], i) == "tie"]
    confidence = finish.confidence
    return TopK(
        tuple(items[i] for i in order),
        tuple(places),
        tuple(items[i] for i in tied_out),
        frozenset(items[i] for i in bad),
        None if confidence is None else tuple(confidence.get(i, 0.0) for i in order),
        grades,
    )
