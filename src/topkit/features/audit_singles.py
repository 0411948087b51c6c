"""Each feature as a ranker on its own: its metric in both directions, and what that says about the data."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from topkit.data import Dataset
from topkit.features.audit_checks import Finding
from topkit.features.audit_report import Single
from topkit.features.audit_tails import TailCheck
from topkit.metrics import evaluate
from topkit.metrics.significance import holm, paired_t

LEVEL = 0.01
"""Significance level for a feature that ranks better in reverse."""
CLEAR = 1.25
"""The factor by which the reversed order must be better to be clear. In LETOR's MQ2008, where some features
are lengths, the largest factor is 1.17 (MAP .442 and .379)."""
NATURALLY_FALLING = frozenset(
    ("length", "depth", "slashes", "distance", "position", "location", "rank", "age", "price")
)
"""Words in the names of features whose smaller values are often better."""
RANDOM_ORDERS = 5
"""Random orders that are averaged; their mean varies little on data sets of usual size."""


def single_features(data: Dataset, metric: str) -> list[Single]:
    """The metric of each feature in both directions."""
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


def random_order(data: Dataset, metric: str, seed: int) -> float:
    """The mean metric of random orders."""
    rng = np.random.default_rng(seed + 1)
    values = [evaluate(data, rng.random(len(data)), metric).mean[metric] for _ in range(RANDOM_ORDERS)]
    return float(np.mean(values))


def bias(tails: Sequence[TailCheck], singles: Sequence[Single]) -> list[Finding]:
    """One finding for all features that show relevant documents added below a cut."""
    biased = sorted((tail for tail in tails if tail.biased), key=lambda tail: -tail.last_relevant)
    if not biased:
        return []
    by_name = {single.feature: single for single in singles}
    worst = biased[0]
    single = by_name[worst.feature]
    reversed_wins = [
        tail.feature for tail in biased if by_name[tail.feature].reverse > by_name[tail.feature].forward
    ]
    text = (
        f"relevant documents seem to have been added below a cut by {worst.feature!r}: its last document is "
        f"relevant in {worst.last_relevant:.0%} of the queries, expected {worst.expected:.0%}, although it "
        f"ranks the other documents well (reversed {single.reverse:.3f}, not reversed {single.forward:.3f})"
    )
    if reversed_wins:
        text += f"; the reversed order is better for {', '.join(map(repr, reversed_wins[:5]))}"
    return [Finding("problem", text + "; use the sampling p+top, or drop the added documents")]


def direction(
    singles: Sequence[Single], tails: Sequence[TailCheck], falling: Collection[str] = ()
) -> list[Finding]:
    """Features that rank better in reverse, without signs of added documents.

    A clear margin is a problem: the documents were sampled in favour of those with small values, or the sign
    of the feature is wrong. Features in ``falling``, and lengths, depths and the like by their names, are
    expected to rank in reverse.
    """
    biased = {tail.feature for tail in tails if tail.biased}
    against = [s for s in singles if s.reverse > s.forward and s.p < LEVEL and s.feature not in biased]
    findings = []
    unexpected = [s for s in against if not _expected(s.feature, falling) and s.reverse > CLEAR * s.forward]
    if unexpected:
        findings.append(_reversed(sorted(unexpected, key=lambda s: -s.reverse)))
    against = [single for single in against if single not in unexpected]
    if not against:
        return findings
    best = max(singles, key=lambda single: single.best)
    if best in against:
        text = f"the best single feature is {best.feature!r} with smaller values first: find out why"
        return [*findings, Finding("warning", text)]
    names = ", ".join(repr(single.feature) for single in sorted(against, key=lambda s: -s.reverse)[:5])
    verb = "ranks" if len(against) == 1 else "rank"
    text = f"{len(against)} of {len(singles)} features {verb} better with smaller values first: {names}"
    text += "; this is natural for lengths and depths, not for matching scores"
    return [*findings, Finding("fine", text)]


def _expected(feature: str, falling: Collection[str]) -> bool:
    """Whether smaller values of a feature are expected to be better."""
    words = set(re.findall("[a-z]+", feature.lower()))
    return feature in falling or not words.isdisjoint(NATURALLY_FALLING)


def _reversed(unexpected: list[Single]) -> Finding:
    shown = ", ".join(
        f"{s.feature!r} ({s.reverse:.3f}, not reversed {s.forward:.3f})" for s in unexpected[:5]
    )
    if len(unexpected) == 1:
        subject = f"{shown} ranks far better reversed"
    else:
        subject = f"{len(unexpected)} features rank far better reversed: {shown}"
    return Finding(
        "problem",
        f"{subject}; the documents seem to have been chosen in favour of small values, or the sign is wrong; "
        "sample other documents, or say that small values are better (falling)",
    )
