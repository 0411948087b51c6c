"""A study as a frozen specification: data sets, rankers, measures, seeds and the settings of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True)
class Source:
    """A data set: its files, its folds and the truth to learn from."""

    name: str
    files: str = "demo"
    """``demo`` for the embedded data, one file, or a pattern with {fold} and {part} (train, vali, test).
    {data} is the folder TOPKIT_DATA, else ../shared/data; other paths are relative to the study file."""
    folds: tuple[int, ...] = (1, 2, 3, 4, 5)
    """The folds to run. A single file is split into five at random (seed 0)."""
    labels: str = "graded"
    """What the labels in the files mean: graded, order or top-K."""
    truth: str = "labels"
    """What rankers learn from: the labels; order (a random full order that agrees with the grades) or top-K
    (that order cut at K); teacher (a full order: grades, then the scores of a teacher that is cross-fitted
    within the split, with noise) or teacher-K (that order cut at K). The seeds of the study draw the random
    order and the noise."""
    convention: str = "yahoo"
    """The convention of its measures; the study's convention unless given."""


@dataclass(frozen=True)
class Contestant:
    """A ranker with its settings and the values to try on validation data."""

    ranker: str
    name: str = ""
    """The name in tables; the ranker's name unless given."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Setting → values. Every combination is fitted, and the best on validation data is kept."""
    trials: int = 1
    """If greater than 1, the number of settings to draw from the ranker's search space."""


@dataclass(frozen=True)
class Study(Generic[S]):
    """What a study file says. ``settings`` is the frozen dataclass of its kind."""

    kind: str
    title: str
    data: tuple[Source, ...]
    rankers: tuple[Contestant, ...]
    metrics: tuple[str, ...]
    choose: str
    """The measure by which settings are chosen on validation data."""
    seeds: tuple[int, ...]
    settings: S
    folder: Path = Path()
    """The folder that relative paths start from."""
