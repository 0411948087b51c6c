"""On a real cluster of two processes: training, a killed worker, trees, and the maps."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.rankers import linear_weights
from topkit.compute.cluster import Cluster, ClusterError, connected
from topkit.fusion import fuse, learns_across_queries
from topkit.rankers.checks import easy_data
from topkit.rankers.tuning import tune
from topkit.scale import build_dataset_on, evaluate_on, fuse_on, train_in_parts, tune_on

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Dask's and LightGBM's own
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with connected(workers=2) as made:
        yield made


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> tuple[tk.Dataset, Path]:
    data = easy_data(200, seed=3, noise=0.2)
    path = tmp_path_factory.mktemp("data") / "train.parquet"
    data.to_parquet(path)
    return data, path


def times_two(value: int, more: int) -> int:
    return 2 * value + more


def test_maps_keep_order_and_values_stay(cluster: Cluster) -> None:
    assert cluster.workers == 2
    assert cluster.map(times_two, list(range(20)), 1) == [2 * i + 1 for i in range(20)]
    kept = cluster.keep(times_two, [1, 2, 3], 0)
    assert len(kept) == 3
    assert cluster.over(kept, times_two, 5) == [9, 13, 17]
    many = cluster.keep(times_two, list(range(10)), 0)
    cluster.over(many, times_two, 0)
    holders = [places[0] for places in cluster.client.who_has(list(many.futures)).values()]
    assert sorted(holders.count(place) for place in set(holders)) == [5, 5]


def test_the_optimum_is_that_of_one_machine(cluster: Cluster, train: tuple[tk.Dataset, Path]) -> None:
    data, path = train
    settings: dict[str, Any] = {"k": 3, "l2": 0.01, "tolerance": 1e-9}
    whole = tk.ranker("topk-listmle", **settings).fit(data)
    spread = train_in_parts("topk-listmle", path, cluster=cluster, rows=300, **settings)
    np.testing.assert_allclose(linear_weights(spread), linear_weights(whole), rtol=0, atol=1e-6)
    again = train_in_parts("topk-listmle", path, cluster=cluster, rows=300, **settings)
    np.testing.assert_array_equal(linear_weights(again), linear_weights(spread))  # whoever did which part


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ranksvm", {"C": 1e-3}),
        ("focusedsvm", {"k": 3, "C": 0.1, "tolerance": 1e-6}),
        ("adarank", {"convention": "trec"}),
        ("rankboost", {"rounds": 20, "thresholds": 8}),
        ("coordinate-ascent", {"restarts": 2, "sweeps": 2}),
    ],
)
def test_the_model_is_that_of_one_machine(
    cluster: Cluster, train: tuple[tk.Dataset, Path], name: str, settings: dict[str, Any]
) -> None:
    data, path = train
    whole = tk.ranker(name, **settings).fit(data)
    spread = train_in_parts(name, path, cluster=cluster, rows=700, **settings)
    scores = whole.score(data)
    np.testing.assert_allclose(spread.score(data), scores, rtol=0, atol=2e-3 * float(np.std(scores)))


def test_trials_and_members_are_tasks(cluster: Cluster, train: tuple[tk.Dataset, Path]) -> None:
    """The same trials and the same mixture as in one process."""
    data, path = train
    valid = easy_data(30, seed=4, noise=0.2)
    best, trials = tune_on(cluster, "listnet", path, valid, trials=3)
    alone, same = tune("listnet", data, valid, trials=3)
    assert [trial.settings for trial in trials] == [trial.settings for trial in same]
    assert [trial.measure for trial in trials] == pytest.approx([trial.measure for trial in same])
    np.testing.assert_allclose(best.score(valid), alone.score(valid), atol=1e-9)
    settings: dict[str, Any] = {"rounds": 5, "trees": (4,), "products": (2,), "rankers": ("listnet",)}
    mixture = train_in_parts("tune-and-mix", path, valid, cluster=cluster, **settings)
    whole = tk.ranker("tune-and-mix", **settings).fit(data, valid)
    np.testing.assert_allclose(mixture.score(valid), whole.score(valid), atol=1e-6)


def test_trees(cluster: Cluster, train: tuple[tk.Dataset, Path]) -> None:
    """Not the same trees, since workers find the bins of features together; as good ones."""
    data, path = train
    valid, test = easy_data(60, seed=4, noise=0.2), easy_data(200, seed=5, noise=0.2)
    settings: dict[str, Any] = {"trees": 30, "leaves": 7, "patience": 10, "rate": 0.1}
    whole = tk.ranker("lambdamart", **settings).fit(data, valid)
    spread = train_in_parts("lambdamart", path, valid, cluster=cluster, rows=700, **settings)
    means = [tk.evaluate(test, r.score(test), "ndcg@10").mean["ndcg@10"] for r in (whole, spread)]
    assert spread.model is not None
    assert spread.model.kind == "trees"
    assert means[1] == pytest.approx(means[0], abs=0.01)


def test_trees_of_a_drawn_order_learn_from_top_k_truth(
    cluster: Cluster, train: tuple[tk.Dataset, Path], tmp_path: Path
) -> None:
    """As good as in memory; grades are refused, because the order would have to be drawn first."""
    data, graded = train
    settings: dict[str, Any] = {"scorer": "trees", "trees": 20, "leaves": 4, "rate": 0.2, "k": 8}
    top = data.top_k(3)
    top.to_parquet(tmp_path / "top.parquet")
    spread = train_in_parts("focusednet", tmp_path / "top.parquet", cluster=cluster, rows=900, **settings)
    whole = tk.ranker("focusednet", **settings).fit(top)
    means = [tk.evaluate(data, r.score(data), "ndcg@10").mean["ndcg@10"] for r in (whole, spread)]
    assert means[1] == pytest.approx(means[0], abs=0.02)
    with pytest.raises(tk.InputError, match="top-k truth only, got graded"):
        train_in_parts("focusednet", graded, cluster=cluster, **settings)


def test_evaluation_as_a_map(cluster: Cluster, train: tuple[tk.Dataset, Path], tmp_path: Path) -> None:
    data, path = train
    top = data.top_k(3)
    top.to_parquet(tmp_path / "top.parquet")
    ranker = tk.ranker("listnet", l2=0.1).fit(data)
    ranker.save(tmp_path / "m")
    for file, truth in ((path, data), (tmp_path / "top.parquet", top)):
        found = evaluate_on(cluster, tmp_path / "m", file, ["ndcg@5", "err", "map"], rows=300)
        expected = tk.evaluate(truth, ranker.score(truth), ["ndcg@5", "err", "map"])
        assert found.qids == expected.qids
        for name, values in expected.per_query.items():
            np.testing.assert_array_equal(found.per_query[name], values)


def test_aggregation_as_a_map(cluster: Cluster) -> None:
    rng = np.random.default_rng(0)
    runs = []
    for name in "abc":
        lists = {}
        for q in range(12):
            documents = rng.permutation(8)[: rng.integers(3, 9)]
            scores = np.sort(rng.uniform(size=len(documents)))[::-1]
            lists[f"q{q}"] = [(f"d{d}", float(s)) for d, s in zip(documents, scores, strict=True)]
        runs.append(tk.Run.of(lists, name))
    for method in tk.AGGREGATORS:
        if learns_across_queries(method):
            with pytest.raises(tk.InputError, match="learns from all queries"):
                fuse_on(cluster, runs, method)
        else:
            settings: dict[str, Any] = {"weights": [0.5, 0.3, 0.2]} if method == "weighted-borda" else {}
            fused = fuse_on(cluster, runs, method, queries=5, **settings)
            assert fused == fuse(runs, method, **settings).run, method


def test_feature_building_as_a_map(cluster: Cluster, tmp_path: Path) -> None:
    from topkit.features import Document

    rng = np.random.default_rng(1)
    words = np.array(["apple", "bread", "cider", "dough", "egg", "flour", "grape", "honey"])
    documents = [
        Document(f"d{i}", {"title": " ".join(rng.choice(words, 3)), "text": " ".join(rng.choice(words, 30))})
        for i in range(40)
    ]
    index = tk.build_index(documents, tmp_path / "index")
    queries = {f"q{i}": " ".join(rng.choice(words, 2)) for i in range(9)} | {"none": "zebra"}
    grades = {q: {f"d{j}": float(j % 3) for j in range(0, 40, 3)} for q in queries if q != "none"}
    settings: dict[str, Any] = {"features": "bm25.title,bm25.text", "sampling": "top", "depth": 10}
    expected, _ = tk.build_dataset(index, queries, grades, **settings)
    found = build_dataset_on(cluster, tmp_path / "index", queries, grades, at_once=1, **settings)
    assert found == expected


def test_a_killed_worker_is_survived(train: tuple[tk.Dataset, Path]) -> None:
    """One of two workers is killed after the third step; the optimum is the same."""
    data, path = train
    settings: dict[str, Any] = {"k": 3, "l2": 1e-4, "tolerance": 1e-9}
    whole = tk.ranker("topk-listmle", **settings).fit(data)
    with connected(workers=2) as own:
        killed: list[int] = []

        def report(what: str, step: int, steps: int, value: float) -> None:
            if step == 3 and not killed:
                info = own.client.run(os.getpid)
                killed.append(next(iter(info.values())))
                threading.Thread(target=os.kill, args=(killed[0], signal.SIGKILL)).start()

        spread = train_in_parts("topk-listmle", path, cluster=own, rows=200, report=report, **settings)
    assert killed
    np.testing.assert_allclose(linear_weights(spread), linear_weights(whole), rtol=0, atol=1e-6)


def test_no_cluster_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topkit.compute.cluster.CONNECT_SECONDS", 1)
    with (
        pytest.raises(ClusterError, match="no Dask scheduler at 'tcp:"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass
