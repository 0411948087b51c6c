"""Simulation of strategies on random orders: judgments, documents read and accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import erf, pi, sin, sqrt
from random import Random
from statistics import fmean, pstdev
from typing import Literal, NamedTuple

from topkit.data.errors import InputError
from topkit.data.words import lookup
from topkit.labelling.bound import lower_bound
from topkit.labelling.contest import Contest
from topkit.labelling.strategies import STRATEGIES

PriorKind = Literal["rank", "score"]
"""How a simulated prior deviates from the truth; see :func:`prior_ranking`."""

BISECTIONS = 50
"""Steps of the search for the noise: they narrow a factor of 10⁶ to the precision of a double."""


def prior_ranking(rank: Sequence[int], tau: float, chance: Random, kind: PriorKind = "rank") -> list[int]:
    """Items in a noisy order whose expected Kendall's τ with the true ranks (from 0) is ``tau``.

    - ``rank``: sorts by rank/n + σ·N(0, 1), with σ such that Σ_d 2(n−d)/(n(n−1))·erf(d/(2nσ)) = τ. The noise
      is the same at the top as elsewhere, so for a thousand items the prior says little about the first ten.
    - ``score``: true and prior scores are normal with correlation ρ = sin(πτ/2). The best items stand out, as
      in the scores of a search engine.
    """
    if not 0 <= tau < 1:
        raise InputError(f"the prior's tau must be from 0 to below 1, got {tau}")
    n = len(rank)
    if tau == 0:
        order = list(range(n))
        chance.shuffle(order)
        return order
    if kind == "rank":
        noise = _rank_noise(n, tau)
        value = [rank[i] / n + noise * chance.gauss(0, 1) for i in range(n)]
    else:
        rho = sin(pi * tau / 2)
        scores = sorted((chance.gauss(0, 1) for _ in range(n)), reverse=True)
        value = [-rho * scores[rank[i]] + sqrt(1 - rho * rho) * chance.gauss(0, 1) for i in range(n)]
    return sorted(range(n), key=value.__getitem__)


@cache
def _rank_noise(n: int, tau: float) -> float:
    """σ of the ``rank`` prior, by bisection on a logarithmic scale."""
    low, high = 1e-4, 100.0
    for _ in range(BISECTIONS):
        noise = sqrt(low * high)
        reached = sum(2 * (n - d) / (n * max(n - 1, 1)) * erf(d / (2 * n * noise)) for d in range(1, n))
        low, high = (noise, high) if reached > tau else (low, noise)
    return low


class Played(NamedTuple):
    """The outcome of one labelling by a simulated assessor."""

    judgments: int
    different_pairs: int
    documents_read: int
    """Documents shown that were not on the screen in the previous question."""
    found: float
    """The share of the true top k in the result; bad documents are not in it."""
    exact: bool
    """Whether the result is the true top k in the true order."""
    tau: float
    """Kendall's τ between the order of the result and the true order of its items."""
    confidence: float
    """The mean confidence of the result; NaN if the strategy gives none."""


def play(
    strategy: str, contest: Contest, rank: Sequence[int], error: float, chance: Random, bad: int = 0
) -> Played:
    """Label by an assessor who knows ``rank`` (0 is best) and answers wrongly with probability ``error``.

    The last ``bad`` documents are clearly irrelevant: the assessor marks the worse document of a pair bad if
    it is one of them, without errors.
    """
    running = lookup(STRATEGIES, strategy, "strategy")(contest)
    good = contest.n - bad
    asked = read = 0
    pairs: set[frozenset[int]] = set()
    screen: frozenset[int] = frozenset()
    try:
        ask = next(running)
        while True:
            asked += 1
            if ask.b is None or ask.rest:
                raise InputError(f"strategy {strategy!r} does not ask pairs", "simulate one that does")
            pair = frozenset((ask.a, ask.b))
            read += len(pair - screen)
            screen = pair
            pairs.add(pair)
            right = chance.random() >= error
            answer = "a" if (rank[ask.a] < rank[ask.b]) == right else "b"
            if max(rank[ask.a], rank[ask.b]) >= good:
                answer = "bad-a" if rank[ask.a] > rank[ask.b] else "bad-b"
            ask = running.send(answer)
    except StopIteration as end:
        groups, confidence = end.value
    places = min(contest.k, good)
    top = [item for group in groups for item in group][:places]
    ranks = [rank[item] for item in top]
    signs = [1 if a < b else -1 for a, b in combinations(ranks, 2)]
    return Played(
        asked,
        len(pairs),
        read,
        sum(r < places for r in ranks) / places if places else 1.0,
        ranks == list(range(places)),
        fmean(signs) if signs else 1.0,
        fmean(confidence[item] for item in top) if confidence and top else float("nan"),
    )


class Scenario(NamedTuple):
    """What is simulated: a strategy, numbers of items and places, an error rate, a prior, bad documents."""

    strategy: str
    n: int
    k: int
    error: float = 0.0
    prior: float | None = None
    """Kendall's τ of the prior with the true order; None for no prior."""
    kind: PriorKind = "rank"
    bad: int = 0
    """The number of documents that the assessor marks bad."""


@dataclass(frozen=True)
class Outcome:
    """Means over the random orders of a setting."""

    setting: Scenario
    orders: int
    judgments: float
    deviation: float
    """Standard deviation of the judgments."""
    different_pairs: float
    documents_read: float
    found: float
    exact: float
    tau: float
    confidence: float
    lower_bound: float


def simulate(
    settings: Iterable[Scenario], orders: int, seed: int = 0, on_order: Callable[[], object] = lambda: None
) -> Iterator[Outcome]:
    """The outcome of each setting over random orders, which are the same for all settings with the same n."""
    for setting in settings:
        played = []
        for number in range(orders):
            truth = Random(f"{seed} {setting.n} {number}")
            rank = list(range(setting.n))
            truth.shuffle(rank)
            prior = None
            if setting.prior is not None:
                prior = tuple(prior_ranking(rank, setting.prior, truth, setting.kind))
            contest = Contest(setting.n, min(setting.k, setting.n), number, prior)
            errors = Random(f"{seed} error {number}")
            played.append(play(setting.strategy, contest, rank, setting.error, errors, setting.bad))
            on_order()
        yield Outcome(
            setting,
            orders,
            judgments=fmean(labelling.judgments for labelling in played),
            deviation=pstdev(labelling.judgments for labelling in played),
            different_pairs=fmean(labelling.different_pairs for labelling in played),
            documents_read=fmean(labelling.documents_read for labelling in played),
            found=fmean(labelling.found for labelling in played),
            exact=fmean(labelling.exact for labelling in played),
            tau=fmean(labelling.tau for labelling in played),
            confidence=fmean(labelling.confidence for labelling in played),
            lower_bound=lower_bound(setting.n, setting.k),
        )
