"""The default aggregator: its parts by hand, planted factors, rankers that know nothing, and copies."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from tests.support.fusion import noisy_runs
from topkit.data import Run
from topkit.fusion import Ballots, fuse
from topkit.fusion.agreement import (
    agreement_matrix,
    common_factor,
    independent_agreement,
    shared_votes,
    unseen_documents,
)


def test_unseen_documents_by_hand() -> None:
    # three lists; a in all, b and c in two, d, e, f in one: 2/3 · 3·2/(2·3) = 2/3
    listed = np.array([[1, 1, 0, 1, 0, 0], [1, 1, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1]], bool)
    assert unseen_documents(listed) == pytest.approx(2 / 3)
    assert unseen_documents(np.ones((4, 5), bool)) == 0.0


def test_common_factor_finds_planted_loadings() -> None:
    a = np.array([0.9, 0.5, 0.7, 0.0, 0.3])
    matrix = np.outer(a, a)
    np.fill_diagonal(matrix, 1.0)
    found, trace = common_factor(matrix, np.ones(5), 1.0 - np.eye(5))
    assert trace.converged
    assert trace.steps > 2
    np.testing.assert_allclose(found, a, atol=0.01)


def test_votes_by_hand() -> None:
    """Two rankers with similarity s have 1/(1 + s) each; a ranker that all resemble loses its vote.

    In the third case Sv = 1 has the solution v_1 = (1 − 1.4)/(1 − 0.98) < 0, so the optimum has v_1 = 0 and
    one vote for the others; there Σ_j S_1j v_j = 1.4 > 1, so no vote for ranker 1 would reduce the objective.
    """
    np.testing.assert_allclose(shared_votes(np.eye(3)), np.ones(3), atol=1e-5)
    np.testing.assert_allclose(shared_votes(np.array([[1, 0.25], [0.25, 1]])), [0.8, 0.8], atol=1e-5)
    chain = np.array([[1, 0.7, 0], [0.7, 1, 0.7], [0, 0.7, 1]])
    np.testing.assert_allclose(shared_votes(chain), [1, 0, 1], atol=1e-5)


def test_good_rankers_are_not_copies() -> None:
    """a = .9, .8, .7, .5 with independent errors: one vote each. A copy of the last halves its vote."""
    a = np.array([0.9, 0.8, 0.7, 0.5])
    matrix = np.outer(a, a)
    np.fill_diagonal(matrix, 1.0)
    loadings, votes, _ = independent_agreement(matrix)
    np.testing.assert_allclose(loadings, a, atol=0.02)
    np.testing.assert_allclose(votes, np.ones(4), atol=0.1)
    rows = [0, 1, 2, 3, 3]
    copied, shared, _ = independent_agreement(matrix[np.ix_(rows, rows)])
    np.testing.assert_allclose(copied, loadings[rows], atol=1e-4)
    np.testing.assert_allclose(shared, votes[rows] / [1, 1, 1, 2, 2], atol=1e-4)


def test_copies_share_one_vote() -> None:
    similarity = np.array([[1, 0.3, 0.1], [0.3, 1, 0.2], [0.1, 0.2, 1]])
    once = shared_votes(similarity)
    rows = [0, 1, 2, *[1] * 30]
    votes = shared_votes(similarity[np.ix_(rows, rows)])
    np.testing.assert_allclose(np.bincount(rows, votes), once, atol=1e-5)
    np.testing.assert_allclose(votes[3:], votes[1], atol=1e-8)


@pytest.mark.parametrize("copied", [0, 6])
def test_copies_of_a_ranker_change_little(copied: int) -> None:
    """Thirty copies of a good ranker or of a random one, next to six good and two random ones."""
    runs = noisy_runs(6, 2, seed=5)
    copies = [Run.of({q: runs[copied][q] for q in runs[copied]}, f"copy-{i}") for i in range(30)]
    alone, together = fuse(runs).weights, fuse([*runs, *copies]).weights
    assert alone is not None
    assert together is not None
    shared = {name: weight for name, weight in together.items() if not name.startswith("copy")}
    shared[runs[copied].name] += sum(together[copy.name] for copy in copies)
    assert shared == pytest.approx(alone, abs=0.03)


def test_agreement_of_two_complete_orders_is_a_correlation() -> None:
    runs = [
        Run.of({"q": [(doc, -float(p)) for p, doc in enumerate(order)]}, order) for order in ("abcd", "bacd")
    ]
    ballots = Ballots.of(runs)
    points = (4 - ballots.places).astype(np.float64)
    expected = np.corrcoef([3, 2, 1, 0], [2, 3, 1, 0])[0, 1]
    assert agreement_matrix(ballots, points)[0, 1] == pytest.approx(expected)


def test_documents_nobody_returned_count() -> None:
    """Two lists of two with one in common: Chao adds ½ · 2·1/(2·2) = 0.25 documents to the three."""
    ballots = Ballots.of([Run.of({"q": [("a", 2.0), ("b", 1.0)]}), Run.of({"q": [("a", 2.0), ("c", 1.0)]})])
    n = 3.25
    points = np.ones(4)
    mean = 2 / n
    expected = (1 / n - mean**2) / (mean - mean**2)
    assert agreement_matrix(ballots, points)[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize(("good", "bad"), [(6, 0), (6, 3), (5, 10), (3, 12)])
def test_random_rankers_count_for_little_and_the_fusion_stays_good(good: int, bad: int) -> None:
    runs = noisy_runs(good, bad, seed=bad)
    fusion = fuse(runs)
    assert fusion.method == "agreement"
    assert fusion.weights is not None
    kind = {name: name.split("-")[0] for name in fusion.weights}
    share = sum(w for name, w in fusion.weights.items() if kind[name] == "bad")
    assert share < 0.08

    def hits(run: Run) -> float:
        return float(np.mean([sum(int(doc[1:]) < 10 for doc, _ in run[q][:10]) for q in run]))

    alone = tk.aggregate(runs[:good], "borda")
    assert hits(fusion.run) > hits(alone) - 0.5
    if bad > good:
        assert hits(fusion.run) > hits(tk.aggregate(runs, "combmnz"))


def test_weights_follow_skill() -> None:
    rng = np.random.default_rng(1)
    noise = [2.0, 5.0, 10.0, 20.0, 40.0]
    runs = [
        Run.of(
            {
                f"q{q}": [
                    (f"d{doc}", -float(p))
                    for p, doc in enumerate(np.argsort(np.arange(80) + rng.normal(scale=s, size=80))[:25])
                ]
                for q in range(20)
            },
            f"noise-{s:02.0f}",
        )
        for s in noise
    ]
    fusion = fuse(runs)
    found = list(fusion.per_ranker["agreement"].values())
    assert found[0] > found[2] > found[3] > found[4]
    assert fusion.table()[-1][0] == "noise-40"


def test_nobody_agrees_is_equal_weights() -> None:
    apart = [Run.of({"q": [(f"{name}{i}", -float(i)) for i in range(4)]}, name) for name in "abc"]
    fusion = fuse(apart)
    assert fusion.weights == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert [doc for doc, _ in fusion.run["q"]][:3] == ["a0", "b0", "c0"]


def test_one_ranker_keeps_its_order() -> None:
    run = Run.of({"q": [("x", 3.0), ("b", 2.0), ("a", 1.0)]}, "alone")
    assert [doc for doc, _ in tk.aggregate([run])["q"]] == ["x", "b", "a"]
