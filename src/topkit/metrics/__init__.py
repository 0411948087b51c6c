"""Measures with named conventions, and significance tests.

A *measure* is a formula in :data:`METRICS`, such as ``ndcg``. A *metric* is what a user asks for: a measure
at a depth and with settings, such as ``ndcg@10``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topkit.metrics.conventions import CONVENTIONS, Convention, convention
from topkit.metrics.evaluation import Evaluation, evaluate, evaluate_arrays
from topkit.metrics.measure import Measure
from topkit.metrics.measures import ALIASES, METRICS
from topkit.metrics.measures.discounted_gain import ideal_dcg
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
    "ideal_dcg",
    "metric",
    "parse_metrics",
    "ranked_order",
]


def __getattr__(name: str) -> Any:
    """Comparisons are loaded on first use: most evaluations do not need them."""
    if name in ("CORRECTIONS", "TESTS", "Comparison", "compare"):
        from topkit.metrics import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module 'topkit.metrics' has no attribute {name!r}")
