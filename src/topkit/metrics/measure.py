"""What a measure is: a formula under a name, with its array form and, for some, a compiled form.

A *measure* is an entry of :data:`topkit.metrics.METRICS`, such as ``ndcg``. A *metric* is what a user asks
for: a measure at a depth and with settings, such as ``ndcg@10`` (:class:`topkit.metrics.Metric`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from topkit.compute import Floats
from topkit.data.settings import Setting, settings_of

Needs = Literal["labels", "order", "top-k", "preferences", "clicks"]

Depths = list[int | None]
"""Depths of one measure; None is the whole list."""

Rel = Annotated[float | None, Setting("Smallest relevant label; none takes that of the convention.")]
"""The setting of all binary measures."""

MeasureFunction = Callable[..., Floats]
"""``function(block, depths, convention, **settings)``: all depths of one measure for a block of ranked lists,
as an array (depths, queries)."""


@dataclass(frozen=True)
class FastMeasure:
    """A metric on one data set as the arrays that a kernel evaluates.

    ``kind`` names a value function of :mod:`topkit.metrics.compiled.kernels`.
    """

    kind: Literal["discounted_sum", "precision_at_hits", "cascade", "first_hit"]
    gain: Floats
    """One number per document."""
    discount: Floats
    """One number per rank, down to the depth."""
    fixed: Floats
    """The value of each query whose value does not depend on the order, else NaN."""


CompiledForm = Callable[..., FastMeasure | None]
"""``compiled(dataset, depth, convention, **settings)``: the metric for a kernel, for conventions that keep
the input order of ties; None if the kernel cannot represent it on this data. Pure NumPy: only the evaluation
of the result imports Numba."""


@dataclass(frozen=True)
class Measure:
    """One entry of :data:`topkit.metrics.METRICS`."""

    title: str
    function: MeasureFunction
    depth: Literal["never", "optional"] = "optional"
    """Whether ``name@depth`` is allowed; without a depth the whole list counts."""
    greater_is_better: bool = True
    needs: Needs = "labels"
    """The truth it needs: labels of any kind, a total order at the top, top-k labels, preferences, clicks."""
    average: Literal["mean", "geometric", "sum"] = "mean"
    """How the values of queries are combined."""
    compiled: CompiledForm | None = None
    """The form for training, if there is one; it gives the same values as ``function``."""

    @cached_property
    def settings(self) -> dict[str, Setting]:
        """The settings that the function declares, written ``name(setting=value)``."""
        return settings_of(self.function)
