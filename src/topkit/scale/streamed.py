"""Pieces out of core: the file is prepared once and streamed from a scratch file from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from topkit.compute import one_blas_thread
from topkit.data import Dataset
from topkit.data.partitions import Plan
from topkit.data.streaming import stream_dataset
from topkit.rankers.pieces import Pieces, R
from topkit.scale.recipe import Recipe, stored
from topkit.scale.refusals import nothing_to_learn
from topkit.scale.scratch import Scratch, scratch
from topkit.scorers import Report, silent


@dataclass
class StreamedPieces(Pieces):
    """Pieces in a scratch file; their states stay in memory while there is room.

    States take 10 to 30 bytes per document for a loss, and up to the size of the features for boosting and
    coordinate ascent. A state that does not fit is made again whenever its piece is read.
    """

    recipe: Recipe
    scratch: Scratch
    like: Dataset
    """A data set with the features and the truth of every piece."""
    has_room: Callable[[], bool]
    kept: dict[int, Any] = field(default_factory=dict, repr=False)
    lock: Lock = field(default_factory=Lock, repr=False)
    """The scratch file has one reader at a time."""

    def reduce(self, combine: Callable[[R, R], R], function: Callable[..., R], *arguments: Any) -> R:
        with self.lock, one_blas_thread():
            results = self._results(function, arguments)
            combined = next(results)
            for result in results:
                combined = combine(combined, result)
            return combined

    def _results(self, function: Callable[..., R], arguments: tuple[Any, ...]) -> Iterator[R]:
        for number, (X, y, ptr) in enumerate(self.scratch):
            state = self.kept.get(number)
            if state is None:  # copies, since the next piece reuses the buffer
                state = self.recipe.bind(stored(self.like, X, y.copy(), ptr.copy()))
            yield function(state, X, *arguments)
            if self.has_room():
                self.kept[number] = state
            else:
                self.kept.pop(number, None)


@contextmanager
def streamed_pieces(
    recipe: Recipe,
    plan: Plan,
    rows: int,
    report: Report = silent,
    has_room: Callable[[], bool] = lambda: True,
) -> Iterator[StreamedPieces]:
    """The pieces of a file, which is prepared once, ``rows`` documents at a time."""
    with scratch() as pieces:
        done, like = 0, None
        for data in stream_dataset(plan.path, rows):
            for piece in recipe.pieces(data):
                pieces.put(piece)
                like = like or piece.select([0])
            done += len(data)
            report("documents prepared", done, plan.documents, done)
        if like is None:
            raise nothing_to_learn(plan)
        yield StreamedPieces(recipe, pieces, like, has_room)
