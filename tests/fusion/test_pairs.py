"""Condorcet and Kemeny: the capital of Tennessee, cycles, and brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from topkit.data import InputError, Run
from topkit.fusion import Ballots, fuse
from topkit.fusion.pairs import kemeny_order, kemeny_score, pair_support
from topkit.fusion.pairs.kernels import insertion_search


def votes(ballots: dict[str, int]) -> list[Run]:
    """As many runs as votes, from order → number of voters."""
    runs = []
    for order, number in ballots.items():
        pairs = [(name, -float(place)) for place, name in enumerate(order)]
        runs += [Run.of({"q": pairs}, f"{order}{i}") for i in range(number)]
    return runs


TENNESSEE = votes({"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17})
"""Memphis, Nashville, Chattanooga and Knoxville: the standard example of voting theory."""


def order_of(run: Run) -> str:
    return "".join(doc for doc, _ in run["q"])


def test_tennessee() -> None:
    # Nashville beats Memphis 58:42, Chattanooga 68:32 and Knoxville 68:32; Chattanooga beats Knoxville 83:17
    # and Memphis 58:42; Knoxville beats Memphis 58:42.
    assert order_of(tk.aggregate(TENNESSEE, "condorcet")) == "NCKM"
    fusion = fuse(TENNESSEE, "kemeny")
    assert order_of(fusion.run) == "NCKM"
    assert fusion.diagnostics["score"] == 600 - 393  # the winning order has 393 of the 600 pairwise votes
    assert fusion.diagnostics["exact_queries"] == 1
    # Borda's points are published as 194, 173, 126, 107, counting from 0 where we count from 1.
    assert dict(tk.aggregate(TENNESSEE, "borda")["q"]) == {"N": 294, "C": 273, "M": 226, "K": 207}


def test_a_cycle_is_a_tie_for_copeland() -> None:
    run = tk.aggregate(votes({"abc": 1, "bca": 1, "cab": 1}), "condorcet")
    assert len({score for _, score in run["q"]}) == 1
    assert order_of(run) == "abc"


def test_a_listed_document_beats_one_that_is_not() -> None:
    ballots = Ballots.of([Run.of({"q": [("a", 2.0), ("b", 1.0)]}), Run.of({"q": [("c", 1.0)]})])
    support = pair_support(ballots, 0, np.array([2.0, 0.5]))
    assert support.tolist() == [[0, 2, 2], [0, 0, 2], [0.5, 0.5, 0]]


def plain_support(lists: list[list[int]], n: int) -> np.ndarray:
    table = np.zeros((n, n), np.float32)
    for one in lists:
        for a in one:
            for b in range(n):
                if a != b and (b not in one or one.index(b) > one.index(a)):
                    table[a, b] += 1
    return table


def runs_of(lists: list[list[int]]) -> list[Run]:
    return [
        Run.of({"q": [(f"d{doc}", -float(place)) for place, doc in enumerate(one)]}, f"r{i}")
        for i, one in enumerate(lists)
    ]


top_lists = st.lists(
    st.permutations(range(5)).flatmap(lambda p: st.integers(1, 5).map(lambda k: p[:k])),
    min_size=1,
    max_size=6,
)


@given(top_lists)
def test_exact_kemeny_by_brute_force(lists: list[list[int]]) -> None:
    ballots = Ballots.of(runs_of(lists))
    pool = [int(doc[1:]) for doc in ballots.docs]
    support = pair_support(ballots, 0, np.ones(len(lists)))
    np.testing.assert_array_equal(
        support, plain_support([[pool.index(d) for d in one] for one in lists], len(pool))
    )
    order = kemeny_order(support)
    best = min(kemeny_score(support, np.array(other)) for other in permutations(range(len(pool))))
    assert sorted(order.tolist()) == list(range(len(pool)))
    assert kemeny_score(support, order) == best


def test_local_search_only_improves_and_ends_where_no_move_helps() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        n = 9
        support = plain_support([rng.permutation(n).tolist() for _ in range(5)], n)
        order = rng.permutation(n)
        before = kemeny_score(support, order)
        gained = insertion_search(order, support - support.T)
        after = kemeny_score(support, order)
        assert before - after == pytest.approx(gained)
        for i in range(n):
            rest = np.delete(order, i)
            for j in range(n):
                assert kemeny_score(support, np.insert(rest, j, order[i])) >= after
        best = kemeny_score(support, kemeny_order(support))
        assert best <= after


def test_large_pools_are_said_to_be_heuristic() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(40)
    lists = [np.argsort(truth + rng.normal(scale=6, size=40)).tolist() for _ in range(7)]
    fusion = fuse(runs_of(lists), "kemeny")
    assert fusion.diagnostics["heuristic_queries"] == 1
    assert fusion.diagnostics["exact_queries"] == 0
    assert 0 <= fusion.diagnostics["gap"] < 0.1
    support = plain_support(lists, 40)
    found = np.array([int(doc[1:]) for doc, _ in fusion.run["q"]])
    borda = np.array([int(doc[1:]) for doc, _ in tk.aggregate(runs_of(lists), "borda")["q"]])
    assert kemeny_score(support, found) <= kemeny_score(support, borda)
    assert fusion.diagnostics["score"] == kemeny_score(support, found)


def test_documents_beyond_the_cut_follow_by_borda() -> None:
    a = Run.of({"q": [("x", 5.0), ("y", 4.0), ("v", 3.0), ("w", 2.0)]}, "a")
    b = Run.of({"q": [("y", 5.0), ("x", 4.0), ("w", 3.0)]}, "b")
    c = Run.of({"q": [("y", 5.0), ("x", 4.0), ("w", 3.0)]}, "c")
    for method in ("condorcet", "kemeny", "plackett-luce", "bradley-terry"):
        run = tk.aggregate([a, b, c], method, depth=2)
        assert order_of(run) == "yxwv", method
        assert [score > 0 for _, score in run["q"]] == [True, True, False, False], method
        with pytest.raises(InputError, match="depth"):
            tk.aggregate([a], method, depth=0)
