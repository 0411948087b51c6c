"""The normalisations of :mod:`topkit.data.normalise` as ONNX operations on the rows of one query."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topkit.data.normalise import AUGMENTED
from topkit.export.onnx_graph import DOUBLE, FLOAT, Graph

Parts = tuple[str, str]
"""Names of the values to subtract and to divide by; dividing by 0 gives 0."""


class Columns:
    """The candidates of a query in the graph, and statistics of each column without missing values."""

    def __init__(self, graph: Graph, x: str) -> None:
        """``x`` is a double matrix in which NaN is a missing value."""
        self.graph, self.x = graph, x
        self.missing = graph.add("IsNaN", x)
        self.zero = graph.constant(0.0)
        self.rows = graph.constant([0], np.int64)

    def over_rows(self, operation: str, value: str) -> str:
        return self.graph.add(operation, value, self.rows, keepdims=1)

    def known(self, instead: float, value: str | None = None) -> str:
        """The values, with ``instead`` where they are missing."""
        return self.graph.add("Where", self.missing, self.graph.constant(instead), value or self.x)

    def low(self) -> str:
        return self.over_rows("ReduceMin", self.known(np.inf))

    def high(self) -> str:
        return self.over_rows("ReduceMax", self.known(-np.inf))

    def mean(self, values: str | None = None) -> str:
        """The mean of the values that are not missing; 0 if all are."""
        ones = self.graph.add("Where", self.missing, self.zero, self.graph.constant(1.0))
        count = self.graph.add("Max", self.over_rows("ReduceSum", ones), self.graph.constant(1.0))
        return self.graph.add("Div", self.over_rows("ReduceSum", self.known(0.0, values)), count)


def min_max(columns: Columns) -> Parts:
    low = columns.low()
    return low, columns.graph.add("Sub", columns.high(), low)


def z_score(columns: Columns) -> Parts:
    graph, mean = columns.graph, columns.mean()
    centred = graph.add("Sub", columns.x, mean)
    deviation = graph.add("Sqrt", columns.mean(graph.add("Mul", centred, centred)))
    varied = graph.add("Greater", columns.high(), columns.low())
    return mean, graph.add("Where", varied, deviation, columns.zero)


def sortnet(columns: Columns) -> Parts:
    graph = columns.graph
    largest = graph.add("Max", graph.add("Abs", columns.low()), graph.add("Abs", columns.high()))
    return columns.mean(), largest


NORMALISERS: dict[str, Callable[[Columns], Parts]] = {
    "min-max": min_max,
    "z-score": z_score,
    "sortnet": sortnet,
}


def normalised(graph: Graph, x: str, method: str) -> str:
    """The double matrix ``x`` normalised and rounded to 32 bits as in training; NaN stays NaN."""
    if method == AUGMENTED:
        return graph.add("Concat", x, normalised(graph, x, "z-score"), axis=1)
    columns = Columns(graph, x)
    centre, scale = NORMALISERS[method](columns)
    usable = graph.add("Greater", scale, columns.zero)
    divisor = graph.add("Where", usable, scale, graph.constant(1.0))
    ratio = graph.add("Div", graph.add("Sub", x, centre), divisor)
    finite = graph.add("Where", usable, ratio, columns.zero)
    result = graph.add("Where", columns.missing, x, finite)
    return graph.cast(graph.cast(result, FLOAT), DOUBLE)
