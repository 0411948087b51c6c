"""ULARA: a case worked by hand, thresholds and rates without labels, online weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.fusion import noisy_runs
from topkit.data import InputError, Run
from topkit.fusion import Ballots, fuse
from topkit.fusion.ulara import query_gradients, ulara, usual_threshold


def run_of(name: str, **lists: str) -> Run:
    return Run.of({q: [(doc, -float(p)) for p, doc in enumerate(docs)] for q, docs in lists.items()}, name)


RUNS = [run_of("one", q="abc"), run_of("two", q="acb"), run_of("odd", q="dcb")]


def test_gradients_by_hand() -> None:
    # κ = 3. Documents in at least two lists: a (places 1, 1, absent = 4), b (2, 3, 3), c (3, 2, 2).
    # Means of those that rank it: a 1, b 8/3, c 7/3.
    ballots = Ballots.of(RUNS)
    found = query_gradients(ballots.ranks(0), ballots.lengths[0], nu=2)
    expected = np.array(
        [
            0 + (2 - 8 / 3) ** 2 + (3 - 7 / 3) ** 2,
            0 + (3 - 8 / 3) ** 2 + (2 - 7 / 3) ** 2,
            9 + (3 - 8 / 3) ** 2 + (2 - 7 / 3) ** 2,
        ]
    )
    np.testing.assert_allclose(found.actual, expected / 9)


def test_weights_are_exponentiated_gradients() -> None:
    fusion = fuse(RUNS, "ulara", nu=2, rate=0.5)
    own = query_gradients(Ballots.of(RUNS).ranks(0), np.array([3, 3, 3]), 2).actual
    expected = np.exp(-0.5 * own) / np.exp(-0.5 * own).sum()
    assert fusion.weights == pytest.approx(dict(zip(("one", "two", "odd"), expected, strict=True)))
    assert expected[1] > expected[0] > expected[2]
    # Σ w (κ + 1 − place)/κ
    w1, w2, w3 = expected
    scores = dict(fusion.run["q"])
    assert scores == pytest.approx(
        {"a": w1 + w2, "c": w1 / 3 + (w2 + w3) * 2 / 3, "b": w1 * 2 / 3 + (w2 + w3) / 3, "d": w3}
    )


def test_no_rate_is_equal_weights() -> None:
    weights = fuse(RUNS, "ulara", nu=2, rate=0.0).weights
    assert weights == pytest.approx({"one": 1 / 3, "two": 1 / 3, "odd": 1 / 3})


def test_threshold_is_beyond_chance() -> None:
    # 40 lists of 1000 out of 10,000: 4 by chance, deviation √(40 · 0.1 · 0.9) = 1.9, and 4 + 3.8 → 8.
    assert usual_threshold(np.full(40, 0.1), most=40) == 8
    assert usual_threshold(np.full(40, 0.1), most=7) == 7  # nobody would speak otherwise
    assert usual_threshold(np.ones(5), most=5) == 5  # complete lists: every item is in all


@pytest.mark.parametrize(("good", "bad"), [(6, 2), (4, 8), (3, 12)])
def test_random_rankers_lose_their_weight_without_settings(good: int, bad: int) -> None:
    weights = fuse(noisy_runs(good, bad), "ulara").weights
    assert weights is not None
    worst_good = min(w for name, w in weights.items() if name.startswith("good"))
    best_bad = max(w for name, w in weights.items() if name.startswith("bad"))
    assert worst_good > 3 * best_bad


def test_online_ranks_each_query_by_what_was_seen_so_far() -> None:
    runs = noisy_runs(4, 3)
    online = tk.aggregate(runs, "ulara", online=True)
    heads = [Run.of({q: run[q] for q in ("q0", "q1", "q2")}, run.name) for run in runs]
    assert online["q2"] == tk.aggregate(heads, "ulara")["q2"]
    last = fuse(runs, "ulara", online=True)
    assert last.run["q19"] == tk.aggregate(runs, "ulara")["q19"]
    assert last.weights == fuse(runs, "ulara").weights


def test_kappa_cuts_the_lists() -> None:
    runs = noisy_runs(4, 2)
    short = [Run.of({q: run[q][:5] for q in run}, run.name) for run in runs]
    cut = fuse(runs, "ulara", kappa=5)
    assert cut.weights == fuse(short, "ulara").weights
    first = [doc for doc, score in cut.run["q0"] if score > 0]
    assert first == [doc for doc, _ in tk.aggregate(short, "ulara")["q0"]]


def test_a_ranker_without_an_answer_is_taken_as_random() -> None:
    runs = noisy_runs(5, 1)
    silent = Run.of({"q0": runs[0]["q0"]}, "silent")
    weights = fuse([*runs, silent], "ulara").weights
    assert weights is not None
    assert weights["silent"] < min(weights[f"good-{i}"] for i in range(5))


@pytest.mark.parametrize("settings", [{"nu": 0}, {"rate": -1.0}, {"kappa": 0}])
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        tk.aggregate(RUNS, "ulara", **settings)


def test_nothing_to_learn_from_is_equal_weights() -> None:
    apart = [run_of("one", q="ab"), run_of("two", q="cd")]
    assert ulara(Ballots.of(apart)).per_ranker["weight"].tolist() == [0.5, 0.5]
