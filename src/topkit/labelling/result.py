"""The result of a labelling: the ordered top k, and which neighbours tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

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
    array([2., 3., 2., 2., 0.], dtype=float32)
    """

    order: tuple[str, ...]
    """The best min(k, n) items, best first."""
    places: tuple[int, ...]
    """The place of each item, from 1; items that tie share the first place of their group."""
    tied_out: tuple[str, ...] = ()
    """Items that tie with the last item of the order and are outside the top k only by chance."""
    bad: frozenset[str] = frozenset()
    """Items that were marked bad, or are known to be no better than one that was. They rank last."""
    confidence: tuple[float, ...] | None = None
    """Probability that each item belongs to the top k, if the strategy tolerates assessor errors."""
    grades: Mapping[str, str] | None = None
    """The grade of every item, if grades were asked."""

    @property
    def tied(self) -> tuple[bool, ...]:
        """For each item but the last: whether it ties with the next."""
        return tuple(a == b for a, b in zip(self.places, self.places[1:], strict=False))

    def labels(self, items: Sequence[str], *, break_ties: bool = False, seed: int = 0) -> NDArray[np.float32]:
        """Top-k labels of the items: k+1−place in the top k, 0 for the rest and for bad items.

        Items that tie share a place and so a label, also those of ``tied_out``. With ``break_ties``, the seed
        orders them at random, and at most k items have a label above 0.
        """
        place = dict(zip(self.order, self.places, strict=True))
        if self.places:
            place |= dict.fromkeys(self.tied_out, self.places[-1])
        listed = [item for item in (*self.order, *self.tied_out) if item not in self.bad]
        if break_ties:
            Random(seed).shuffle(listed)
            listed.sort(key=place.__getitem__)
            place = {item: rank for rank, item in enumerate(listed, 1)}
        k = len(self.order)
        label = {item: max(k + 1 - place[item], 0) for item in listed}
        return np.array([label.get(item, 0) for item in items], np.float32)


def top_k(
    items: Sequence[str], k: int, finish: Finish, known: Known, grades: Mapping[str, str] | None = None
) -> TopK:
    """The result of a finished strategy, completed by what the answers imply about bad items.

    Bad items are below all others and tie with one another. They are in the top k only if fewer than k items
    are not bad. Then they take the last places, in the order of ``items``, so that min(k, n) places are
    always filled.
    """
    groups = [list(group) for group in finish.groups]
    kept = {
        item for group in groups for item in group
    }  # answers with errors may imply that a kept item is bad
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
    listed = {*order, *tied_out}  # a strategy may have dropped items that tie with its last place
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
