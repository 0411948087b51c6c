"""``topkit train`` and ``topkit score`` as a user types them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.cli import said, topkit_here
from topkit.data.scores import read_scores
from topkit.rankers.checks import easy_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, seed in (("train", 0), ("vali", 1), ("test", 2)):
        easy_data(12, seed=seed).to_letor(tmp_path / f"{name}.txt")
    return tmp_path


def test_train_then_score(folder: Path) -> None:
    model, scores = folder / "model", folder / "scores"
    words = ["--train", folder / "train.txt", "--valid", folder / "vali.txt", "--set", "k=3", "--out", model]
    answer = said("train", "focusednet", *words, "--set", "beta=0.3")
    assert "focusednet; ndcg@10 (yahoo) 0." in answer
    said("score", model, folder / "test.txt", "--out", scores)
    test = tk.read_letor(folder / "test.txt")
    loaded = tk.load_ranker(model)
    assert loaded.settings == {"k": 3, "beta": 0.3}
    assert np.array_equal(read_scores(scores), loaded.score(test))
    said("score", model, folder / "test.txt", "--format", "run", "--out", folder / "run")
    run = tk.read_run(folder / "run")
    assert run["0"] == loaded.rank(test)["0"]


def test_tuning_prints_what_it_tried(folder: Path) -> None:
    words = ["--train", folder / "train.txt", "--valid", folder / "vali.txt", "--out", folder / "model"]
    answer = said("train", "focusednet", *words, "--set", "l2=0.1", "--tune", "grid", "--trials", 3)
    assert answer.count("beta=") + answer.count("defaults") == 3


def test_training_on_preferences(folder: Path) -> None:
    train = tk.read_letor(folder / "train.txt")
    documents = train.names_of_documents()
    first = documents[train.ptr[0] : train.ptr[1]].tolist()
    best, worst = (
        first[int(np.argmax(train.X[: len(first), 0]))],
        first[int(np.argmin(train.X[: len(first), 0]))],
    )
    (folder / "prefs.txt").write_text(f"{train.qids[0]} {best} {worst} {best}\n")
    named = tk.Dataset(train.X, train.y, train.ptr, train.qids, documents)
    named.to_parquet(folder / "train.parquet")
    words = [
        "--train",
        folder / "train.parquet",
        "--preferences",
        folder / "prefs.txt",
        "--out",
        folder / "model",
    ]
    said("train", "ranknet", *words)
    assert tk.load_ranker(folder / "model").provenance["preferences"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "lisnet", "--train", "train.txt", "--out", "m"], "unknown ranker 'lisnet'"),
        (["train", "listnet", "--train", "nowhere", "--out", "m"], "nowhere"),
        (["train", "listnet", "--train", "train.txt", "--out", "m", "--set", "l2"], "invalid setting 'l2'"),
        (["train", "listnet", "--train", "train.txt", "--out", "m", "--set", "l2=x"], "l2 must be a number"),
        (["train", "listnet", "--train", "train.txt", "--out", "m", "--tune", "grid"], "--valid"),
        (["score", "train.txt", "train.txt", "--out", "s"], "not a topkit model"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_mistakes_are_one_line(folder: Path, words: list[str], message: str) -> None:
    result = topkit_here(*words, cwd=folder)
    assert result.returncode == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
