"""Borda, CombSUM, CombMNZ and reciprocal ranks: arithmetic written out, and ranx 0.3.21's figures."""

from __future__ import annotations

from typing import Any

import pytest

import topkit as tk
from topkit.data import InputError, Run
from topkit.fusion import fuse

ONE = Run.of({"q": [("a", 9.0), ("b", 7.5), ("c", 3.0), ("d", 1.0)], "p": [("x", 2.0), ("y", 1.0)]}, "one")
TWO = Run.of({"q": [("c", 0.8), ("a", 0.7), ("e", 0.1)], "p": [("y", 5.0), ("z", 4.0), ("x", 1.0)]}, "two")
THREE = Run.of({"q": [("b", 30.0), ("e", 20.0)]}, "three")
RUNS = [ONE, TWO, THREE]


def scores(method: str, query: str = "q", **settings: Any) -> dict[str, float]:
    return dict(tk.aggregate(RUNS, method, **settings)[query])


def test_borda_counts_from_the_longest_list() -> None:
    # k = 4: places 1, 2, 3, 4 are worth 4, 3, 2, 1 in every list, however short.
    assert scores("borda") == {"a": 4 + 3, "b": 3 + 4, "c": 2 + 4, "e": 2 + 3, "d": 1}
    assert scores("borda", "p") == {"x": 3 + 1, "y": 2 + 3, "z": 2}


def test_borda_with_shared_rest_is_ranxs() -> None:
    # n = 5; list two leaves (5 − 3 + 1)/2 = 1.5 to each of b and d, list three 2 to each of a, c and d.
    assert scores("borda", unranked="shared") == {"a": 11.0, "b": 10.5, "c": 10.0, "e": 8.0, "d": 5.5}


def test_weighted_borda() -> None:
    expected = {"a": 2 * 4 + 3, "b": 2 * 3 + 0.5 * 4, "c": 2 * 2 + 4, "e": 2 + 0.5 * 3, "d": 2}
    assert scores("weighted-borda", weights=[2.0, 1.0, 0.5]) == expected
    fusion = fuse(RUNS, "weighted-borda", weights={"two": 1.0, "one": 2.0, "three": 0.5})
    assert dict(fusion.run["q"]) == expected
    assert fusion.weights == {"one": 2 / 3.5, "two": 1 / 3.5, "three": 0.5 / 3.5}


@pytest.mark.parametrize(
    "weights", [None, [1.0], {"one": 1.0}, [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, float("nan"), 1.0]]
)
def test_weights_that_cannot_be(weights: object) -> None:
    with pytest.raises(InputError, match="weights"):
        tk.aggregate(RUNS, "weighted-borda", weights=weights)


def test_reciprocal_ranks_are_ranxs() -> None:
    assert scores("rrf") == pytest.approx(
        {
            "a": 0.03252247488101534,
            "b": 0.03252247488101534,
            "c": 0.032266458495966696,
            "e": 0.03200204813108039,
            "d": 0.015625,
        }
    )
    assert scores("rrf", k=0.0) == pytest.approx(
        {"a": 1.5, "b": 1.5, "c": 1 + 1 / 3, "e": 0.5 + 1 / 3, "d": 0.25}
    )


def test_combsum_is_ranxs_with_min_max() -> None:
    expected = {"a": 1.857142857142857, "b": 1.8125, "c": 1.25, "d": 0.0, "e": 0.0}
    assert scores("combsum") == pytest.approx(expected)


def test_combmnz_with_min_max_is_ranxs() -> None:
    expected = {"a": 3.714285714285714, "b": 3.625, "c": 2.5, "d": 0.0, "e": 0.0}
    assert scores("combmnz", scale="min-max") == pytest.approx(expected)


def test_combmnz_on_places() -> None:
    assert scores("combmnz") == {"a": 7 * 2, "b": 7 * 2, "c": 6 * 2, "e": 5 * 2, "d": 1}


def test_combsum_on_raw_scores_and_on_places() -> None:
    assert scores("combsum", scale="none")["b"] == 37.5
    assert scores("combsum", scale="rank") == scores("borda")


def test_equal_scores_scale_to_one() -> None:
    flat = Run.of({"q": [("x", 3.0), ("y", 3.0)]}, "flat")
    assert dict(tk.aggregate([flat], "combsum")["q"]) == {"x": 1.0, "y": 1.0}


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("combsum", {"scale": "z"}),
        ("combmnz", {"scale": 3}),
        ("borda", {"unranked": "top"}),
        ("rrf", {"k": -1.0}),
    ],
)
def test_settings_that_cannot_be(method: str, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        tk.aggregate(RUNS, method, **settings)


def test_infinite_scores_can_be_ranked_but_not_scaled() -> None:
    run = Run.of({"q": [("x", float("inf")), ("y", 0.0)]}, "inf")
    assert [doc for doc, _ in tk.aggregate([run], "borda")["q"]] == ["x", "y"]
    with pytest.raises(InputError, match="infinite"):
        tk.aggregate([run], "combsum")
