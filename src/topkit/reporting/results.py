"""Evaluations side by side as one table, and results as plots; ``topkit eval`` prints these tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from topkit.data import InputError
from topkit.data.words import counted
from topkit.metrics import Evaluation, metric
from topkit.reporting.tables import ScoreTable, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from topkit.metrics.comparison import Comparison

Key = tuple[str, str]


def score_table(
    evaluations: Mapping[str, Evaluation],
    *,
    test: str | None = None,
    baseline: str | None = None,
    correction: str | None = "holm",
    interval: bool = False,
    seed: int = 0,
) -> ScoreTable:
    """Systems in rows and metrics in columns, as ``topkit eval`` prints them.

    test: mark significant differences to ``baseline`` (by default the first system); see
    :func:`topkit.compare`. interval: add 95 % bootstrap intervals. ``print`` shows text and a notebook shows
    HTML; ``.table()`` has ``markdown()`` and ``latex()``; there are ``csv()``, ``json()`` and ``to_frame()``.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.0]] * 4, [0, 2, 1, 0], ["a", "a", "b", "b"])
    >>> scores = {"good": [0, 1, 1, 0], "bad": [1, 0, 1, 0]}
    >>> evaluations = {name: tk.evaluate(data, s, "rr,map") for name, s in scores.items()}
    >>> print(score_table(evaluations).table().markdown().splitlines()[3])
    | bad | 0.7500 | 0.7500 |
    """
    if not evaluations:
        raise InputError("there is no evaluation to show", "give at least one system")
    first = next(iter(evaluations.values()))
    columns = tuple(first.mean)
    notes = [f"{counted(len(first.qids), 'query')}; convention {first.convention}", *remarks(evaluations)]
    intervals: dict[Key, tuple[float, float]] = {}
    if interval:
        notes.append("in brackets: 95 % bootstrap interval over queries")
        intervals = {
            (name, column): result.interval(column, seed=seed)
            for name, result in evaluations.items()
            for column in columns
        }
    marks: dict[Key, str] = {}
    p_values: dict[Key, tuple[float, float]] = {}
    if test is not None:
        from topkit.reporting.marks import significance

        marks, note, p_values = significance(
            evaluations,
            columns,
            baseline=next(iter(evaluations)) if baseline is None else baseline,
            test=test,
            correction=correction,
            seed=seed,
        )
        notes.append(note)
    return ScoreTable(
        columns,
        tuple((name, tuple(result.mean[c] for c in columns)) for name, result in evaluations.items()),
        tuple(notes),
        tuple(metric(column).measure.greater_is_better for column in columns),
        marks,
        intervals,
        facts=query_facts(evaluations),
        p_values=p_values,
    )


def per_query_table(evaluations: Mapping[str, Evaluation]) -> Table:
    """One row per system and query, with a column per metric."""
    first = next(iter(evaluations.values()))
    columns = tuple(first.per_query)
    rows = [
        (name, qid, *values)
        for name, result in evaluations.items()
        for qid, *values in zip(
            result.qids, *(result.per_query[column].tolist() for column in columns), strict=True
        )
    ]
    notes = [f"convention {first.convention}", *remarks(evaluations)]
    return Table(("system", "query", *columns), rows, notes, align="ll" + "r" * len(columns))


def remarks(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """What queries without a relevant document count: one line if it is the same for all systems."""
    by_name = {name: result.remark for name, result in evaluations.items()}
    if len(set(by_name.values())) == 1:
        return [remark for remark in list(by_name.values())[:1] if remark]
    return [f"{name}: {remark}" for name, remark in by_name.items() if remark]


def query_facts(evaluations: Mapping[str, Evaluation]) -> dict[str, dict[str, float | None]]:
    """System → its number of queries, and those without a relevant document, for JSON."""
    return {
        name: {
            "queries": len(result.qids),
            "queries_without_relevant": result.without_relevant,
            "value_without_relevant": result.convention.empty,
        }
        for name, result in evaluations.items()
    }


def plot(result: Evaluation | Comparison | Mapping[str, Evaluation], which: str | None = None) -> Figure:
    """A matplotlib figure of a result; ``figure.savefig("plot.svg")`` writes it.

    An evaluation gives the distribution of a metric over queries; a dictionary of evaluations the mean of
    each system with its 95 % bootstrap interval; a comparison the difference of each pair. ``which`` is the
    metric, by default the first one.
    """
    from topkit.metrics.comparison import Comparison
    from topkit.reporting import plots

    if isinstance(result, Comparison):
        pairs = {f"{pair.a} − {pair.b}": pair.difference for pair in result.pairs}
        return plots.bars(pairs, f"difference of {result.metric}")
    if isinstance(result, Evaluation):
        import numpy as np

        name = which or next(iter(result.mean))
        counts, edges = np.histogram(result.per_query[name], bins=20)
        return plots.bins(edges.tolist(), counts.tolist(), name, "queries")
    if not result:
        raise InputError("there is no evaluation to show", "give at least one system")
    name = which or next(iter(next(iter(result.values())).mean))
    points = {
        system: (evaluation.mean[name], *evaluation.interval(name)) for system, evaluation in result.items()
    }
    return plots.intervals(points, name)
