"""Several assessors: taking turns, merging labellings, consensus of results."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.data import InputError
from topkit.labelling import (
    Labelling,
    SimulatedAssessor,
    TopK,
    consensus,
    label,
    merge_labellings,
    take_turns,
)
from topkit.labelling.assessors import best_order

ITEMS = [f"d{i}" for i in range(12)]


def test_a_shared_labelling_takes_answers_in_turn() -> None:
    judges = [SimulatedAssessor.of_order(name, ITEMS) for name in ("ann", "bob", "cem")]
    done = take_turns(Labelling(ITEMS, 4), judges, "q")
    assert done.result is not None
    assert done.result.order == tuple(ITEMS[:4])
    names = [given.assessor for given in done.answers]
    assert names[:4] == ["ann", "bob", "cem", "ann"]
    replayed = Labelling.from_answers(ITEMS, 4, answers=done.answers)
    assert replayed == done


def test_merging_follows_the_majority() -> None:
    orders = [ITEMS, ITEMS, ITEMS[1:2] + ITEMS[:1] + ITEMS[2:]]  # the third swaps the first two
    labs = [
        label(Labelling(ITEMS, 4, seed=i), SimulatedAssessor.of_order(f"a{i}", order))
        for i, order in enumerate(orders)
    ]
    found = merge_labellings(labs)
    assert found.order == tuple(ITEMS[:4])
    assert found.confidence == (1.0, 1.0, 1.0, 1.0)
    with pytest.raises(InputError, match="different items or k"):
        merge_labellings([labs[0], Labelling(ITEMS, 5)])


def test_merging_unfinished_labellings_and_bad_marks() -> None:
    one = Labelling(["x", "y", "z"], 2)
    assert one.question is not None
    bad = one.question.a
    both = merge_labellings([one.answer("bad-a"), one.answer("bad-a"), one])
    assert both.bad == {bad}
    assert both.order[-1] != bad
    assert both.confidence is None


def value(margins: np.ndarray, order: tuple[int, ...] | list[int]) -> int:
    return sum(int(margins[a, b]) for i, a in enumerate(order) for b in order[i + 1 :])


antisymmetric = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.integers(-3, 3), min_size=n * n, max_size=n * n).map(
        lambda values: (
            np.triu(np.array(values).reshape(n, n), 1) - np.triu(np.array(values).reshape(n, n), 1).T
        )
    )
)


@given(antisymmetric)
def test_best_order_is_the_best_of_all(margins: np.ndarray) -> None:
    best = max(value(margins, order) for order in permutations(range(len(margins))))
    assert value(margins, best_order(margins)) == best


def test_many_items_are_ordered_by_moving() -> None:
    rng = np.random.default_rng(3)
    truth = rng.permutation(25)
    margins = np.sign(truth[None, :] - truth[:, None]) * rng.integers(1, 4, (25, 25))
    margins = np.triu(margins, 1) - np.triu(margins, 1).T
    assert best_order(margins) == np.argsort(truth).tolist()  # consistent margins leave no choice


def test_consensus_by_hand() -> None:
    results = [
        TopK(("x", "y", "z"), (1, 2, 3)),
        TopK(("y", "x", "z"), (1, 2, 3)),
        TopK(("x", "z", "w"), (1, 2, 3)),
    ]
    # x beats y 2:1, x beats z 3:0, y beats z 2:1 (the third has z but not y), w loses to all
    found = consensus(results)
    assert found.order == ("x", "y", "z")
    assert found.confidence == pytest.approx((1.0, 2 / 3, 1.0))
    assert found.places == (1, 2, 3)


def test_consensus_keeps_ties_and_bad() -> None:
    tie = TopK(("x", "y"), (1, 1), tied_out=("z",), bad=frozenset(["w"]))
    found = consensus([tie, tie])
    assert found.places == (1, 1)
    assert {*found.order, *found.tied_out} == {"x", "y", "z"}
    opposed = consensus([TopK(("x", "y"), (1, 2)), TopK(("y", "x"), (1, 2))])
    assert opposed.tied == (True,)
    filled = TopK(("x", "w"), (1, 2), bad=frozenset(["w"]))
    assert consensus([filled, filled]).bad == {"w"}


@pytest.mark.parametrize(("verdict", "before"), [("a", True), ("b", False)])
def test_a_decision_outweighs_all_assessors(verdict: str, before: bool) -> None:
    """Three assessors agree on w, x, y, z; somebody decides about z and w."""
    judge = SimulatedAssessor.of_order("ann", "wxyz")
    labellings = [label(Labelling("wxyz", k=4, seed=seed), judge) for seed in range(3)]
    order = merge_labellings(labellings, {("z", "w"): verdict}).order
    assert (order.index("z") < order.index("w")) == before
    tops = [lab.result for lab in labellings if lab.result is not None]
    order = consensus(tops, 4, {("z", "w"): verdict}).order
    assert (order.index("z") < order.index("w")) == before
    assert merge_labellings(labellings, {("z", "unknown"): "a"}).order == ("w", "x", "y", "z")
