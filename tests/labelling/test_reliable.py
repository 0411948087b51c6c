"""Beliefs against exact posteriors, and what checks achieve when answers are wrong."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from topkit.labelling import Labelling
from topkit.labelling.simulate import Scenario, simulate
from topkit.labelling.strategies.beliefs import Beliefs, above_cuts, cells, entropy
from topkit.labelling.strategies.checks import best_check

N, ERROR = 5, 0.1


def exact_places(answers: list[tuple[int, int]]) -> np.ndarray:
    """Mean place of every item by going through all permutations.

    In the model places are independent draws from (0, N); the r-th best of N such draws is N·r/(N + 1) in the
    mean.
    """
    total = np.zeros(N)
    weights = 0.0
    for order in permutations(range(N)):
        place = {item: i for i, item in enumerate(order)}
        weight = 1.0
        for winner, loser in answers:
            weight *= 1 - ERROR if place[winner] < place[loser] else ERROR
        weights += weight
        total += weight * np.array([N * (place[item] + 1) / (N + 1) for item in range(N)])
    return total / weights


def believed_places(answers: list[tuple[int, int]]) -> np.ndarray:
    borders = np.linspace(0, N, 401)  # finer than the strategy needs, so that only the method is tested
    beliefs = Beliefs(np.tile(np.log(np.diff(borders) / N), (N, 1)), np.ones(N), borders, ERROR)
    for winner, loser in answers:
        beliefs.add(winner, loser)
    for _ in range(60):
        beliefs.error = ERROR  # known here
        beliefs.settle(1)
    return beliefs.expected_places()


@pytest.mark.parametrize(
    "answers",
    [
        [(0, 1)],
        [(0, 1), (1, 2), (3, 4)],
        [(0, 1), (0, 1), (0, 1), (1, 0), (2, 3)],
        [(4, 0), (4, 1), (4, 2), (3, 4)],
    ],
)
def test_beliefs_are_exact_where_pairs_form_a_tree(answers: list[tuple[int, int]]) -> None:
    np.testing.assert_allclose(believed_places(answers), exact_places(answers), atol=0.01)


def test_beliefs_are_near_where_pairs_form_a_circle() -> None:
    answers = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 2)]
    np.testing.assert_allclose(believed_places(answers), exact_places(answers), atol=0.2)


def test_cells_cover_all_places() -> None:
    for n, k in ((1, 1), (7, 7), (50, 10), (1000, 10)):
        borders = cells(n, k)
        assert borders[0] == 0
        assert borders[-1] == n
        assert (np.diff(borders) > 0).all()
        assert len(borders) < 60


def test_cuts_hold_as_many_documents_as_they_say() -> None:
    rng = np.random.default_rng(1)
    belief = rng.dirichlet(np.ones(9), size=12)
    sizes = np.ones(12)
    sizes[3] = 4.0
    above = above_cuts(belief, sizes, [1, 5, 14])
    np.testing.assert_allclose(sizes @ belief @ above, [1, 5, 14])


def test_entropy_is_symmetric_and_largest_at_a_half() -> None:
    p = np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    h = entropy(p)
    assert h[2] == pytest.approx(np.log(2))
    assert h[1] == pytest.approx(h[3])
    assert h[0] == pytest.approx(h[4], abs=1e-6) == pytest.approx(0.0, abs=1e-6)


def test_the_check_is_at_the_cut() -> None:
    # a chain 0 ≻ 1 ≻ … ≻ 7 with everything asked of neighbours: the cut at 4 is between 3 and 4
    borders = cells(8, 4)
    beliefs = Beliefs(np.tile(np.log(np.diff(borders) / 8), (8, 1)), np.ones(8), borders, 0.1)
    for item in range(7):
        beliefs.add(item, item + 1)
    beliefs.settle(30)
    pair = best_check(beliefs, {4: 1.0}, np.ones(8, bool))
    assert pair is not None
    assert min(pair) <= 3 < max(pair)  # one on each side of it
    assert best_check(beliefs, {4: 1.0}, np.arange(8) == 0) is None


def test_the_error_rate_is_found() -> None:
    rng = np.random.default_rng(2)
    n = 20
    for truth in (0.02, 0.25):
        borders = cells(n, 5)
        beliefs = Beliefs(np.tile(np.log(np.diff(borders) / n), (n, 1)), np.ones(n), borders, 0.1)
        for _ in range(400):
            a, b = sorted(rng.choice(n, 2, replace=False).tolist())
            beliefs.add(*((b, a) if rng.random() < truth else (a, b)))
        beliefs.settle(40)
        assert beliefs.error == pytest.approx(truth, abs=0.06)


@pytest.mark.slow
def test_checks_repair_what_errors_break() -> None:
    settings = [Scenario(name, 50, 10, 0.1) for name in ("adaptive", "reliable")]
    plain, checked = simulate(settings, 40, seed=1)
    assert plain.found < 0.85
    assert checked.found > 0.9
    assert checked.judgments < 200
    assert abs(checked.confidence - checked.found) < 0.08


def test_confidence_comes_with_every_place_and_only_from_reliable() -> None:
    lab = Labelling(list("abcdef"), 3, "reliable")
    while lab.question:
        lab = lab.answer("a" if lab.question.a < str(lab.question.b) else "b")
    assert lab.result is not None
    assert lab.result.order == ("a", "b", "c")
    assert lab.result.confidence is not None
    assert len(lab.result.confidence) == 3
    assert all(0.5 < chance <= 1.0 for chance in lab.result.confidence)
    plain = Labelling(["x", "y"], 1).answer("a").result
    assert plain is not None
    assert plain.confidence is None
