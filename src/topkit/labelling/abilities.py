"""A consensus of judges who err at different rates, which it learns from their answers (Dawid and Skene)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topkit.compute import Floats, Ints, Trace
from topkit.data.errors import InputError
from topkit.data.judgments import Answer, Preference
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, pairs_judged

MAX_STEPS = 500
TOLERANCE = 1e-9
"""The iteration ends when the log-likelihood per answer changes by at most this."""
SMOOTHING = 0.5
"""Answers that each judge is assumed to have given per cell, so that few answers give no extreme rates."""
ANSWER_OF: dict[int, Answer] = {FIRST: "a", TIE: "tie", SECOND: "b"}


class DawidSkene(NamedTuple):
    """The result of :func:`dawid_skene`."""

    posterior: Floats
    """P(the true class of an item is c), shape (items, classes)."""
    confusion: Floats
    """P(judge j says d | the truth is c), shape (judges, classes, classes)."""
    prior: Floats
    """P(the truth is c)."""
    trace: Trace


def dawid_skene(
    items: Ints, judges: Ints, answers: Ints, classes: int, smoothing: float = 0.0, max_steps: int = MAX_STEPS
) -> DawidSkene:
    """The true classes of items and the error rates of judges, by EM from the shares of the answers.

    ``items``, ``judges`` and ``answers`` are numbers from 0, one entry per answer. A. P. Dawid and A. M.
    Skene, Applied Statistics 28(1), 1979.
    """
    n, workers = int(items.max()) + 1, int(judges.max()) + 1
    votes = np.zeros((n, classes))
    np.add.at(votes, (items, answers), 1.0)
    posterior = votes / votes.sum(1, keepdims=True)
    trace = Trace(max_steps, TOLERANCE)
    while True:
        counts = np.full((workers, classes, classes), smoothing)
        np.add.at(counts.transpose(0, 2, 1), (judges, answers), posterior[items])
        confusion = counts / np.maximum(counts.sum(2, keepdims=True), 1e-300)
        prior = posterior.mean(0)
        logs = np.tile(np.log(np.maximum(prior, 1e-300)), (n, 1))
        np.add.at(logs, items, np.log(np.maximum(confusion[judges, :, answers], 1e-300)))
        top = logs.max(1, keepdims=True)
        weights = np.exp(logs - top)
        likelihood = float((top[:, 0] + np.log(weights.sum(1))).sum()) / len(answers)
        posterior = weights / weights.sum(1, keepdims=True)
        if not trace.go_on(-likelihood):
            break
    trace.warn_unless_converged("the consensus of judges")
    return DawidSkene(posterior, confusion, prior, trace)


class Ability(NamedTuple):
    """How a judge answers, given the consensus."""

    answers: int
    """Number of answers that the judge gave."""
    right: float
    """P(prefers the better document | one is better)."""
    wrong: float
    """P(prefers the worse document | one is better)."""
    tie_if_tied: float
    """P(says tie | the documents tie)."""


@dataclass(frozen=True)
class JudgeConsensus:
    """One answer per pair from several judges, with its probability, and the ability of each judge."""

    preferences: tuple[Preference, ...]
    confidence: tuple[float, ...]
    """The probability of each answer."""
    abilities: dict[str, Ability]

    def table(self) -> list[list[str]]:
        """Rows for a report, with a header."""
        rows = [["judge", "answers", "right", "wrong", "tie if tied"]]
        for name, ability in self.abilities.items():
            shares = (ability.right, ability.wrong, ability.tie_if_tied)
            rows.append([name or "-", str(ability.answers), *(f"{share:.3f}" for share in shares)])
        return rows


def judge_consensus(preferences: Iterable[Preference], name: str = "consensus") -> JudgeConsensus:
    """The most likely answer to each pair, from judges of any kind; the last answer of each judge counts.

    Which document of a pair is called the first is arbitrary, so every pair is counted in both orientations;
    the error rates are then the same for both.

    >>> answers = [Preference("q", f"x{i}", f"y{i}", "a", who) for i in range(20) for who in ("ann", "bob")]
    >>> answers += [Preference("q", f"x{i}", f"y{i}", "b" if i % 2 else "a", "model") for i in range(20)]
    >>> consensus = judge_consensus(answers)
    >>> {preference.answer for preference in consensus.preferences}
    {'a'}
    >>> consensus.abilities["model"].right < consensus.abilities["ann"].right
    True
    """
    judged = pairs_judged(preferences)
    if not judged:
        raise InputError("there are no preferences", "give the answers of at least one judge")
    names = list(dict.fromkeys(who for answers in judged.values() for who in answers))
    number = {who: i for i, who in enumerate(names)}
    rows = [
        (2 * item + mirrored, number[who], SECOND - answer if mirrored else answer)
        for item, answers in enumerate(judged.values())
        for who, answer in answers.items()
        for mirrored in (0, 1)
    ]
    items, judges, answers_of = np.array(rows, np.int64).T
    result = dawid_skene(items, judges, answers_of, 3, SMOOTHING)
    best = result.posterior[::2].argmax(1)
    answered = np.bincount(judges, minlength=len(names)) // 2
    abilities = {
        who: Ability(
            int(answered[i]),
            float(result.confusion[i, FIRST, FIRST]),
            float(result.confusion[i, FIRST, SECOND]),
            float(result.confusion[i, TIE, TIE]),
        )
        for i, who in enumerate(names)
    }
    merged = tuple(
        Preference(pair.query, pair.a, pair.b, ANSWER_OF[int(answer)], name)
        for pair, answer in zip(judged, best, strict=True)
    )
    confidence = tuple(result.posterior[2 * i, answer].item() for i, answer in enumerate(best))
    return JudgeConsensus(merged, confidence, abilities)
