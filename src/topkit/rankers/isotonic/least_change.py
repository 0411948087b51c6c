"""The smallest change of a query's scores that satisfies its grades or its preferences.

    min Σ δ_i² + λ n ζ²   with   s_i + δ_i ≥ s_j + δ_j + m_ij (1 − ζ)   for every i better than j,   ζ ≥ 0

Zheng, Zha & Sun, LR4IR 2008, equations 2, 3 and 7. Margins m_ij are differences of grades, or 1 for
preferences; one slack ζ per query reduces all of them. Tied pairs, if any, must be within ζ₂ of each other,
at a cost of λ₂ n ζ₂².
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats, Ints
from topkit.data import InputError
from topkit.losses.sorted_labels import sorted_ties

TOLERANCE = 1e-10
"""A constraint that is violated by less counts as satisfied: the solver is not more precise."""


@dataclass(frozen=True)
class Constraints:
    """Pairs (better, worse) with margins, and tied pairs, of one query's documents."""

    better: Ints
    worse: Ints
    margin: Floats
    """How much the score of the better document must exceed that of the worse one."""
    tied: tuple[Ints, Ints] = field(default_factory=lambda: (np.zeros(0, np.int64), np.zeros(0, np.int64)))


@dataclass(frozen=True)
class Change:
    """δ of each document, the slack of the margins and of the ties, and the value of the objective."""

    delta: Floats
    slack: float = 0.0
    tie_slack: float = 0.0
    value: float = 0.0


def isotonic_change(scores: ArrayLike, grades: ArrayLike) -> Floats:
    """δ without margins: the nearest scores that agree with the grades, by pooling, in O(n log n).

    Documents of equal grade are not constrained, so they keep their order.

    >>> isotonic_change([3.0, 1.0, 2.0], [0, 1, 1]).tolist()
    [-1.0, 1.0, 0.0]
    """
    from topkit.rankers.isotonic import kernels

    s, g = np.asarray(scores, np.float64), np.asarray(grades, np.float64)
    order = np.lexsort((s, g))
    fitted, starts = np.empty(len(s)), np.empty(len(s) + 1, np.int64)
    kernels.pool(s[order], fitted, starts)
    delta = np.empty(len(s))
    delta[order] = fitted - s[order]
    return delta


def graded_change(scores: ArrayLike, grades: ArrayLike, slack: float = 10.0) -> Change:
    """The smallest change with margins g_i − g_j and cost of slack λ = ``slack`` (infinity: hard margins).

    >>> change = graded_change([0.0, 0.0], [1, 0], slack=float("inf"))
    >>> change.delta.tolist(), change.value
    ([0.5, -0.5], 0.5)
    """
    from topkit.rankers.isotonic import kernels

    s, g = np.asarray(scores, np.float64), np.asarray(grades, np.float64)
    if not slack > 0:
        raise InputError(f"slack must be a number greater than 0, got {slack!r}")
    delta, zeta, ptr = np.empty(len(s)), np.zeros(1), np.array([0, len(s)])
    rising = sorted_ties(-g, ptr)
    kernels.graded_change(s, g, rising.rows, rising.end, float(slack), ptr, 0, 1, delta, zeta)
    slack_used = float(zeta[0])
    cost = slack * len(s) * slack_used**2 if slack_used else 0.0
    return Change(delta, slack_used, 0.0, float(delta @ delta) + cost)


def tied_grades(scores: Floats, grades: Floats) -> Constraints:
    """The constraints of grades whose ties count, at most 2n of them.

    The smallest change never reverses documents of equal grade. So the margins need only the lowest document
    of a grade and the highest of the next lower grade, and the ties only the two ends of each grade.
    """
    order = np.lexsort((scores, grades))
    low, high = order[:-1], order[1:]
    margin = grades[high] - grades[low]
    bounds = np.flatnonzero(np.append(True, margin > 0))
    first = order[bounds]
    last = order[np.append(bounds[1:], len(order)) - 1]
    wide = first != last
    return Constraints(high, low, margin, (first[wide], last[wide]))


def constrained_change(
    scores: ArrayLike, constraints: Constraints, slack: float = 10.0, tie_slack: float = 10.0
) -> Change:
    """The smallest change for any pairs, by a quadratic program (Goldfarb–Idnani).

    The program starts with the violated constraints; constraints that its solution violates are added until
    there are none, so the solution is exact. Preference cycles are allowed: with ζ = 1 all margins are 0, and
    equal scores satisfy every pair.

    >>> cycle = Constraints(np.array([0, 1, 2]), np.array([1, 2, 0]), np.ones(3))
    >>> constrained_change([0.0, 0.0, 3.0], cycle).delta.round(2).tolist()
    [1.0, 1.0, -2.0]
    """
    s = np.asarray(scores, np.float64)
    n, pairs = len(s), len(constraints.better)
    tied_a, tied_b = constraints.tied
    a = np.concatenate([constraints.better, tied_a, tied_b])
    b = np.concatenate([constraints.worse, tied_b, tied_a])
    margin = np.concatenate([constraints.margin, np.zeros(2 * len(tied_a))])
    of_slack = np.concatenate([constraints.margin, np.zeros(2 * len(tied_a))])
    of_ties = np.concatenate([np.zeros(pairs), np.ones(2 * len(tied_a))])

    def lacking(delta: Floats, zeta: float, zeta_ties: float) -> Floats:
        now = s + delta
        lack: Floats = margin - (now[a] - now[b]) - of_slack * zeta - of_ties * zeta_ties
        return lack

    costs = np.append(np.full(n, 2.0), [2 * slack * n, 2 * tie_slack * n])
    x = np.zeros(n + 2)
    used = np.zeros(len(a), np.bool_)
    violated = lacking(x[:n], 0.0, 0.0) > TOLERANCE
    while (violated & ~used).any():
        used |= violated
        x = _solve(
            costs, a[used], b[used], of_slack[used], of_ties[used], lacking(np.zeros(n), 0.0, 0.0)[used]
        )
        violated = lacking(x[:n], x[n], x[n + 1]) > TOLERANCE
    return Change(x[:n], float(x[n]), float(x[n + 1]), 0.5 * float(costs @ x**2))


def _solve(costs: Floats, a: Ints, b: Ints, of_slack: Floats, of_ties: Floats, bound: Floats) -> Floats:
    """min ½ x·diag(costs)·x with x_a − x_b + of_slack·ζ + of_ties·ζ₂ ≥ bound and ζ, ζ₂ ≥ 0."""
    import quadprog

    size, count = len(costs), len(a)
    rows = np.zeros((size, count + 2))
    places = np.arange(count)
    rows[a, places] += 1.0
    rows[b, places] -= 1.0
    rows[size - 2, :count], rows[size - 1, :count] = of_slack, of_ties
    rows[size - 2, count] = rows[size - 1, count + 1] = 1.0
    limits = np.append(bound, [0.0, 0.0])
    solution: Floats = quadprog.solve_qp(np.diag(costs), np.zeros(size), rows, limits)[0]
    return solution
