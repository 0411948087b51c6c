"""audit: what is wrong with a data set before anyone learns from it, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from topkit.data import Dataset, InputError, concatenate
from topkit.features.audit_checks import (
    Finding,
    constants,
    contradictions,
    empty_queries,
    leaks,
    shared_queries,
)
from topkit.features.audit_tails import TailCheck, added_beyond_cut, beyond_cut
from topkit.metrics import evaluate
from topkit.metrics.significance import holm, paired_t

ORDER = "order in the file"


@dataclass(frozen=True)
class Single:
    """One feature alone as a ranker."""

    feature: str
    forward: float
    """The metric when larger values come first."""
    reverse: float
    """The metric when smaller values come first."""
    p: float
    """Two-sided paired t-test of forward against reverse over queries, by Holm's correction."""

    @property
    def best(self) -> float:
        return max(self.forward, self.reverse)


@dataclass(frozen=True)
class Audit:
    """The findings, worst first, and every feature alone in both directions."""

    metric: str
    queries: int
    documents: int
    random: float
    """The metric of a random order, the mean of some."""
    findings: tuple[Finding, ...]
    singles: tuple[Single, ...]
    tails: tuple[TailCheck, ...]
    """For each feature, how often a query's last document is relevant."""

    @property
    def passed(self) -> bool:
        """Whether nothing was found that makes results on the data set misleading."""
        return not any(finding.verdict == "problem" for finding in self.findings)

    def __str__(self) -> str:
        lines = [f"{self.queries:,} queries, {self.documents:,} documents"]
        lines += [f"{finding.verdict.upper():<8} {finding.text}" for finding in self.findings]
        lines.append(f"{'feature':<24} {'larger first':>12} {'smaller first':>13}   {self.metric}")
        shown = sorted(self.singles, key=lambda single: -single.best)[:10]
        lines += [f"{one.feature:<24.24} {one.forward:12.4f} {one.reverse:13.4f}" for one in shown]
        lines.append(f"{'a random order':<24} {self.random:12.4f}")
        lines.append("verdict: " + ("passed" if self.passed else "do not compare methods on this data set"))
        return "\n".join(lines)

    def plot(self, path: str | PathLike[str]) -> None:
        """Every feature in both directions, as a picture (.png, .svg or .pdf)."""
        from matplotlib.figure import Figure

        shown = sorted(self.singles, key=lambda single: single.best)[-30:]
        places = np.arange(len(shown))
        figure = Figure(figsize=(7, 1.2 + 0.24 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        axes.barh(places + 0.2, [one.forward for one in shown], 0.4, label="larger first", color="#3b6ea5")
        axes.barh(places - 0.2, [one.reverse for one in shown], 0.4, label="smaller first", color="#d98c3f")
        axes.axvline(self.random, color="0.4", linestyle=":", label="random order")
        axes.set_yticks(places, [one.feature for one in shown], fontsize=7)
        axes.set_xlabel(self.metric)
        axes.set_title("one feature as a ranker: " + ("passed" if self.passed else "biased or leaking"))
        axes.legend(loc="lower right")
        figure.savefig(path)


def audit_dataset(
    data: Dataset | Mapping[str, Dataset],
    *,
    metric: str = "map",
    cut: int | None = None,
    by: str | None = None,
    seed: int = 0,
) -> Audit:
    """Look for what makes results on a data set misleading.

    Checked are: every feature alone and reversed; whether relevant documents were added beyond a cut (the
    last documents by a feature are relevant far more often than others, although the feature ranks well);
    relevant documents beyond ``cut`` by a feature; duplicate and contradictory documents; constant and
    leaking features; an order of the file that gives the labels away; queries without relevant documents;
    and, when ``data`` names several parts (train, vali, test), queries in more than one of them, exactly or
    nearly.

    Documents are shuffled within queries (seeded) first, so that ties profit from no order. The singles are
    over queries with both relevant (label above 0) and other documents.

    cut, by: a depth and the feature that it counts by; by default the first one with bm25 in its name, else
    the one that ranks best alone.

    >>> X = [[3.0], [1.0], [2.0], [4.0], [5.0], [9.0]]
    >>> print(audit_dataset(Dataset.build(X, [2, 1, 0, 0, 1, 0], list("aaabbc"))).findings[0].text)
    1 of 3 queries have no relevant document: they teach nothing
    """
    parts = {"data": data} if isinstance(data, Dataset) else dict(data)
    if not parts:
        raise InputError("there is no data set to audit")
    findings = shared_queries(parts) if len(parts) > 1 else []
    whole = _joined(list(parts.values()))
    findings += empty_queries(whole) + contradictions(whole) + constants(whole)
    usable = _usable(whole)
    if usable is None:
        findings.append(Finding("problem", "no query has both relevant and other documents"))
        return Audit(metric, whole.n_queries, len(whole), 0.0, _worst_first(findings), (), ())
    shuffled = _shuffled(usable, seed)
    singles = _singles(shuffled, metric)
    random = _random_order(shuffled, metric, seed)
    tails = tuple(added_beyond_cut(shuffled))
    findings += _bias(tails, singles)
    findings += _direction(singles, tails)
    order = -np.arange(len(usable), dtype=np.float64)
    in_order = evaluate(usable, order, metric).mean[metric]
    against = evaluate(usable, -order, metric).mean[metric]
    findings += leaks(
        [*((s.feature, s.best) for s in singles), (ORDER, max(in_order, against))], metric, random
    )
    if cut is not None:
        findings.append(beyond_cut(shuffled, cut, _cut_feature(shuffled, singles, by)))
    if not any(finding.verdict != "fine" for finding in findings):
        findings.append(Finding("fine", "nothing suspicious was found"))
    return Audit(metric, whole.n_queries, len(whole), random, _worst_first(findings), tuple(singles), tails)


def _worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    rank = {"problem": 0, "warning": 1, "fine": 2}
    return tuple(sorted(findings, key=lambda finding: rank[finding.verdict]))


def _joined(parts: list[Dataset]) -> Dataset:
    """All parts, each query once."""
    seen: set[str] = set()
    kept = []
    for part in parts:
        new = np.array([qid not in seen for qid in part.qids])
        seen.update(part.qids)
        if new.any():
            kept.append(part if new.all() else part.select(new))
    return concatenate(kept) if len(kept) > 1 else kept[0]


def _usable(data: Dataset) -> Dataset | None:
    relevant = np.add.reduceat((data.y > 0).astype(np.int64), data.ptr[:-1])
    some = (relevant > 0) & (relevant < data.lengths)
    return data.select(some) if some.any() else None


def _shuffled(data: Dataset, seed: int) -> Dataset:
    """The documents of each query in random order; missing values as the least of their feature."""
    random = np.random.default_rng(seed).random(len(data))
    order = np.lexsort((random, data.query_index))
    X = data.X[order]
    if np.isnan(X).any():
        X = np.where(np.isnan(X), np.nan_to_num(np.fmin.reduce(X, axis=0)) - 1, X)
    return Dataset(
        np.ascontiguousarray(X, np.float32),
        data.y[order],
        data.ptr,
        data.qids,
        None,
        data.names_of_features(),
    )


def _singles(data: Dataset, metric: str) -> list[Single]:
    names, differences, means = data.names_of_features(), [], []
    for column in range(data.n_features):
        scores = data.X[:, column].astype(np.float64)
        forward, reverse = evaluate(data, scores, metric), evaluate(data, -scores, metric)
        differences.append(forward.per_query[metric] - reverse.per_query[metric])
        means.append((forward.mean[metric], reverse.mean[metric]))
    p_values = holm(np.array([paired_t(difference) for difference in differences]))
    return [
        Single(name, forward, reverse, float(p))
        for name, (forward, reverse), p in zip(names, means, p_values, strict=True)
    ]


def _random_order(data: Dataset, metric: str, seed: int, times: int = 5) -> float:
    rng = np.random.default_rng(seed + 1)
    return float(np.mean([evaluate(data, rng.random(len(data)), metric).mean[metric] for _ in range(times)]))


def _bias(tails: tuple[TailCheck, ...], singles: list[Single]) -> list[Finding]:
    """One finding for all features with the mark of relevant documents added beyond a cut."""
    marked = sorted((tail for tail in tails if tail.biased), key=lambda tail: -tail.last_relevant)
    if not marked:
        return []
    by_name = {single.feature: single for single in singles}
    worst = marked[0]
    one = by_name[worst.feature]
    wins = [tail.feature for tail in marked if by_name[tail.feature].reverse > by_name[tail.feature].forward]
    text = (
        f"relevant documents seem to have been added beyond a cut by {worst.feature!r}: the last document by "
        f"it is relevant in {worst.last_relevant:.0%} of the queries, by chance in {worst.expected:.0%}, "
        f"although it ranks the rest well (reversed {one.reverse:.3f}, as it is {one.forward:.3f})"
    )
    if wins:
        text += f"; reversed it wins for {', '.join(map(repr, wins[:5]))}"
    return [Finding("problem", text + "; sample to the last relevant document and on (p+top), or drop them")]


def _direction(singles: list[Single], tails: tuple[TailCheck, ...]) -> list[Finding]:
    """Features whose reverse is the better ranker without the mark of added documents."""
    biased = {tail.feature for tail in tails if tail.biased}
    against = [s for s in singles if s.reverse > s.forward and s.p < 0.01 and s.feature not in biased]
    if not against:
        return []
    names = ", ".join(repr(one.feature) for one in sorted(against, key=lambda one: -one.reverse)[:5])
    best = max(singles, key=lambda single: single.best)
    if best.reverse > best.forward and best in against:
        text = f"the best single feature is {best.feature!r} with smaller values first: find out why"
        return [Finding("warning", text)]
    verb = "ranks" if len(against) == 1 else "rank"
    text = f"{len(against)} of {len(singles)} features {verb} better with smaller values first: {names}"
    return [Finding("fine", text + "; natural for lengths and depths, odd for scores of matching")]


def _cut_feature(data: Dataset, singles: list[Single], by: str | None) -> int:
    names = list(data.names_of_features())
    if by is not None:
        if by not in names:
            raise InputError(f"there is no feature {by!r}", f"there is {', '.join(names[:20])}")
        return names.index(by)
    named = [i for i, name in enumerate(names) if "bm25" in name]
    return named[0] if named else int(np.argmax([single.forward for single in singles]))
