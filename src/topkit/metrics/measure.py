"""What a measure is: a function of a block of ranked lists, with the facts that users and tools ask about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from topkit.metrics.block import Floats

Needs = Literal["labels", "order", "top-k", "preferences", "clicks"]


MeasureFunction = Callable[..., Floats]
"""``function(block, depths, convention, **settings)``: all depths of one measure for a block of ranked lists,
as an array (depths, queries). A depth of None means the whole list."""


@dataclass(frozen=True)
class Measure:
    """One entry of :data:`topkit.metrics.METRICS`."""

    title: str
    function: MeasureFunction
    depth: Literal["never", "optional"] = "optional"
    """Whether ``name@depth`` makes sense; without a depth the whole list counts."""
    greater_is_better: bool = True
    settings: Mapping[str, float | None] = field(default_factory=dict)
    """Named settings with their defaults, written ``name(setting=value)``; None is left to the convention."""
    needs: Needs = "labels"
    """The truth it needs: labels of any kind, a total order at the top, top-k labels, preferences, clicks."""
    average: Literal["mean", "geometric", "sum"] = "mean"
    """How values of queries become one."""
