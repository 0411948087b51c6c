"""The measures of an audit, each a pure function of the judge's trials and people's preferences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import log2, nan, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np

from topkit.compute import Ints
from topkit.data.judgments import Answer, Preference
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, JudgedPairs, Pair
from topkit.labelling.agreement.quality import intransitive
from topkit.labelling.audit.estimates import Estimate, mean_interval, regression, share_interval
from topkit.labelling.audit.trials import Trial
from topkit.labelling.judges.routing import wilson
from topkit.metrics.bootstrap import interval

MOST_DOUBLINGS = 2.0
"""Length ratios beyond a factor of four count as four."""
BINS = 5
"""Bins of the calibration plot."""

Opinions = dict[Pair, float]
"""Pair → what people prefer: from 0 (the second document, all of them) to 1 (the first)."""


def people_opinions(judged: JudgedPairs) -> Opinions:
    """The mean answer of people to each pair, with the documents of a pair in sorted order."""
    opinions: Opinions = {}
    for pair, answers in judged.items():
        mean = fmean(1 - answer / 2 for answer in answers.values())
        swapped = pair.a > pair.b
        a, b = (pair.b, pair.a) if swapped else (pair.a, pair.b)
        opinions[Pair(pair.query, a, b)] = 1 - mean if swapped else mean
    return opinions


def by_pair(trials: Iterable[Trial]) -> dict[Pair, list[Trial]]:
    """Trials of the same pair, in both orders."""
    table: dict[Pair, list[Trial]] = {}
    for trial in trials:
        table.setdefault(trial.pair, []).append(trial)
    return table


def position_bias(trials: Iterable[Trial]) -> Estimate:
    """P(the document shown first is preferred) − ½, a tie counting half; over pairs shown in both orders.

    In both orders the better document is first once, so what remains is the position.
    """
    gains: list[float] = []
    for pair, group in by_pair(trials).items():
        orders = [[t.value for t in group if t.first == document] for document in (pair.a, pair.b)]
        if all(orders):
            gains.append(fmean(map(fmean, orders)) - 0.5)
    return mean_interval(gains, -0.5, 0.5)


def self_consistency(trials: Iterable[Trial]) -> Estimate:
    """P(the same answer when the same question is asked again in the same order)."""
    shares: list[float] = []
    for group in by_pair(trials).values():
        orders: dict[str, list[int]] = {}
        for trial in group:
            orders.setdefault(trial.first, []).append(trial.preferred)
        same = [a == b for answers in orders.values() for a, b in combinations(answers, 2)]
        if same:
            shares.append(fmean(same))
    return share_interval(shares)


def flip_rate(consistency: Estimate) -> Estimate:
    """The share of answers that differ from the judge's own stable opinion: f with s = f² + (1 − f)².

    >>> round(flip_rate(Estimate(0.745, 0.7, 0.8, 100)).value, 4)
    0.15
    """
    if not consistency.measured:
        return Estimate()
    value, low, high = (
        (1 - sqrt(max(0.0, 2 * s - 1))) / 2 for s in (consistency.value, consistency.high, consistency.low)
    )
    return Estimate(value, low, high, consistency.n)


def contradictions(trials: Iterable[Trial], opinions: Opinions) -> Estimate:
    """The share of single answers that prefer the document which most people do not; ties are left out."""
    shares: list[float] = []
    for pair, group in by_pair(trials).items():
        opinion = opinions.get(pair, 0.5)
        wrong = [
            (trial.preferred == FIRST) != ((opinion > 0.5) == (trial.first == pair.a))
            for trial in group
            if trial.preferred != TIE
        ]
        if wrong and opinion != 0.5:
            shares.append(fmean(wrong))
    return share_interval(shares)


def length_bias(
    trials: Sequence[Trial], opinions: Opinions, length: Callable[[str], float]
) -> tuple[Estimate, list[tuple[float, float]]]:
    """Points of probability that a document of twice the length gains, given what people prefer.

    Least squares of the answer on the position, people's opinion and log₂ of the length ratio, with clusters
    by pair. Also the points (log₂ of the ratio, share preferred) for a plot.
    """
    if not trials:
        return Estimate(), []
    doublings = np.array([_doublings(length(t.first), length(t.second)) for t in trials])
    values = np.array([trial.value for trial in trials])
    people = np.array([_opinion_of_first(trial, opinions) for trial in trials]) - 0.5
    columns = [np.ones(len(trials)), doublings] + ([people] if people.any() else [])
    estimate = regression(np.stack(columns, 1), values - 0.5, [trial.pair for trial in trials])[1]
    points: list[tuple[float, float]] = []
    if np.ptp(doublings) > 0:
        parts = np.array_split(np.argsort(doublings, kind="stable"), 8)
        points = [(float(doublings[part].mean()), float(values[part].mean())) for part in parts if len(part)]
    return estimate, points


def _opinion_of_first(trial: Trial, opinions: Opinions) -> float:
    opinion = opinions.get(trial.pair, 0.5)
    return opinion if trial.first == trial.pair.a else 1 - opinion


def _doublings(first: float, second: float) -> float:
    value = log2(max(first, 1e-9) / max(second, 1e-9))
    return min(max(value, -MOST_DOUBLINGS), MOST_DOUBLINGS)


def combined(trials: Iterable[Trial], name: str = "") -> list[Preference]:
    """One preference per pair: the document preferred over all trials, else a tie.

    Pairs shown in both orders must be preferred in the mean of both.
    """
    preferences: list[Preference] = []
    for pair, group in by_pair(trials).items():
        mean = fmean(trial.value if trial.first == pair.a else 1 - trial.value for trial in group)
        answer: Answer = "tie" if mean == 0.5 else "a" if mean > 0.5 else "b"
        preferences.append(Preference(pair.query, pair.a, pair.b, answer, name))
    return preferences


def with_people(preferences: Iterable[Preference], judged: JudgedPairs) -> tuple[Ints, Estimate, Estimate]:
    """How often the judge said x and a person y, and the agreement with and without ties, over pairs."""
    counts = np.zeros((3, 3), np.int64)
    same: list[float] = []
    same_decided: list[float] = []
    answers_of = {(p.query, frozenset((p.a, p.b))): (p, answers) for p, answers in judged.items()}
    for preference in preferences:
        same_pair = answers_of.get((preference.query, frozenset((preference.a, preference.b))))
        if same_pair is None:
            continue
        pair, answers = same_pair
        winner = preference.winner
        judge = TIE if winner is None else FIRST if winner == pair.a else SECOND
        for person in answers.values():
            counts[judge, person] += 1
        same.append(fmean(judge == person for person in answers.values()))
        decided = [judge == person for person in answers.values() if TIE not in (judge, person)]
        if decided:
            same_decided.append(fmean(decided))
    return counts, share_interval(same), share_interval(same_decided)


def cycles(preferences: Iterable[Preference]) -> tuple[Estimate, int]:
    """The share of complete triads that are cycles (random answers: ¼), and the number of triads.

    The interval is a bootstrap over queries.
    """
    by_query: dict[str, list[Preference]] = {}
    for preference in preferences:
        by_query.setdefault(preference.query, []).append(preference)
    triads = [intransitive(group) for group in by_query.values()]
    complete = np.array([float(t.complete) for t in triads if t.complete])
    circles = np.array([float(t.circles) for t in triads if t.complete])
    if not len(complete):
        return Estimate(), 0
    share = float(circles.sum() / complete.sum())
    # the ratio of two means, linearised: its interval is that of the residuals
    residuals = share + (circles - share * complete) / complete.mean()
    low, high = interval(residuals, samples=2000) if len(complete) > 1 else (0.0, 1.0)
    if not circles.any():
        low, high = wilson(0, len(complete))
    return Estimate(share, max(0.0, low), min(1.0, high), len(complete)), int(complete.sum())


class Calibration(NamedTuple):
    """How confidence relates to agreement with people."""

    overconfidence: Estimate
    """Mean confidence minus the share of answers that agree with most people."""
    error: float
    """Expected calibration error: the mean distance of the two over the bins."""
    bins: list[tuple[float, float, int]]
    """(mean confidence, share of agreement, answers) per bin."""


def calibration(trials: Iterable[Trial], opinions: Opinions) -> Calibration:
    """Confidence against agreement with most people, for answers that have a confidence and are not ties."""
    gaps: list[float] = []
    points: list[tuple[float, float]] = []
    for pair, group in by_pair(trials).items():
        opinion = opinions.get(pair, 0.5)
        rows = [
            (
                trial.confidence,
                float((trial.preferred == FIRST) == ((opinion > 0.5) == (trial.first == pair.a))),
            )
            for trial in group
            if trial.confidence is not None and trial.preferred != TIE and opinion != 0.5
        ]
        if rows:
            gaps.append(fmean(confidence - right for confidence, right in rows))
            points += rows
    if not points:
        return Calibration(Estimate(), nan, [])
    points.sort(key=lambda point: point[0])  # answers of the same confidence stay in random order
    bins = [
        (fmean(c for c, _ in part), fmean(r for _, r in part), len(part))
        for part in (points[i * len(points) // BINS : (i + 1) * len(points) // BINS] for i in range(BINS))
        if part
    ]
    error = sum(count * abs(sure - right) for sure, right, count in bins) / len(points)
    return Calibration(mean_interval(gaps, -1.0, 1.0), error, bins)
