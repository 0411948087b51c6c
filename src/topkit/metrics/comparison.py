"""compare: which systems differ, with a test and a correction for the number of comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from topkit.data import InputError
from topkit.metrics.block import Floats
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


@dataclass(frozen=True)
class Pair:
    """Two systems: their means, the difference a − b, and its p-value before and after correction."""

    a: str
    b: str
    mean_a: float
    mean_b: float
    p: float
    corrected: float

    @property
    def difference(self) -> float:
        return self.mean_a - self.mean_b


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
                return Pair(pair.b, pair.a, pair.mean_b, pair.mean_a, pair.p, pair.corrected)
        raise KeyError(f"{names[0]!r} and {names[1]!r} were not compared")

    def better_than(self, name: str, level: float = 0.05) -> tuple[str, ...]:
        """The systems that this one beats significantly (corrected p below ``level``)."""
        sign = 1 if self.metric.measure.greater_is_better else -1
        beaten = []
        for pair in self.pairs:
            if name in (pair.a, pair.b) and pair.corrected < level:
                ahead, behind = (pair.a, pair.b) if sign * pair.difference > 0 else (pair.b, pair.a)
                if ahead == name:
                    beaten.append(behind)
        return tuple(beaten)

    def __str__(self) -> str:
        width = max(max(len(pair.a), len(pair.b)) for pair in self.pairs)
        lines = [
            f"{pair.a:<{width}}  {pair.b:<{width}}  {pair.difference:+.4f}  "
            f"p={pair.p:.4f}  corrected {pair.corrected:.4f}"
            for pair in self.pairs
        ]
        corrected = f"corrected by {self.correction}" if self.correction else "not corrected"
        if self.test == "tukey":
            corrected = "corrected for all pairs by the test itself"
        return "\n".join([*lines, f"{self.metric}, {self.queries} queries, {TESTS[self.test]}, {corrected}"])


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
    a  b  +0.4167  p=0.5000  corrected 0.5000
    rr, 3 queries, Fisher's randomisation test, corrected by holm
    """
    one = metric(which)
    if test not in TESTS:
        raise InputError(f"unknown test {test!r}", f"choose from {', '.join(TESTS)}")
    if correction is not None and correction not in CORRECTIONS:
        raise InputError(
            f"unknown correction {correction!r}", f"choose from {', '.join(CORRECTIONS)} or none"
        )
    if baseline is not None and baseline not in evaluations:
        raise InputError(f"the baseline {baseline!r} was not evaluated", f"there is {', '.join(evaluations)}")
    if len(evaluations) < 2:
        raise InputError("one system cannot be compared", "give at least two")
    names = list(evaluations)
    values = _aligned(evaluations, one)
    compared = [
        (i, j)
        for i, j in combinations(range(len(names)), 2)
        if baseline is None or baseline in (names[i], names[j])
    ]
    p_values = _p_values(values, compared, test, seed, samples)
    corrected = p_values
    if correction is not None and test != "tukey":
        corrected = CORRECTIONS[correction](p_values)
    means = [evaluation.mean[str(one)] for evaluation in evaluations.values()]
    pairs = tuple(
        Pair(names[i], names[j], means[i], means[j], float(p), float(c))
        for (i, j), p, c in zip(compared, p_values, corrected, strict=True)
    )
    return Comparison(one, test, correction, len(values), pairs)


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


def _aligned(evaluations: Mapping[str, Evaluation], one: Metric) -> Floats:
    """The values (queries, systems), in the order of the first system's queries."""
    (first_name, first), *others = evaluations.items()
    columns = [first.per_query[str(one)]]
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
                'evaluate all systems on the same ones; runs that leave queries out need missing="zero"',
            )
        columns.append(other.per_query[str(one)][[place[qid] for qid in first.qids]])
    values = np.stack(columns, axis=1)
    return np.log(np.maximum(values, FLOOR)) if one.measure.average == "geometric" else values
