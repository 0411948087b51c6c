"""AdaBoost.MH by hand, against plain code from its definition, and by its invariants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import topkit as tk
from topkit.compute import Floats
from topkit.rankers.classes import Classes, grades_of
from topkit.rankers.mixture.split import hold_back_queries
from topkit.rankers.multiclass.adaboost import Plan, boost, start_weights
from topkit.rankers.multiclass.boosted import BoostedTrees
from topkit.rankers.multiclass.kernels import bandit, growing


def some_data(seed: int = 0, n: int = 80, features: int = 3) -> tuple[tk.Dataset, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    known = np.nan_to_num(X)
    classes = np.digitize(known[:, 0] - 0.7 * known[:, 1] ** 2 + rng.normal(scale=0.5, size=n), [-0.5, 0.6])
    return tk.Dataset.build(X, classes, np.zeros(n)), classes.astype(np.int64)


def test_the_start_weighs_relevant_documents_more() -> None:
    """Two documents of classes 2 and 0 of three: 4 and 2, 2 for the others; 1 and ½, ½; the sum is 10."""
    signed = start_weights(np.array([2, 0]), 3, np.ones(2))
    assert signed == pytest.approx(np.array([[-2, -2, 4], [1, -0.5, -0.5]]) / 10)


def test_three_points_by_hand() -> None:
    """x = 1, 3, 2 of classes 0, 0, 1 with weights 1, ½, 1.

    Own weights 1, ½, 2, the same for the other class: sum 7. The threshold 1.5 has φ = −, +, +: the edge of
    class 1 is (1 − ½ + 2)/7 and that of class 0 as much: γ = 5/7. The threshold 2.5 has only 3/7.
    α = ½ ln((1 + 5/7)/(1 − 5/7)) = ½ ln 6, and the loss falls to √(1 − 25/49).
    """
    data = tk.Dataset.build([[1.0], [3.0], [2.0]], [0, 0, 1], ["q"] * 3)
    signed = start_weights(np.array([0, 0, 1]), 2, np.array([1.0, 0.5, 1.0]))
    for form, size in (("tree", 2), ("product", 1)):
        model, trace = boost(data, signed, Plan(form, size, rounds=1))
        alpha = 0.5 * math.log(6)
        assert trace.values == pytest.approx([1.0, math.sqrt(24) / 7])
        scores = model.outputs(data, [1])[0]
        assert scores == pytest.approx(alpha * np.array([[1, -1], [-1, 1], [-1, 1]]))


def plain_stumps(X: Floats, signed: Floats, rounds: int) -> Floats:
    """Boosted stumps from the definition, every threshold between two values tried; class scores."""
    signed = signed.copy()
    scores = np.zeros_like(signed)
    for _ in range(rounds):
        best, chosen = -1.0, np.zeros_like(signed)
        for column in X.T:
            values = np.unique(column[~np.isnan(column)])
            for threshold in (values[1:] + values[:-1]) / 2:
                side = np.where(column > threshold, 1.0, -1.0)
                edges = side @ signed
                if np.abs(edges).sum() > best + 1e-12:
                    best, chosen = np.abs(edges).sum(), side[:, None] * np.where(edges >= 0, 1, -1)
        alpha = 0.5 * math.log((1 + best) / (1 - best))
        scores += alpha * chosen
        signed *= np.exp(-alpha * chosen * np.sign(signed))
        signed /= np.abs(signed).sum()
    return scores


@pytest.mark.parametrize(("form", "size"), [("tree", 2), ("product", 1)])
def test_two_leaves_and_one_term_are_stumps(form: str, size: int) -> None:
    data, classes = some_data(n=60)
    # weights that leave no two thresholds equally good
    signed = start_weights(classes, 3, np.random.default_rng(1).uniform(0.5, 2.0, len(classes)))
    model, _ = boost(data, signed, Plan(form, size, rounds=12))
    assert model.outputs(data, [12])[0] == pytest.approx(plain_stumps(data.X.astype(float), signed, 12))


@settings(max_examples=25)
@given(
    st.integers(0, 10**6), st.sampled_from([("tree", 2), ("tree", 7), ("product", 1), ("product", 4)]),
    st.booleans(),
)  # fmt: skip
def test_the_exponential_loss_never_rises(seed: int, base: tuple[str, int], bandit: bool) -> None:
    """And the trace is Σ w·exp(−y·f) of what the model gives, so training and scoring agree."""
    data, classes = some_data(seed)
    signed = start_weights(classes, 3, np.random.default_rng(seed).uniform(0.1, 2.0, len(classes)))
    model, trace = boost(data, signed, Plan(*base, rounds=15, bandit=bandit), seed)
    assert (np.diff(trace.values) <= 1e-12).all()
    scores = model.outputs(data, [model.rounds])[0]
    loss = (np.abs(signed) * np.exp(-np.sign(signed) * scores)).sum()
    assert loss == pytest.approx(trace.values[-1])


@pytest.mark.parametrize(("form", "size"), [("tree", 6), ("product", 3)])
@pytest.mark.parametrize("bandit", [False, True])
def test_stages_are_the_classifier_after_so_many_rounds(form: str, size: int, bandit: bool) -> None:
    data, classes = some_data(3)
    signed = start_weights(classes, 3, np.ones(len(classes)))
    model, _ = boost(data, signed, Plan(form, size, 20, bandit))
    short, _ = boost(data, signed, Plan(form, size, 8, bandit))
    stages = model.outputs(data, [1, 8, model.rounds])
    assert np.array_equal(stages[1], short.outputs(data, [8])[0])
    assert np.array_equal(stages[1], model.first(8).outputs(data, [8])[0])
    assert np.abs(stages[1]).max() <= model.total[7] + 1e-12
    again = type(model).of_parts(model.parts())
    assert np.array_equal(again.outputs(data, [model.rounds])[0], stages[2])


def test_larger_trees_and_products_have_larger_edges() -> None:
    data, classes = some_data(1, n=200)
    signed = start_weights(classes, 3, np.ones(len(classes)))
    for form, sizes in (("tree", (2, 4, 16)), ("product", (1, 2, 5))):
        losses = [boost(data, signed, Plan(form, size, 1))[1].values[-1] for size in sizes]
        assert losses[0] > losses[1] > losses[2]


def test_arms_are_drawn_by_their_pull() -> None:
    """Pulls ln 3 and 0 are drawn with ¾ and ¼; with explore ½, with ⅝ and ⅜."""
    pull = np.array([math.log(3), 0.0])
    assert bandit.arm_reach(pull, 0.0) == pytest.approx([3 / 4, 1])
    reach = bandit.arm_reach(pull, 0.5)
    assert reach == pytest.approx([5 / 8, 1])
    assert [bandit.draw_arm(reach, chance) for chance in (0.0, 0.62, 0.63, 0.9999)] == [0, 0, 1, 1]


def test_arms_that_used_to_follow_earn_too() -> None:
    """After 0 came 1 twice and 2 once; a reward to 1 after 0 makes 3 times 1, so 2 earns a third of it."""
    pull, follows = np.zeros(3), np.zeros((3, 3))
    follows[0, 1], follows[0, 2] = 2, 1
    assert bandit.reward_arms(pull, follows, np.array([1]), 1, 0.6, 0) == 1
    assert pull == pytest.approx([0.0, 0.6, 0.2])


def test_one_draw_takes_the_drawn_feature() -> None:
    """The paper's Exp3.G draws one feature for each choice: here it is the one that cannot separate classes.

    Feature 1 separates the classes and feature 0 does not. A chance below the reach of feature 0 draws it,
    so the stump is its best threshold; with two draws, one of each, the better one is taken.
    """
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]], np.float32)
    classes = np.array([0, 0, 1, 1, 1])
    signed = start_weights(classes, 2, np.array([1.0, 1.1, 1.0, 1.3, 1.0]))
    bins, sizes = (X.T > 0.5).astype(np.uint8), np.array([1, 1])
    rows, nodes = np.empty(5, np.int64), np.empty((2, 4), np.int64)
    bounds, votes = np.empty((2, 2), np.int64), np.empty((2, 2), np.int8)
    found = []
    for chances in ([0.3], [0.3, 0.7]):
        draws = np.tile(chances, (4, 1))
        growing.grow_tree(bins, sizes, signed, 2, np.array([0.5, 1.0]), draws, rows, nodes, bounds, votes)
        found.append(int(nodes[0, 0]))
    assert found == [0, 1]


@pytest.mark.parametrize("draws", [1, 3])
def test_the_number_of_draws_is_a_setting(draws: int) -> None:
    fitted = tk.ranker("adaboost-mh", search="bandit", draws=draws, rounds=20, size=2)
    data, _ = some_data(5)
    scores = fitted.fit(data).score(data)
    other = tk.ranker("adaboost-mh", search="bandit", draws=draws + 4, rounds=20, size=2).fit(data)
    assert not np.array_equal(scores, other.score(data))
    with pytest.raises(tk.InputError, match="draws must be an integer of at least 1"):
        tk.ranker("adaboost-mh", draws=0)


def test_a_damaged_tree_is_refused() -> None:
    data, classes = some_data()
    model, _ = boost(data, start_weights(classes, 3, np.ones(len(classes))), Plan("tree", 4, 3))
    assert isinstance(model, BoostedTrees)
    parts = model.parts()
    children = model.children.copy()
    children[0, 0] = 0  # a split below itself would be walked for ever
    with pytest.raises(ValueError, match="inconsistent"):
        type(model).of_parts(tk.scorers.Parts(arrays={**parts.arrays, "children": children}))


def test_classes_of_grades_orders_and_many_labels() -> None:
    order = tk.Dataset.build([[0.0]] * 9, [9, 8, 7, 6, 5, 4, 3, 2, 1], ["q"] * 9, truth="order")
    assert grades_of(order).tolist() == [3, 2, 2, 1, 1, 1, 1, 0, 0]
    many = Classes.of(np.arange(10.0))
    assert many.index(np.arange(10.0)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    merged = Classes.of(np.array([0.0, 1.0, 2.0])).merged(0, [5, 3, 1])
    assert merged.index(np.array([0.0, 1.0, 2.0])).tolist() == [0, 1, 1]
    assert merged.gains.tolist() == [0.0, (3 * 1 + 1 * 3) / 4]


def test_the_split_does_not_depend_on_the_order_of_queries() -> None:
    data = tk.Dataset.build(np.zeros((50, 1)), np.zeros(50), np.arange(50))
    weights = np.ones(50)
    weights[:10] = 0
    train, held = hold_back_queries(data, weights, 0.2, 0)
    assert len(train) == 32
    assert len(held) == 8
    assert set(train) | set(held) == set(range(10, 50))
    turned = np.arange(49, -1, -1)
    _, again = hold_back_queries(data.select(turned), weights[turned], 0.2, 0)
    assert {data.qids[q] for q in held} == {data.select(turned).qids[q] for q in again}


@pytest.mark.parametrize("settings", [{"form": "forest"}, {"size": 1}, {"rounds": 0}, {"search": "x"},
                                      {"calibration": "x"}, {"share": 1.0}])  # fmt: skip
def test_wrong_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(tk.InputError):
        tk.ranker("adaboost-mh", **settings)
