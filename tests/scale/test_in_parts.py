"""Training in parts on one machine: the totals, the optimum, the limits, and what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.cli import said, topkit_here
from tests.support.rankers import linear_weights
from topkit.data.partitions import plan_partitions
from topkit.losses import LOSSES
from topkit.rankers.checks import easy_data
from topkit.rankers.pieces import plus
from topkit.rankers.preparation import Preparation
from topkit.scale import parse_memory, train_in_parts
from topkit.scale.gradient import LinearGradient, gradient_sums
from topkit.scale.memory import rows_within
from topkit.scale.recipe import Recipe, split_queries
from topkit.scale.scratch import scratch
from topkit.scale.spread import Loaded, loaded_results, neighbours
from topkit.scale.streamed import streamed_pieces
from topkit.scale.trees import prepared
from topkit.scorers import LinearScorer


@pytest.fixture
def train(tmp_path: Path) -> tuple[tk.Dataset, Path]:
    """Queries of 4 to 15 documents, some features missing, as values and as a file."""
    easy = easy_data(30, seed=3)
    X = easy.X.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.05] = np.nan
    data = easy.with_features(X)
    data.to_parquet(tmp_path / "train.parquet")
    return data, tmp_path / "train.parquet"


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "given"])
@pytest.mark.parametrize("normalisation", ["none", "z-score"])
def test_totals_are_those_of_the_whole(
    train: tuple[tk.Dataset, Path], name: str, normalisation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value and gradient by streaming and by partitions, against the loss on all scores at once."""
    from topkit.scale import recipe as recipes

    monkeypatch.setattr(recipes, "PIECE_BYTES", 16 * 20)  # pieces of 20 documents
    data, path = train
    preparation = Preparation.of(data, None, normalisation)
    loss = tk.loss(name)
    method = LinearGradient(loss.name, loss.settings, LinearScorer())
    recipe = Recipe(tk.ranker("gradient", loss=name), method, preparation, "graded")
    plan = plan_partitions(path, 50)
    vector = np.array([0.3, -0.2, 0.8, 0.05, 0.4])
    X = np.nan_to_num(preparation(data).X.astype(np.float64))
    value, slope = loss(X @ vector[:-1] + vector[-1], data.y, data.ptr)
    expected = np.append(slope @ X, slope.sum())
    for room in (True, False):  # losses stay in memory, or are bound again for each evaluation
        with streamed_pieces(recipe, plan, 33, has_room=partial(bool, room)) as pieces:
            for _ in range(2):  # the scratch file can be gone through again
                found = pieces.total(gradient_sums, vector)
                np.testing.assert_allclose(found[0], value, rtol=1e-12)
                np.testing.assert_allclose(found[1], expected, rtol=1e-9, atol=1e-9)
    loaded = [Loaded.of(group, recipe) for group in neighbours(plan.partitions, 2)]
    parts = [sums for group in loaded for sums in loaded_results(group, plus, gradient_sums, (vector,))]
    assert len(parts) > 3
    np.testing.assert_allclose(sum(part[0] for part in parts), value, rtol=1e-12)
    np.testing.assert_allclose(sum(part[1] for part in parts), expected, rtol=1e-9, atol=1e-9)


METHODS: list[tuple[str, dict[str, Any]]] = [
    ("ranksvm", {}),
    ("ranksvm", {"loss": "hinge", "pairs": "topk", "k": 3, "C": 0.1, "tolerance": 1e-5}),
    ("svmmap", {"C": 1.0, "tolerance": 1e-5}),
    ("focusedsvm", {"k": 3, "C": 1.0, "tolerance": 1e-5}),
    ("adarank", {"metric": "map"}),
    ("rankboost", {"rounds": 30, "thresholds": 8}),
    ("rankboost", {"rounds": 20, "weak": "feature", "pairs": "focused", "k": 3}),
    ("focusedboost", {"k": 3, "rounds": 15}),
    ("focusedboost", {"k": 3, "rounds": 15, "margin": "label-gap", "weak": "feature"}),
    ("coordinate-ascent", {"restarts": 2, "sweeps": 3}),
    ("coordinate-ascent", {"metric": "map", "restarts": 1, "sweeps": 2, "steps": 5}),
]
"""Rankers other than gradient rankers that can be trained in parts."""


@pytest.mark.parametrize("with_validation", [False, True])
@pytest.mark.parametrize(("name", "settings"), METHODS)
def test_the_model_is_that_of_one_machine(
    train: tuple[tk.Dataset, Path],
    name: str,
    settings: dict[str, Any],
    with_validation: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In pieces of 40 documents, with missing features; states are kept, or made again for every request."""
    from topkit.scale import recipe as recipes
    from topkit.scale import train as training

    data, path = train
    valid = easy_data(20, seed=4) if with_validation else None
    whole = tk.ranker(name, **settings).fit(data, valid)
    monkeypatch.setattr(recipes, "PIECE_BYTES", 16 * 40)
    monkeypatch.setattr(training, "room_within", lambda memory: partial(bool, not with_validation))
    parts = train_in_parts(name, path, valid, rows=64, **settings)
    np.testing.assert_allclose(
        parts.score(data), whole.score(data), rtol=0, atol=5e-3 * scale_of(whole, data)
    )
    for one, two in zip(parts.traces, whole.traces, strict=True):
        assert one.values[-1] == pytest.approx(two.values[-1], abs=1e-5)


def scale_of(ranker: tk.rankers.Learner, data: tk.Dataset) -> float:
    """The standard deviation of a ranker's scores."""
    return float(np.std(ranker.score(data)))


def test_truth_of_fewer_places_than_k_keeps_its_own(train: tuple[tk.Dataset, Path], tmp_path: Path) -> None:
    """A file with ordered tops of 2 does not become one of 5, whose order beyond the second is chance."""
    data, _ = train
    top = data.top_k(2)
    top.to_parquet(tmp_path / "top.parquet")
    settings: dict[str, Any] = {"k": 5, "l2": 0.01, "tolerance": 1e-9}
    whole = tk.ranker("focusednet", **settings).fit(top)
    parts = train_in_parts("focusednet", tmp_path / "top.parquet", rows=64, **settings)
    np.testing.assert_allclose(linear_weights(parts), linear_weights(whole), rtol=0, atol=1e-6)


@pytest.mark.parametrize("settings", [{"l2": 0.01, "tolerance": 1e-9}, {"tolerance": 1e-9}])
def test_the_optimum_is_that_of_one_machine(train: tuple[tk.Dataset, Path], settings: dict[str, Any]) -> None:
    """With a penalty, and with the penalty chosen on validation data."""
    data, path = train
    valid = easy_data(20, seed=4)
    whole = tk.ranker("topk-listmle", k=3, **settings).fit(data, valid)
    parts = train_in_parts("topk-listmle", path, valid, rows=64, k=3, **settings)
    np.testing.assert_allclose(linear_weights(parts), linear_weights(whole), rtol=0, atol=1e-6)
    assert [len(trace.values) for trace in parts.traces] == pytest.approx(
        [len(trace.values) for trace in whole.traces], abs=3
    )
    assert set(parts.provenance) == set(whole.provenance)  # both are installed in the same way
    facts = parts.provenance["train"]
    assert (facts["queries"], facts["documents"]) == (30, len(data))


def test_what_cannot_be_trained_in_parts_says_why(train: tuple[tk.Dataset, Path]) -> None:
    _, path = train
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("ranksvm-rbf", {}, "its kernel compares every document"),
        ("sortnet", {}, "it is a network"),
        ("tune-and-mix", {}, "each of its members needs all documents"),
        ("ranksvm", {"pairs": "given"}, "does not support preferences"),
        ("adarank", {"convention": "trec"}, "sorts ties by document id"),
        ("listnet", {"scorer": "mlp"}, "networks and Adam cannot"),
        ("listnet", {"optimiser": "adam"}, "networks and Adam cannot"),
        ("lambdamart", {}, "or trees with --dask"),
        ("ranknet", {"pairs": "given"}, "does not support preferences"),
    ]
    for name, settings, reason in cases:
        with pytest.raises(tk.InputError, match=reason):
            train_in_parts(name, path, **settings)


def test_memory(train: tuple[tk.Dataset, Path]) -> None:
    data, path = train
    plan = plan_partitions(path, 100)
    assert parse_memory("1.5 GB") == 1_500_000_000
    assert parse_memory("700m") == 700_000_000
    for text in ("lots", "-3MB", "3 parsecs"):
        with pytest.raises(tk.InputError, match="invalid size"):
            parse_memory(text)
    with pytest.raises(tk.InputError, match="too small"):
        parse_memory("1MB")
    with pytest.raises(tk.InputError, match=rf"longest query \({data.lengths.max()} documents\) need"):
        rows_within(60 << 20, plan)
    assert rows_within(2 << 30, plan) == rows_within(None, plan) == (4 << 20) // 16


def test_pieces_are_whole_queries(train: tuple[tk.Dataset, Path]) -> None:
    data, _ = train
    for rows in (1, 7, 50, 10_000):
        pieces = list(split_queries(data, rows))
        assert [qid for piece in pieces for qid in piece.qids] == list(data.qids)
        np.testing.assert_array_equal(np.concatenate([piece.X for piece in pieces]), data.X)
        assert all(len(piece) <= rows or piece.n_queries == 1 for piece in pieces)


def test_scratch_returns_what_was_put(train: tuple[tk.Dataset, Path]) -> None:
    """Pieces of different sizes, read ahead into two buffers, twice; arrays are aligned for kernels."""
    data, _ = train
    pieces = list(split_queries(data, 30))
    assert len({len(piece) for piece in pieces}) > 2
    with scratch() as stored:
        assert list(stored) == []
        for piece in pieces:
            stored.put(piece)
        for _ in range(2):
            count = 0
            for piece, (X, y, ptr) in zip(pieces, stored, strict=True):
                np.testing.assert_array_equal(X, piece.X)
                np.testing.assert_array_equal(y, piece.y)
                np.testing.assert_array_equal(ptr, piece.ptr)
                assert X.flags.aligned
                assert ptr.flags.aligned
                count += 1
            assert count == len(pieces)


def test_every_partition_is_in_one_group(train: tuple[tk.Dataset, Path]) -> None:
    parts = plan_partitions(train[1], 20).partitions
    for groups in (1, 2, 3, len(parts), len(parts) + 5):
        found = neighbours(parts, groups)
        assert [part for group in found for part in group] == list(parts)
        assert len(found) == min(groups, len(parts))
        assert max(map(len, found)) - min(map(len, found)) <= 1


def test_the_command(train: tuple[tk.Dataset, Path], tmp_path: Path) -> None:
    data, path = train
    words = ["--train", path, "--set", "k=3", "--set", "l2=0.01", "--memory", "2GB"]
    said("train", "topk-listmle", *words, "--out", tmp_path / "parts")
    loaded = tk.load_ranker(tmp_path / "parts")
    whole = tk.ranker("topk-listmle", k=3, l2=0.01).fit(data)
    np.testing.assert_allclose(loaded.score(data), whole.score(data), atol=1e-4)
    for extra, reason in (
        (["--dask", "local"], "--memory and --dask cannot be used together"),
        (["--tune", "grid", "--valid", path], "--memory cannot be used with --tune"),
    ):
        refused = topkit_here("train", "topk-listmle", *words, *extra, "--out", tmp_path / "no")
        assert reason in refused.stderr
        assert refused.returncode == 1


def test_score_streams(train: tuple[tk.Dataset, Path], tmp_path: Path) -> None:
    """Scores and runs of a stream are those of the whole, and a file of other data leaves no output."""
    from topkit.scale import score_file

    data, path = train
    ranker = tk.ranker("listnet", l2=0.1).fit(data)
    out = tmp_path / "out"
    assert score_file(ranker, path, out, rows=7) == len(data)
    np.testing.assert_array_equal(tk.read_scores(out), ranker.score(data))
    score_file(ranker, path, out, "run", rows=7)
    assert tk.read_run(out) == ranker.rank(data)
    out.unlink()
    narrow = tmp_path / "narrow.txt"
    narrow.write_text("1 qid:a 1:0.5 3:0.25\n0 qid:b 1:1\n")
    with pytest.raises(tk.InputError, match="trained on 4 features, the data has 3"):
        score_file(ranker, narrow, out)
    assert not out.exists()
    narrow.write_text("1 qid:a 1:0.5 4:0.25\n0 qid:b 1:1\n")  # the last features of b are left out: zeros
    score_file(ranker, narrow, out)
    np.testing.assert_array_equal(tk.read_scores(out), ranker.score(tk.read_letor(narrow)))


@pytest.mark.parametrize(("truth", "k"), [(3, 8), (5, 3)])
def test_trees_on_a_cluster_take_the_smaller_k_of_ranker_and_truth(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, truth: int, k: int
) -> None:
    """As in memory: the loss and the labels of every partition are those of the top 3."""
    data = easy_data(8, seed=1)
    data.top_k(truth).to_parquet(tmp_path / "top.parquet")

    class StoppedError(Exception):
        """Raised in place of growing trees, which needs a cluster."""

    def grow(cluster: object, plan: Any, preparation: Any, bound: Any, *others: Any) -> None:
        assert bound.settings["k"] == others[-1] == 3
        labels = [prepared(part, preparation, plan.truth, 3).y for part in plan.partitions]
        np.testing.assert_array_equal(np.concatenate(labels), data.top_k(3).y)
        raise StoppedError

    monkeypatch.setattr("topkit.scale.train.spread_trees", grow)
    cluster: Any = object()
    with pytest.raises(StoppedError):
        train_in_parts("focusednet", tmp_path / "top.parquet", cluster=cluster, scorer="trees", k=k)
