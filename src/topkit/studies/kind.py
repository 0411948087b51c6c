"""A kind of study: its settings, how to list its cells, how to compute one, and how to show the table.

A new kind is a file in ``kinds/`` and a line in ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from topkit.studies.cell import Cell, Outcome
from topkit.studies.parts import Part
from topkit.studies.results import Results
from topkit.studies.spec import Study

S = TypeVar("S")
W = TypeVar("W")


@dataclass(frozen=True)
class Code(Generic[S, W]):
    """The code of a kind; the frozen dataclasses ``S`` and ``W`` hold its settings and describe its cells."""

    settings: type[S]
    """Declared settings: the table ``[settings]`` of a study file."""
    work: type[W]
    cells: Callable[[Study[S]], Iterable[Cell[W]]]
    compute: Callable[[Cell[W]], Outcome]
    show: Callable[[Study[S], Results], Iterable[Part]]


@dataclass(frozen=True)
class Kind(Generic[S, W]):
    """A kind of study, and what a study file of this kind may leave out."""

    summary: str
    """What the study shows, without a full stop."""
    code: Code[S, W]
    metrics: tuple[str, ...] = ("ndcg@10", "map")
    """The measures unless the file names others; the first is the headline."""
    rankers: tuple[str, ...] = ()
    """The rankers unless the file names others; empty if the kind does not use rankers."""
    learns: bool = True
    """Whether it needs data sets."""
    truth: str = "labels"
    """The truth of a data set unless the file names another."""
