"""Measures with named conventions, and significance tests."""

from topkit.metrics.arrays import evaluate_arrays
from topkit.metrics.comparison import Comparison, compare
from topkit.metrics.conventions import CONVENTIONS, Convention, convention
from topkit.metrics.datasets import evaluate
from topkit.metrics.evaluation import Evaluation
from topkit.metrics.measure import Measure
from topkit.metrics.measures import ALIASES, METRICS
from topkit.metrics.order import ranked_order
from topkit.metrics.parse import Metric, metric, parse_metrics
from topkit.metrics.runs import evaluate_run
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
