"""Strategies by name: they choose the next question until the top k are in order."""

from __future__ import annotations

from topkit.labelling.contest import Strategy
from topkit.labelling.strategies.adaptive import adaptive
from topkit.labelling.strategies.graded import graded
from topkit.labelling.strategies.heap import heap, heap_once
from topkit.labelling.strategies.insertion import insertion
from topkit.labelling.strategies.knockout import knockout
from topkit.labelling.strategies.merge_insertion import merge_insertion
from topkit.labelling.strategies.quicksort import quicksort
from topkit.labelling.strategies.reliable import reliable
from topkit.labelling.strategies.select_best import select_best
from topkit.labelling.strategies.setwise import best_of

STRATEGIES: dict[str, Strategy] = {
    "adaptive": adaptive,
    "reliable": reliable,
    "heap": heap,
    "heap-once": heap_once,
    "insertion": insertion,
    "knockout": knockout,
    "merge-insertion": merge_insertion,
    "quicksort": quicksort,
    "select-best": select_best,
    "setwise-3": best_of(3),
    "setwise-5": best_of(5),
    "setwise-10": best_of(10),
    "graded": graded,
}
"""Name → strategy."""

PAIRWISE = tuple(name for name in STRATEGIES if not name.startswith(("setwise", "graded")))
"""The strategies that compare two documents per question."""
