"""compare: which systems differ, with a significance test and a correction for the number of comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from topkit.compute import Floats
from topkit.data import InputError
from topkit.data.settings import lookup
from topkit.data.table import Table
from topkit.metrics.evaluation import FLOOR, Evaluation
from topkit.metrics.parse import Metric, metric
from topkit.metrics.significance import (
    CORRECTIONS,
    SAMPLES,
    TESTS,
    paired_t,
    randomisation,
    randomised_tukey,
    wilcoxon,
)

LEVEL = 0.05
"""The usual significance level."""
COLUMNS = ("a", "b", "mean_a", "mean_b", "difference", "p", "corrected")
"""The columns of a comparison as a table."""


@dataclass(frozen=True)
class Pair:
    """Two systems: their means, and the p-value of their difference before and after correction."""

    a: str
    b: str
    mean_a: float
    mean_b: float
    p: float
    corrected: float
    greater_is_better: bool = True

    @property
    def difference(self) -> float:
        """The mean of a minus that of b."""
        return self.mean_a - self.mean_b

    def direction(self, level: float = LEVEL) -> int:
        """1 if a is significantly better than b, −1 if it is significantly worse, else 0.

        For measures whose smaller values are better, a smaller mean counts as better.
        """
        if not self.corrected < level:
            return 0
        sign = (self.difference > 0) - (self.difference < 0)
        return sign if self.greater_is_better else -sign

    def turned(self) -> Pair:
        """The same comparison with b first."""
        return Pair(self.b, self.a, self.mean_b, self.mean_a, self.p, self.corrected, self.greater_is_better)


@dataclass(frozen=True)
class Comparison:
    """All pairs of systems (or each system with the baseline) under one metric and one test."""

    metric: Metric
    test: str
    correction: str | None
    queries: int
    pairs: tuple[Pair, ...]

    def __getitem__(self, names: tuple[str, str]) -> Pair:
        """The pair of these two systems, in this order."""
        for pair in self.pairs:
            if (pair.a, pair.b) == names:
                return pair
            if (pair.b, pair.a) == names:
                return pair.turned()
        raise KeyError(f"{names[0]!r} and {names[1]!r} were not compared")

    def against(self, baseline: str) -> dict[str, Pair]:
        """System → its comparison with the baseline, the system first."""
        return {
            (pair.b if pair.a == baseline else pair.a): pair.turned() if pair.a == baseline else pair
            for pair in self.pairs
            if baseline in (pair.a, pair.b)
        }

    def better_than(self, name: str, level: float = LEVEL) -> tuple[str, ...]:
        """The systems that this system significantly outperforms (corrected p below ``level``)."""
        return tuple(other for other, pair in self.against(name).items() if pair.direction(level) < 0)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with one row per pair: a, b, mean_a, mean_b, difference, p, corrected.

        backend: see :meth:`topkit.metrics.Evaluation.to_frame`.
        """
        return self.table().to_frame(backend)

    def table(self, level: float = LEVEL) -> Table:
        """One row per pair; p-values below ``level`` after correction are bold."""
        rows = [[getattr(pair, name) for name in COLUMNS] for pair in self.pairs]
        significant = {
            (i, COLUMNS.index("corrected")) for i, pair in enumerate(self.pairs) if pair.corrected < level
        }
        corrected = f"corrected by {self.correction}" if self.correction else "not corrected"
        if self.test == "tukey":
            corrected = "corrected for all pairs by the test itself"
        note = f"{self.metric}, {self.queries} queries, {TESTS[self.test]}, {corrected}"
        return Table(COLUMNS, rows, [note], align="llrrrrr", bold=significant)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def compare(
    evaluations: Mapping[str, Evaluation],
    which: str | Metric,
    test: str = "t",
    correction: str | None = "holm",
    baseline: str | None = None,
    seed: int = 0,
    samples: int = SAMPLES,
) -> Comparison:
    """Compare systems query by query.

    test: ``t``, ``wilcoxon``, ``randomisation`` (Fisher's) or ``tukey`` (randomised HSD, which corrects for
    the number of pairs by itself). correction: ``holm``, ``bonferroni`` or None, over all pairs compared.
    baseline: compare only with this system. seed and samples are for the two randomised tests.

    >>> from topkit.metrics import CONVENTIONS
    >>> e = {name: Evaluation(("q1", "q2", "q3"), {"rr": np.array(rr)}, CONVENTIONS["trec"])
    ...      for name, rr in {"a": [1.0, 0.5, 1.0], "b": [0.5, 0.5, 0.25]}.items()}
    >>> print(compare(e, "rr", test="randomisation"))
    a  b  mean_a  mean_b  difference       p  corrected
    a  b  0.8333  0.4167      0.4167  0.5000     0.5000
    rr, 3 queries, Fisher's randomisation test, corrected by holm
    """
    chosen = metric(which)
    lookup(TESTS, test, "test")
    correct = None if correction is None else lookup(CORRECTIONS, correction, "correction")
    if baseline is not None and baseline not in evaluations:
        raise InputError(
            f"the baseline {baseline!r} was not evaluated", f"choose from {', '.join(evaluations)}"
        )
    if len(evaluations) < 2:
        raise InputError("expected at least two systems to compare, got one", "evaluate another system")
    names = list(evaluations)
    values = _aligned(evaluations, chosen)
    compared = [
        (i, j)
        for i, j in combinations(range(len(names)), 2)
        if baseline is None or baseline in (names[i], names[j])
    ]
    p_values = _p_values(values, compared, test, seed, samples)
    corrected = p_values if correct is None or test == "tukey" else correct(p_values)
    means = [evaluation.mean[str(chosen)] for evaluation in evaluations.values()]
    greater = chosen.measure.greater_is_better
    pairs = tuple(
        Pair(names[i], names[j], means[i], means[j], float(p), float(after), greater)
        for (i, j), p, after in zip(compared, p_values, corrected, strict=True)
    )
    return Comparison(chosen, test, correction, len(values), pairs)


def _p_values(values: Floats, compared: list[tuple[int, int]], test: str, seed: int, samples: int) -> Floats:
    if test == "tukey":
        table = randomised_tukey(values, samples, seed)
        return np.array([table[i, j] for i, j in compared])
    differences = [values[:, i] - values[:, j] for i, j in compared]
    if test == "t":
        return np.array([paired_t(difference) for difference in differences])
    if test == "wilcoxon":
        return np.array([wilcoxon(difference) for difference in differences])
    return np.array([randomisation(difference, samples, seed) for difference in differences])


def _aligned(evaluations: Mapping[str, Evaluation], which: Metric) -> Floats:
    """The values (queries, systems), in the order of the first system's queries."""
    (first_name, first), *others = evaluations.items()
    columns = [first.per_query[str(which)]]
    for name, other in others:
        if other.convention != first.convention:
            raise InputError(
                f"{first_name!r} and {name!r} follow different conventions",
                "evaluate all systems under one convention",
            )
        place = {qid: q for q, qid in enumerate(other.qids)}
        if set(place) != set(first.qids):
            raise InputError(
                f"{first_name!r} and {name!r} were evaluated on different queries",
                'evaluate all systems on the same queries; for runs that lack queries use missing="zero"',
            )
        columns.append(other.per_query[str(which)][[place[qid] for qid in first.qids]])
    values = np.stack(columns, axis=1)
    return np.log(np.maximum(values, FLOOR)) if which.measure.average == "geometric" else values
