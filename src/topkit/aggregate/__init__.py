"""Combining rankings without labels: Mallows, ULARA, agreement weights, Borda and the rest.

The room itself can be called, so that ``topkit.aggregate(runs)`` works however the room was imported.
"""

import sys
from collections.abc import Sequence
from types import ModuleType

from topkit.aggregate.ballots import Ballots
from topkit.aggregate.distances import kendall_distance, spearman_distance, top_k_distance
from topkit.aggregate.formats import read_rankings, runs_of_lists, write_ranking_table
from topkit.aggregate.fuse import AGGREGATORS, DEFAULT, aggregate, fuse, settings_of
from topkit.aggregate.luce import aggregate_preferences
from topkit.aggregate.result import Fusion, Outcome
from topkit.data import Run

__all__ = [
    "AGGREGATORS",
    "DEFAULT",
    "Ballots",
    "Fusion",
    "Outcome",
    "aggregate",
    "aggregate_preferences",
    "fuse",
    "kendall_distance",
    "read_rankings",
    "runs_of_lists",
    "settings_of",
    "spearman_distance",
    "top_k_distance",
    "write_ranking_table",
]


class _Room(ModuleType):
    """This module, which called is :func:`aggregate`."""

    def __call__(
        self,
        runs: Sequence[Run],
        method: str = DEFAULT,
        *,
        keep: int | None = None,
        seed: int = 0,
        **settings: object,
    ) -> Run:
        return aggregate(runs, method, keep=keep, seed=seed, **settings)


sys.modules[__name__].__class__ = _Room
