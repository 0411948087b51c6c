"""Parts that several kinds of study show: score tables, hard queries, two methods query by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from topkit.metrics import Evaluation, metric
from topkit.reporting.marks import near_best_marks, significance_marks
from topkit.reporting.plots import bars, scatter
from topkit.reporting.tables import ScoreTable
from topkit.studies.parts import Part, PlotPart, TablePart
from topkit.studies.results import Results


def score_table(
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[str],
    caption: str,
    *,
    baseline: str = "",
    test: str = "t",
    correction: str = "holm",
    sigma: bool = False,
) -> ScoreTable:
    """Means over queries, with marks where a row differs significantly from the baseline.

    ``sigma`` also marks the values within one standard deviation of the mean of the best.
    """
    first = next(iter(evaluations.values()))
    marks: dict[tuple[str, str], str] = {}
    notes = [f"{caption}; {len(first.qids)} test queries; convention {first.convention}"]
    if baseline in evaluations and len(evaluations) > 1:
        marks, note = significance_marks(
            evaluations, metrics, baseline=baseline, test=test, correction=correction
        )
        notes.append(note)
    if sigma:
        near, note = near_best_marks(evaluations, metrics)
        marks = {key: near.get(key, "") + marks.get(key, "") for key in {**near, **marks}}
        notes.append(note)
    return ScoreTable(
        tuple(metrics),
        tuple((name, tuple(result.mean[m] for m in metrics)) for name, result in evaluations.items()),
        tuple(notes),
        tuple(metric(m).measure.greater_is_better for m in metrics),
        marks,
    )


def best_first(evaluations: Mapping[str, Evaluation], which: str) -> list[str]:
    """The names of the evaluations, ordered by the mean of a measure."""
    sign = 1 if metric(which).measure.greater_is_better else -1
    return sorted(evaluations, key=lambda name: -sign * evaluations[name].mean[which])


def by_query(
    name: str, evaluations: Mapping[str, Evaluation], which: str, baseline: str
) -> Iterator[PlotPart | TablePart]:
    """The best method against the baseline for each query, and the queries that are hard for all methods."""
    ranked = best_first(evaluations, which)
    if len(ranked) < 2:
        return
    best = ranked[0] if ranked[0] != baseline else ranked[1]
    other = baseline if baseline in evaluations else ranked[1]
    value_of_best = dict(
        zip(evaluations[best].qids, evaluations[best].per_query[which].tolist(), strict=True)
    )
    pairs = [
        (float(value), value_of_best[qid])
        for qid, value in zip(evaluations[other].qids, evaluations[other].per_query[which], strict=True)
    ]
    above = sum(y > x for x, y in pairs)
    below = sum(y < x for x, y in pairs)
    yield PlotPart(
        f"scatter-{name}",
        scatter(pairs, f"{which} of {other}", f"{which} of {best}"),
        f"{name}: each test query under two methods. {best} is above {other} on {above}, below on {below}, "
        f"equal on {len(pairs) - above - below}.",
    )
    yield TablePart(f"hardest-{name}", hardest(evaluations, which))


def hardest(evaluations: Mapping[str, Evaluation], which: str, many: int = 10) -> ScoreTable:
    """The queries with the worst mean over all methods.

    Queries on which all methods are equal, for example because no document is relevant, are left out.
    """
    sign = 1 if metric(which).measure.greater_is_better else -1
    qids = next(iter(evaluations.values())).qids
    values = np.array(
        [
            [dict(zip(result.qids, result.per_query[which], strict=True))[qid] for qid in qids]
            for result in evaluations.values()
        ]
    )
    differing = np.flatnonzero(np.ptp(values, axis=0) > 0)
    order = differing[np.argsort(sign * values.mean(axis=0)[differing], kind="stable")][:many]
    rows = tuple(
        (
            f"query {qids[q]}",
            (float(values[:, q].mean()), float(values[:, q].min()), float(values[:, q].max())),
        )
        for q in order
    )
    note = f"the {len(rows)} hardest queries on which methods differ: {which} over {len(evaluations)} methods"
    return ScoreTable(("mean", "minimum", "maximum"), rows, (note,), bold=False)


def importance_plot(name: str, results: Results, ranker: str) -> Iterator[Part]:
    """The most important features of one ranker, over its folds."""
    importances = [
        outcome.facts["importance"]
        for _, outcome in results.where(ranker=ranker)
        if "importance" in outcome.facts
    ]
    if not importances:
        return
    mean = {
        feature: float(np.mean([importance.get(feature, 0.0) for importance in importances]))
        for feature in importances[0]
    }
    top = dict(sorted(mean.items(), key=lambda item: -item[1])[:12])
    yield PlotPart(
        f"importance-{name}",
        bars(top, "loss of the measure when shuffled"),
        f"{name}: the most important features of {ranker}: how much its validation measure falls when a "
        f"feature's values are shuffled within each query, mean of {len(importances)} fits.",
    )
