"""Measures with named conventions, and significance tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topkit.metrics.arrays import evaluate_arrays
from topkit.metrics.conventions import CONVENTIONS, Convention, convention
from topkit.metrics.datasets import evaluate
from topkit.metrics.evaluation import Evaluation
from topkit.metrics.measure import Measure
from topkit.metrics.measures import ALIASES, METRICS
from topkit.metrics.order import ranked_order
from topkit.metrics.parse import Metric, metric, parse_metrics
from topkit.metrics.runs import evaluate_run

if TYPE_CHECKING:
    from topkit.metrics.comparison import Comparison, compare
    from topkit.metrics.significance import CORRECTIONS, TESTS

__all__ = [
    "ALIASES",
    "CONVENTIONS",
    "CORRECTIONS",
    "METRICS",
    "TESTS",
    "Comparison",
    "Convention",
    "Evaluation",
    "Measure",
    "Metric",
    "compare",
    "convention",
    "evaluate",
    "evaluate_arrays",
    "evaluate_run",
    "metric",
    "parse_metrics",
    "ranked_order",
]


def __getattr__(name: str) -> Any:
    """Comparisons are loaded when they are first used: most evaluations need none."""
    if name in ("CORRECTIONS", "TESTS", "Comparison", "compare"):
        from topkit.metrics import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module 'topkit.metrics' has no attribute {name!r}")
