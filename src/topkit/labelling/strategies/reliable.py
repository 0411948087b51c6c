"""A strategy that tolerates assessor errors: an exact labelling, then checks where errors matter most."""

from __future__ import annotations

from math import ceil
from typing import cast

import numpy as np

from topkit.compute import Floats
from topkit.labelling.bound import lower_bound
from topkit.labelling.contest import Ask, Contest, Finish, Play
from topkit.labelling.known import Known
from topkit.labelling.strategies.adaptive import adaptive
from topkit.labelling.strategies.beliefs import ANSWERS_SEEN, ERRORS_SEEN, Beliefs, above_cuts, cells
from topkit.labelling.strategies.checks import best_check
from topkit.labelling.strategies.prior import BELIEF, above, prior_scores

DOUBT = 0.09
"""Checks end when at most this share of the top k is expected to be wrong. It trades questions for accuracy:
with 10 % wrong answers, 94 % of the top 10 of 50 are found with 158 questions (docs/labelling.md)."""
ORDER = 0.1
"""The weight of the order within the top k, relative to the cut at k: membership matters more."""
CAP = 4
"""The maximum number of questions, as a multiple of the lower bound: an assessor's time is limited."""
SETTLE, UPDATE = 20, 2
"""Sweeps of belief propagation from scratch, and after one more answer, when little changes."""


def reliable(contest: Contest) -> Play:
    """Label as ``adaptive`` does, then check answers where an error would matter, until the top k are likely.

    After the first pass, a model of the answers (:mod:`beliefs`) gives every document a probability of being
    in the top k and estimates the error rate. The next check is the pair, new or asked before, whose answer
    is expected to be most informative about the top k and, with a tenth of the weight, about their order.
    Checks end when at most 9 % of the top k are expected to be wrong, or after four times the lower bound.

    If no answer contradicts the others, the result is exactly that of ``adaptive``. Checks may ask what the
    answers already imply: that is their purpose. Documents that tie are treated as one from then on. The
    confidence of a place is the probability that its document belongs to the top k (for k ≥ n: to the places
    down to its own).

    Use it if about one answer in ten is wrong and the result of every topic matters. Not for careful
    assessors or a small budget: it asks up to three times as many questions.
    """
    return _Checks(contest).play()


class _Checks:
    """The state of a labelling with checks: all answers, what they imply, and beliefs about places."""

    def __init__(self, contest: Contest) -> None:
        self.contest = contest
        n, k = contest.n, contest.k
        self.cap = ceil(CAP * lower_bound(n, k))
        self.cuts = dict.fromkeys(range(1, min(k, n - 1) + 1), ORDER if k < n else 1.0)
        if k < n:
            self.cuts[k] = 1.0
        self.known = Known(n)
        self.answers: list[tuple[int, int, str]] = []
        self.borders = cells(n, k)
        self.log_prior = _log_prior(contest, self.borders)
        self.unit_of = list(range(n))
        """The unit of each document: the first document that ties with it, or itself."""
        self.units: list[list[int]] = []
        self.beliefs = self._rebuilt(ERRORS_SEEN / ANSWERS_SEEN)

    def play(self) -> Play:
        finish = yield from self._recorded(adaptive(self.contest))
        self.beliefs = self._rebuilt(self.beliefs.error)
        self.beliefs.settle(SETTLE)
        last: frozenset[int] = frozenset()
        while len(self.answers) < self.cap and self._doubt() > DOUBT:
            allowed = np.array([not self.known.is_bad(unit[0]) for unit in self.units])
            pair = best_check(self.beliefs, self.cuts, allowed, last)
            if pair is None:
                break
            last = frozenset(pair)
            a, b = (self.units[unit][0] for unit in pair)
            left = self.cap - len(self.answers)
            answer = yield Ask(a, b, 1, left, min(left, self.contest.n / 2))
            self._record(a, b, answer)
            if answer in ("a", "b"):
                self.beliefs.add(*(pair if answer == "a" else pair[::-1]))
                self.beliefs.settle(UPDATE)
            else:
                self.beliefs = self._rebuilt(self.beliefs.error)
                self.beliefs.settle(SETTLE)
                last = frozenset()
        return self._finish(finish)

    def _recorded(self, play: Play) -> Play:
        """The same questions, with the answers recorded and with room for the checks in the bounds."""
        try:
            ask = next(play)
            while True:
                left = max(ask.most, self.cap - len(self.answers))
                likely = (ask.most if ask.likely is None else ask.likely) + self.contest.n / 2
                answer = yield ask._replace(most=left, likely=min(left, likely))
                self._record(ask.a, cast(int, ask.b), answer)
                ask = play.send(answer)
        except StopIteration as end:
            finish: Finish = end.value
            return finish

    def _record(self, a: int, b: int, answer: str) -> None:
        self.answers.append((a, b, answer))
        self.known.record(a, b, answer)
        # a tie that contradicts other answers is ignored
        if answer == "tie" and self.known.relation(a, b) == "tie":
            old, new = sorted((self.unit_of[a], self.unit_of[b]), reverse=True)
            self.unit_of = [new if unit == old else unit for unit in self.unit_of]

    def _rebuilt(self, error: float) -> Beliefs:
        """Beliefs from all answers so far, with the current units."""
        first = sorted(set(self.unit_of))
        number = {unit: i for i, unit in enumerate(first)}
        self.units = [[] for _ in first]
        for item, unit in enumerate(self.unit_of):
            self.units[number[unit]].append(item)
        bad = [self.known.is_bad(unit[0]) for unit in self.units]
        sizes = np.array([0.0 if is_bad else len(unit) for unit, is_bad in zip(self.units, bad, strict=True)])
        beliefs = Beliefs(self.log_prior[first], sizes, self.borders, error)
        for a, b, answer in self.answers:
            i, j = number[self.unit_of[a]], number[self.unit_of[b]]
            if answer in ("a", "b") and i != j:
                beliefs.add(*((i, j) if answer == "a" else (j, i)))
        return beliefs

    def _membership(self, cut: int) -> Floats:
        """P(unit is above the cut); 0 for bad units."""
        belief = self.beliefs.belief()
        probability: Floats = belief @ above_cuts(belief, self.beliefs.sizes, [cut])[:, 0]
        return np.where(self.beliefs.sizes > 0, probability, 0.0)

    def _doubt(self) -> float:
        """The share of the top k that is expected to be wrong; for k ≥ n, the mean over all cuts."""
        cuts = [self.contest.k] if self.contest.k < self.contest.n else list(self.cuts)
        doubts = []
        for cut in cuts:
            members = np.repeat(self._membership(cut), self.beliefs.sizes.astype(int))
            doubts.append(1.0 - float(np.sort(members)[::-1][:cut].mean()) if len(members) > cut else 0.0)
        return float(np.mean(doubts)) if doubts else 0.0

    def _finish(self, exact: Finish) -> Finish:
        self.beliefs.settle(SETTLE)
        k, n = self.contest.k, self.contest.n
        chance = self._membership(k)
        groups = [[item for item in group if not self.known.is_bad(item)] for group in exact.groups]
        if self.known.conflicts:
            places = self.beliefs.expected_places()
            best = np.lexsort((places, -chance.round(9)))
            taken = np.cumsum(self.beliefs.sizes[best])
            top = best[: int(np.searchsorted(taken, k)) + 1]
            groups = [self.units[i] for i in top[np.argsort(places[top], kind="stable")] if chance[i] > 0]
        groups = [group for group in groups if group]
        confidence: dict[int, float] = {}
        unit_number = {item: i for i, unit in enumerate(self.units) for item in unit}
        for place, group in enumerate(groups, 1):
            cut = k if k < n else place
            of_cut = chance if k < n else self._membership(min(cut, n - 1))
            confidence |= {item: float(of_cut[unit_number[item]]) for item in group}
        return Finish(groups, confidence)


def _log_prior(contest: Contest, borders: Floats) -> Floats:
    """ln P(cell) for every document: by the width of the cell, or by its place in the prior."""
    n = contest.n
    if contest.prior is None:
        return np.tile(np.log(np.diff(borders) / n), (n, 1))
    from scipy.special import ndtri

    levels = ndtri(np.clip(1 - borders / n, 1e-12, 1 - 1e-12))
    reached = above(prior_scores(n)[:, None], levels[None, :, None]) @ BELIEF
    log_prior = np.empty((n, len(borders) - 1))
    log_prior[list(contest.prior)] = np.log(np.maximum(np.diff(reached, axis=1), 1e-9))
    return log_prior
