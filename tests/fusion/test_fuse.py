"""What every aggregator must do, and the doors: fuse, aggregate, the registry."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from tests.support.fusion import some_runs
from topkit.data import InputError, Run
from topkit.data.settings import settings_of as declared
from topkit.fusion import AGGREGATORS, DEFAULT, fuse, learns_across_queries, settings_of

METHODS = sorted(set(AGGREGATORS) - {"weighted-borda"})
SAMPLED = {"mallows"}


def order(run: Run) -> dict[str, list[str]]:
    return {q: [doc for doc, _ in run[q]] for q in run}


@pytest.mark.parametrize("method", METHODS)
def test_every_document_comes_out_once(method: str) -> None:
    runs = some_runs()
    fused = tk.aggregate(runs, method)
    assert fused.qids == ("q0", "q1", "q2", "q3")
    assert fused.name == method
    for q in fused:
        docs = [doc for doc, _ in fused[q]]
        assert len(set(docs)) == len(docs)
        assert set(docs) == {doc for run in runs if q in run for doc, _ in run[q]}
        scores = [score for _, score in fused[q]]
        assert scores == sorted(scores, reverse=True)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_second_call_gives_the_same(method: str) -> None:
    assert tk.aggregate(some_runs(), method, seed=3) == tk.aggregate(some_runs(), method, seed=3)


@pytest.mark.parametrize("method", sorted(set(METHODS) - SAMPLED))
def test_the_order_of_runs_does_not_matter(method: str) -> None:
    runs = some_runs(1)
    one, two = tk.aggregate(runs, method), tk.aggregate(runs[::-1], method)
    for q in one:
        first, second = dict(one[q]), dict(two[q])
        assert first == pytest.approx(second, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("method", sorted(set(METHODS) - SAMPLED))
def test_the_order_of_queries_does_not_matter(method: str) -> None:
    runs = some_runs(2)
    turned = [Run.of({q: run[q] for q in reversed(run.qids)}, run.name) for run in runs]
    one, two = tk.aggregate(runs, method), tk.aggregate(turned, method)
    for q in one:
        assert dict(one[q]) == pytest.approx(dict(two[q]), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_runs_that_agree_are_kept_as_they_are(method: str) -> None:
    run = Run.of({"q": [(f"d{i}", -float(i)) for i in (4, 0, 3, 1, 2)], "p": [("only", 1.0)]}, "same")
    fused = tk.aggregate([run, run, run], method)
    assert sorted(order(fused)["q"], key=lambda doc: order(fused)["q"].index(doc)) == [
        "d0",
        "d1",
        "d2",
        "d3",
        "d4",
    ]
    assert order(fused)["p"] == ["only"]


@pytest.mark.parametrize("method", METHODS)
def test_one_run_alone_keeps_its_order(method: str) -> None:
    run = Run.of({"q": [("x", 3.0), ("b", 2.0), ("a", 1.0)]}, "alone")
    assert order(tk.aggregate([run], method)) == {"q": ["x", "b", "a"]}


@pytest.mark.parametrize("method", METHODS)
def test_a_better_document_everywhere_is_first(method: str) -> None:
    runs = [
        Run.of({"q": [("best", 9.0), *[(f"d{i}", float(-((i * k) % 7))) for i in range(7)]]}, f"r{k}")
        for k in (1, 2, 3)
    ]
    assert order(tk.aggregate(runs, method))["q"][0] == "best"


@pytest.mark.parametrize("method", METHODS)
def test_empty_queries_and_silent_rankers(method: str) -> None:
    runs = [
        Run.of({"q": [], "p": [("x", 1.0), ("y", 0.5)]}, "a"),
        Run.of({"p": [("y", 1.0)]}, "b"),
        Run.of({"q": []}, "c"),
    ]
    fused = tk.aggregate(runs, method)
    assert fused["q"] == []
    assert {doc for doc, _ in fused["p"]} == {"x", "y"}


@pytest.mark.parametrize("method", METHODS)
def test_keep_cuts_the_result(method: str) -> None:
    whole, short = tk.aggregate(some_runs(), method), tk.aggregate(some_runs(), method, keep=3)
    for q in whole:
        assert short[q] == whole[q][:3]


def test_settings_are_checked() -> None:
    runs = some_runs()
    with pytest.raises(InputError, match="no setting 'depht'; did you mean 'depth'"):
        tk.aggregate(runs, "condorcet", depht=3)
    with pytest.raises(InputError, match="unknown fusion method 'best'; choose from agreement, borda"):
        tk.aggregate(runs, "best")
    with pytest.raises(InputError, match="keep"):
        tk.aggregate(runs, keep=0)
    with pytest.raises(InputError, match="at least one run"):
        tk.aggregate([])


def test_the_registry_is_plain_and_documented() -> None:
    assert DEFAULT in tk.AGGREGATORS
    for name, function in tk.AGGREGATORS.items():
        assert (function.__doc__ or "").strip(), name
        assert "seed" not in settings_of(name)
        assert all(setting.meaning.endswith(".") for setting in declared(function).values())
    assert settings_of("rrf") == {"k": 60.0}


def test_methods_declare_whether_they_learn_across_queries() -> None:
    """Where they do not, fusing the queries one by one gives the same order."""
    assert [name for name in AGGREGATORS if learns_across_queries(name)] == ["agreement", "mallows", "ulara"]
    with pytest.raises(InputError, match="unknown fusion method"):
        learns_across_queries("best")
    runs = some_runs()
    for method in METHODS:
        if not learns_across_queries(method):
            for qid in runs[0]:
                alone = [Run.of({qid: run[qid]} if qid in run else {}, run.name) for run in runs]
                assert order(tk.aggregate(alone, method))[qid] == order(tk.aggregate(runs, method))[qid]


def test_aggregate_is_a_function_and_fusion_its_room() -> None:
    import topkit.fusion as room

    run = Run.of({"q": [("x", 1.0)]})
    assert tk.aggregate is room.aggregate
    assert tk.aggregate([run], "borda")["q"] == [("x", 1.0)]


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    for method in ("mallows", "kemeny", "plackett-luce"):
        seen.clear()
        fuse(some_runs(), method, progress=lambda done, of: seen.append((done, of)))
        assert seen
        assert max(done for done, _ in seen) <= seen[0][1]


def test_explanation_lists_the_weightiest_first() -> None:
    fusion = fuse(some_runs())
    weights = [figures["weight"] for _, figures in fusion.table()]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1.0)
    assert fuse(some_runs(), "borda").table() == []
    assert fuse(some_runs(), "borda").theta is None
