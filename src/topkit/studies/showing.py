"""Parts that several kinds of study show: tables with marks, hard queries, scatters of two methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from topkit.metrics import Evaluation, compare, metric
from topkit.studies.kind import Part, Plot, Table
from topkit.studies.plots import bars, scatter
from topkit.studies.results import Results
from topkit.studies.tables import ResultTable

LEVEL = 0.05


def score_table(
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[str],
    caption: str,
    *,
    baseline: str = "",
    test: str = "t",
    correction: str = "holm",
) -> ResultTable:
    """Means over queries, with marks where a row differs from the baseline."""
    from topkit.metrics import TESTS

    first = next(iter(evaluations.values()))
    marks: dict[tuple[str, str], str] = {}
    notes = [f"{caption}; {len(first.qids)} test queries; convention {first.convention}"]
    if baseline in evaluations and len(evaluations) > 1:
        for column in metrics:
            for pair in compare(evaluations, column, test, correction, baseline).pairs:
                if pair.corrected < LEVEL:
                    other, gain = (
                        (pair.b, -pair.difference) if pair.a == baseline else (pair.a, pair.difference)
                    )
                    better = (gain > 0) == metric(column).measure.greater_is_better
                    marks[other, column] = "▲" if better else "▼"
        notes.append(
            f"▲ ▼: better or worse than {baseline}, p < {LEVEL:g}, {TESTS[test]}, "
            + (
                "for all pairs"
                if test == "tukey"
                else f"{len(evaluations) - 1} comparisons corrected by {correction}"
            )
        )
    return ResultTable(
        tuple(metrics),
        tuple((name, tuple(found.mean[m] for m in metrics)) for name, found in evaluations.items()),
        tuple(notes),
        tuple(metric(m).measure.greater_is_better for m in metrics),
        marks,
    )


def by_query(
    name: str, evaluations: Mapping[str, Evaluation], which: str, baseline: str
) -> Iterator[Plot | Table]:
    """The best method against the baseline, query by query, and the queries that are hard for all."""
    sign = 1 if metric(which).measure.greater_is_better else -1
    ranked = sorted(evaluations, key=lambda row: -sign * evaluations[row].mean[which])
    if len(ranked) < 2:
        return
    best = ranked[0] if ranked[0] != baseline else ranked[1]
    other = baseline if baseline in evaluations else ranked[1]
    one, two = evaluations[other], evaluations[best]
    place = {qid: q for q, qid in enumerate(two.qids)}
    pairs = [
        (float(value), float(two.per_query[which][place[qid]]))
        for qid, value in zip(one.qids, one.per_query[which], strict=True)
    ]
    above = sum(y > x for x, y in pairs)
    below = sum(y < x for x, y in pairs)
    yield Plot(
        f"scatter-{name}",
        scatter(pairs, f"{which} of {other}", f"{which} of {best}"),
        f"{name}: each test query by two methods. {best} is above {other} on {above}, below on {below}, "
        f"equal on {len(pairs) - above - below}.",
    )
    yield Table(f"hardest-{name}", hardest(evaluations, which))


def hardest(evaluations: Mapping[str, Evaluation], which: str, many: int = 10) -> ResultTable:
    """The queries with the worst mean over all methods, of those where methods differ.

    Where all are equal (no relevant document, say) there is nothing to learn from looking.
    """
    sign = 1 if metric(which).measure.greater_is_better else -1
    qids = next(iter(evaluations.values())).qids
    values = np.array(
        [
            [dict(zip(found.qids, found.per_query[which], strict=True))[qid] for qid in qids]
            for found in evaluations.values()
        ]
    )
    open_ones = np.flatnonzero(np.ptp(values, axis=0) > 0)
    order = open_ones[np.argsort(sign * values.mean(axis=0)[open_ones], kind="stable")][:many]
    rows = tuple(
        (
            f"query {qids[q]}",
            (float(values[:, q].mean()), float(values[:, q].min()), float(values[:, q].max())),
        )
        for q in order
    )
    note = f"the {len(rows)} hardest queries on which methods differ: {which} over {len(evaluations)} methods"
    return ResultTable(("mean", "least", "largest"), rows, (note,), marks={}, bold=False)


def importance_plot(name: str, results: Results, row: str, factor: str = "ranker") -> Iterator[Part]:
    """The features whose shuffling costs most, over the folds of one method."""
    found = [
        outcome.facts["importance"]
        for _, outcome in results.where(lambda cell: cell.factors[factor] == row)
        if "importance" in outcome.facts
    ]
    if not found:
        return
    mean = {feature: float(np.mean([one.get(feature, 0.0) for one in found])) for feature in found[0]}
    top = dict(sorted(mean.items(), key=lambda item: -item[1])[:12])
    yield Plot(
        f"importance-{name}",
        bars(top, "loss of the measure when shuffled"),
        f"{name}: the features that {row} leans on: how much its validation measure falls when a feature's "
        f"values are shuffled within each query, mean of {len(found)} fits.",
    )
