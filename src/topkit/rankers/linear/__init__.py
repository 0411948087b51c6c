"""Linear rankers: BestFeature, Coordinate Ascent, the perceptron, and the sigmoid meta-ranker."""

from __future__ import annotations

from topkit.rankers.linear.ascent import CoordinateAscent
from topkit.rankers.linear.bestfeature import BestFeature
from topkit.rankers.linear.margins import Margins, pair_margins
from topkit.rankers.linear.outliers import without_outliers
from topkit.rankers.linear.perceptron import Perceptron
from topkit.rankers.linear.sigmoid import Sigmoid, refine_with_sigmoid

__all__ = [
    "BestFeature",
    "CoordinateAscent",
    "Margins",
    "Perceptron",
    "Sigmoid",
    "pair_margins",
    "refine_with_sigmoid",
    "without_outliers",
]
