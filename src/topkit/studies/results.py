"""The long table of a study: one row per value, with the factors of its cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topkit.data.files import FilePath, written_whole
from topkit.studies.cell import Cell, Outcome

if TYPE_CHECKING:
    from topkit.metrics import Evaluation

Group = tuple[Any, ...]
"""Values of the factors that a mean is grouped by."""


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its 95 % interval by Student's t: mean ± t(0.975; n−1)·s/√n; zero width for one value.

    >>> [round(end, 3) for end in mean_interval([0.0, 1.0, 2.0])]  # t = 4.303, s = 1
    [1.0, -1.484, 3.484]
    """
    from scipy.stats import t

    n, mean = len(values), float(np.mean(values))
    half = float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    return mean, mean - half, mean + half


@dataclass(frozen=True)
class Results:
    """The cells of a study with their outcomes, in the order of the study.

    >>> done = Outcome({"query": ["a", "b"], "metric": ["map", "map"], "value": [0.5, 1.0]})
    >>> results = Results((Cell("compare", {"ranker": "x", "fold": 1}, None),), (done,))
    >>> results.mean("map", "ranker")
    {('x',): 0.75}
    """

    cells: tuple[Cell[Any], ...]
    outcomes: tuple[Outcome, ...]

    def __iter__(self) -> Iterator[tuple[Cell[Any], Outcome]]:
        return iter(zip(self.cells, self.outcomes, strict=True))

    def where(self, condition: Callable[[Cell[Any]], bool] | None = None, **factors: object) -> Results:
        """The cells with these factors for which ``condition`` is true."""
        kept = [
            (cell, outcome)
            for cell, outcome in self
            if all(cell.factors.get(name) == value for name, value in factors.items())
            and (condition is None or condition(cell))
        ]
        return Results(tuple(cell for cell, _ in kept), tuple(outcome for _, outcome in kept))

    def levels(self, factor: str) -> list[Any]:
        """The distinct values of a factor, in the order of the study."""
        return list(dict.fromkeys(cell.factors[factor] for cell in self.cells))

    def gather(self, metric: str, *by: str) -> dict[Group, dict[str, float]]:
        """Values of these factors or columns → query → its value, averaged over all cells that have it."""
        groups: dict[Group, dict[str, list[float]]] = {}
        for cell, outcome in self:
            columns = outcome.columns
            rows = len(columns["value"])
            grouped = [columns[name] if name in columns else [cell.factors[name]] * rows for name in by]
            queries = columns.get("query", [""] * rows)
            for place, name in enumerate(columns["metric"]):
                if name == metric:
                    by_query = groups.setdefault(tuple(column[place] for column in grouped), {})
                    by_query.setdefault(queries[place], []).append(columns["value"][place])
        return {
            group: {query: float(np.mean(values)) for query, values in by_query.items()}
            for group, by_query in groups.items()
        }

    def mean(self, metric: str, *by: str) -> dict[Group, float]:
        """Values of these factors → the mean over queries."""
        return {
            group: float(np.mean(list(by_query.values())))
            for group, by_query in self.gather(metric, *by).items()
        }

    def interval(self, metric: str, *by: str, over: str = "seed") -> dict[Group, tuple[float, float, float]]:
        """Values of these factors → mean over the levels of ``over`` and its 95 % interval (Student's t)."""
        per: dict[Group, list[float]] = {}
        for group, value in self.mean(metric, *by, over).items():
            per.setdefault(group[:-1], []).append(value)
        return {group: mean_interval(values) for group, values in per.items()}

    def evaluations(self, metrics: Sequence[str], convention: str, factor: str) -> dict[str, Evaluation]:
        """Level of a factor → its values for each query."""
        from topkit.metrics import Evaluation
        from topkit.metrics import convention as convention_named

        by_metric = {name: self.gather(name, factor) for name in metrics}
        evaluations = {}
        for level in self.levels(factor):
            by_query = {name: groups[(level,)] for name, groups in by_metric.items() if (level,) in groups}
            if not by_query:
                continue
            qids = tuple(next(iter(by_query.values())))
            arrays: dict[str, NDArray[np.float64]] = {
                name: np.array([values[qid] for qid in qids]) for name, values in by_query.items()
            }
            evaluations[str(level)] = Evaluation(qids, arrays, convention_named(convention), str(level))
        return evaluations

    def columns(self) -> dict[str, list[Any]]:
        """The long table by column: factors first, then the columns of the outcomes."""
        columns: dict[str, list[Any]] = {}
        for cell, outcome in self:
            rows = len(outcome.columns["value"])
            for name, value in cell.factors.items():
                columns.setdefault(name, []).extend([value] * rows)
            for name, values in outcome.columns.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def write(self, path: FilePath) -> None:
        """Write the long table as Parquet."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with written_whole(path) as temporary:
            pq.write_table(pa.table(self.columns()), temporary, compression="zstd")
