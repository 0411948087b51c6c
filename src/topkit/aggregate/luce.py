"""Plackett–Luce and Bradley–Terry: worths of documents by penalised maximum likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topkit.aggregate.ballots import Ballots
from topkit.aggregate.pairs import pair_support, with_rest
from topkit.aggregate.result import Outcome
from topkit.aggregate.stopping import NotConverged, Progress
from topkit.compute import thread_map
from topkit.data import InputError, Judgments, Run

Floats = NDArray[np.float64]
Objective = Callable[[Floats], tuple[float, Floats]]


def plackett_luce_loss(lists: list[NDArray[np.int32]], worth: Floats) -> tuple[float, Floats]:
    """−log likelihood of top-k lists and its gradient in the log worths, linear in the pool for each list.

    A list is drawn place by place, each time with probability e^{worth} over the sum of those not yet drawn;
    documents that a list does not have were never drawn.
    L = Σ_t [log Σ_{d not before t} e^{worth_d} − worth_t].
    """
    value, gradient = 0.0, np.zeros(len(worth))
    top = worth.max(initial=0.0)
    power = np.exp(worth - top)
    for items in lists:
        if not len(items):
            continue
        own = power[items]
        unlisted = np.ones(len(worth), bool)
        unlisted[items] = False
        left = power[unlisted].sum() + np.cumsum(own[::-1])[::-1]
        value += float(np.log(left).sum() + len(items) * top - worth[items].sum())
        inverse = np.cumsum(1.0 / left)
        gradient[items] += own * inverse - 1.0
        gradient[unlisted] += power[unlisted] * inverse[-1]
    return value, gradient


def bradley_terry_loss(wins: NDArray[np.floating], worth: Floats) -> tuple[float, Floats]:
    """−log likelihood of pairwise wins and its gradient in the log worths.

    ``wins[a, b]`` is how often a beat b, with half a win to both for a tie;
    L = Σ_{a,b} wins[a, b] · log(1 + e^{worth_b − worth_a}).
    """
    gap = worth[:, None] - worth[None, :]
    value = float((wins * np.logaddexp(0.0, -gap)).sum())
    surprise = wins / (1.0 + np.exp(np.clip(gap, -700, 700)))
    return value, np.asarray(surprise.sum(axis=0) - surprise.sum(axis=1), np.float64)


def fit_worths(loss: Objective, n: int, *, penalty: float, tolerance: float = 1e-6) -> Floats:
    """Log worths, mean 0, that minimise ``loss`` + penalty · Σ worth², by L-BFGS.

    It stops when no component of the gradient is above ``tolerance`` (or no step can lower the loss in double
    precision), and warns (:class:`NotConverged`) when it gets to neither. A small penalty keeps the worths
    finite where a document won or lost every time.
    """
    from scipy.optimize import minimize

    if penalty < 0:
        raise InputError(f"the penalty must not be negative: {penalty}")

    def penalised(worth: Floats) -> tuple[float, Floats]:
        value, gradient = loss(worth)
        return value + penalty * float(worth @ worth), gradient + 2 * penalty * worth

    if n == 0:
        return np.zeros(0)
    found = minimize(
        penalised,
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "gtol": tolerance, "ftol": 1e-14, "maxcor": 20},
    )
    if not found.success:
        message = f"the likelihood's maximum was not reached ({found.message})"
        warnings.warn(message, NotConverged, stacklevel=2)
    return np.asarray(found.x - found.x.mean(), np.float64)


def plackett_luce(
    ballots: Ballots, *, depth: int = 100, penalty: float = 1e-3, progress: Progress | None = None
) -> Outcome:
    """Plackett–Luce: documents by the worths under which the lists are most likely.

    A list is read as choosing its first document among the whole pool, then its second among the rest, and so
    on. ``depth``: lists are cut here, and documents beyond follow by the Borda count. ``penalty``: times
    Σ worth² (see :func:`fit_worths`).
    """

    def worths(cut: Ballots, q: int) -> Floats:
        lists = cut.lists(q)
        n = int(cut.pool_sizes[q])
        return fit_worths(lambda worth: plackett_luce_loss(lists, worth), n, penalty=penalty)

    return _by_worth(ballots, depth, worths, progress)


def bradley_terry(
    ballots: Ballots, *, depth: int = 100, penalty: float = 1e-3, progress: Progress | None = None
) -> Outcome:
    """Bradley–Terry: worths under which the lists' pairs of documents are most likely.

    Each list counts one win for every pair that it orders, a listed document against all that it does not
    have. ``depth`` and ``penalty`` as for :func:`plackett_luce`.
    """

    def worths(cut: Ballots, q: int) -> Floats:
        wins = pair_support(cut, q, np.ones(cut.n_rankers))
        return fit_worths(lambda worth: bradley_terry_loss(wins, worth), len(wins), penalty=penalty)

    return _by_worth(ballots, depth, worths, progress)


def _by_worth(
    ballots: Ballots, depth: int, worths: Callable[[Ballots, int], Floats], progress: Progress | None
) -> Outcome:
    if depth < 1:
        raise InputError(f"depth must be at least 1, not {depth}")
    cut = ballots.cut(depth)
    done = 0

    def solve(q: int) -> Floats:
        nonlocal done
        worth = worths(cut, q)
        done += 1
        if progress is not None:
            progress(done, len(cut))
        return np.exp(worth)  # above 0, so that every document of the cut is before the rest

    inner = np.concatenate(thread_map(solve, range(len(cut))) or [np.zeros(0)])
    return Outcome(with_rest(ballots, cut, inner, np.ones(cut.n_rankers)))


def aggregate_preferences(judgments: Judgments, *, penalty: float = 0.01, name: str = "bradley-terry") -> Run:
    """The documents of each query by Bradley–Terry worth of the assessors' preferences.

    P(a beats b) = 1/(1 + e^{s_b − s_a}) with the log worths s as scores; a tie is half a win for both. The
    penalty makes groups of documents that were never compared with each other comparable (mean 0 over all).

    >>> from topkit.data import Preference
    >>> answers = [Preference("q", "x", "y", "a")] * 3 + [Preference("q", "x", "y", "b")]
    >>> run = aggregate_preferences(Judgments(preferences=tuple(answers)), penalty=0.0)
    >>> [(doc, round(score, 3)) for doc, score in run["q"]]   # half of log 3 above and below the mean
    [('x', 0.549), ('y', -0.549)]
    """
    results: dict[str, list[tuple[str, float]]] = {}
    for query, answers in judgments.preferences_by_query().items():
        documents = list(dict.fromkeys(doc for answer in answers for doc in (answer.a, answer.b)))
        number = {doc: i for i, doc in enumerate(documents)}
        wins = np.zeros((len(documents), len(documents)))
        for answer in answers:
            a, b = number[answer.a], number[answer.b]
            if answer.winner is None:
                wins[a, b] += 0.5
                wins[b, a] += 0.5
            elif answer.winner == answer.a:
                wins[a, b] += 1.0
            else:
                wins[b, a] += 1.0

        def loss(worth: Floats, wins: Floats = wins) -> tuple[float, Floats]:
            return bradley_terry_loss(wins, worth)

        worth = fit_worths(loss, len(documents), penalty=penalty)
        order = sorted(range(len(documents)), key=lambda i: (-worth[i], documents[i]))
        results[query] = [(documents[i], float(worth[i])) for i in order]
    return Run.of(results, name)
