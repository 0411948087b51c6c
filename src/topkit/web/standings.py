"""How far labellings are, kept in memory: a judgment changes the state of one labelling, not of a project."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from threading import Lock
from typing import NamedTuple, Self

from topkit.labelling import Labelling
from topkit.labelling.question import Progress
from topkit.web.judging import Judgment, LabellingState, Task
from topkit.web.store.labellings import Shape

CACHED_LABELLINGS = 5_000
CACHED_STANDINGS = 200_000
"""A standing is some numbers; a labelling contains the ids of its documents."""


class Standing(NamedTuple):
    """The progress of a labelling, and whether it is complete."""

    progress: Progress
    done: bool

    @classmethod
    def of(cls, labelling: Labelling) -> Self:
        """The standing of a labelling."""
        return cls(labelling.progress, labelling.question is None)


@lru_cache(1_000)
def starting_point(strategy: str, k: int, shape: Shape) -> Standing:
    """The standing before the first judgment, which depends on nothing but the number of documents.

    >>> starting_point("adaptive", 3, Shape(8, False)).done
    False
    """
    items = [str(number) for number in range(shape.documents)]
    return Standing.of(Labelling(items, k, strategy, 0, items if shape.has_prior else None))


class LabellingCache:
    """Labellings by (id, last sequence number), which determine them completely."""

    def __init__(self) -> None:
        self._labellings: OrderedDict[tuple[int, int], Labelling] = OrderedDict()
        self._standings: OrderedDict[int, tuple[int, Standing]] = OrderedDict()
        self._lock = Lock()
        self.shapes: dict[int, Shape] = {}
        """By labelling."""

    def find(self, labelling_id: int, seq: int) -> Labelling | None:
        """The labelling after this many judgments, if it was replayed before."""
        with self._lock:
            return self._labellings.get((labelling_id, seq))

    def standing(self, labelling_id: int, seq: int) -> Standing | None:
        """The standing after this many judgments, if the labelling was replayed before."""
        with self._lock:
            known_seq, standing = self._standings.get(labelling_id, (None, None))
            return standing if known_seq == seq else None

    def replay(self, task: Task, judgments: list[Judgment]) -> Labelling:
        """The labelling after these judgments."""
        key = task.id, judgments[-1].seq if judgments else 0
        labelling = self.find(*key)
        if labelling is None:
            labelling = LabellingState.replay(task, judgments).lab
            with self._lock:
                self._labellings[key] = labelling
                while len(self._labellings) > CACHED_LABELLINGS:
                    self._labellings.popitem(last=False)
                self._standings[task.id] = key[1], Standing.of(labelling)
                while len(self._standings) > CACHED_STANDINGS:
                    self._standings.popitem(last=False)
        return labelling
