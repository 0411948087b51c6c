"""The settings of the loop study, shared by its cells and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from topkit.data.settings import Setting

PUBLISHED = "published"
"""The plan to compare with: heap, k = 10, all documents, queries in random order, learns from labels."""
LOOP = "loop"

_ALONE = {"choose": "random", "k": 10, "start": "nowhere", "strategy": "heap", "check_share": 0.0}
"""The published strategy as a loop: no decision of the loop, except that it learns from pairs."""

PLANS: Mapping[str, Mapping[str, Any]] = {
    LOOP: {},
    "query alone": _ALONE | {"choose": "change"},
    "depth alone": _ALONE | {"k": None},
    "start alone": _ALONE | {"start": "ranker", "strategy": "adaptive"},
    "pairs alone": _ALONE,
    "random": {"choose": "random"},
    "uncertainty": {"choose": "uncertainty"},
    "coverage": {"choose": "coverage"},
    "promise": {"choose": "promise"},
}
"""Name → what differs from the settings of a loop."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``loop``."""

    minutes: Annotated[int, Setting("Assessor time of each loop.", low=10)] = 120
    published_minutes: Annotated[int, Setting("Assessor time of the published strategy.", low=10)] = 240
    every: Annotated[
        int, Setting("Minutes between two measurements; twice that for the published strategy.", low=1)
    ] = 10
    errors: Annotated[tuple[float, ...], Setting("Error rates of an assessor.", above=0.0, high=0.49)] = (
        0.05,
        0.15,
    )
    plans: Annotated[
        tuple[str, ...],
        Setting(
            "What to compare with the published strategy: the loop, one of its decisions alone, learning "
            "from pairs alone, or the loop with another choice of queries.",
            choices=tuple(PLANS),
        ),
    ] = (LOOP,)
    k: Annotated[int, Setting("The k of the published strategy.", low=1)] = 10
