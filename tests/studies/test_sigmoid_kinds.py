"""The kinds outliers and epochs: the two experiments around the sigmoid meta-ranker, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.data import InputError
from topkit.losses import loss
from topkit.rankers import Job
from topkit.rankers.linear import Sigmoid, pair_margins, without_outliers
from topkit.studies.demo_data import demo_data
from topkit.studies.publish import publish
from topkit.studies.run import run_study

DATA = '\n[[data]]\nname = "demo"\nfolds = [1, 2]\n'


def test_pairs_below_the_cutoff_are_removed() -> None:
    """Scores 3, 0, 1 of labels 2, 1, 0: margins 3, 2 and −1, whose root mean square is √(14/3) = 2.16."""
    data = tk.Dataset.build([[0.0]] * 3, [2, 1, 0], ["q"] * 3)
    everything, none = without_outliers(data, [3.0, 0.0, 1.0], -np.inf)
    assert list(zip(everything.better, everything.worse, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert none == 0.0
    pairs, removed = without_outliers(data, [3.0, 0.0, 1.0], -0.4)  # −1/2.16 = −0.463
    assert list(zip(pairs.better, pairs.worse, strict=True)) == [(0, 1), (0, 2)]
    assert removed == pytest.approx(1 / 3)
    assert len(without_outliers(data, [3.0, 0.0, 1.0], -0.5)[0]) == 3
    with pytest.raises(InputError, match="one score for each of 3 documents"):
        without_outliers(data, [1.0], 0.0)


def test_the_removed_share_is_that_of_the_margins() -> None:
    data = demo_data()
    scores = tk.ranker("listnet").fit(data).score(data)
    _, removed = without_outliers(data, scores, -2.0)
    assert removed == pytest.approx(pair_margins(data, scores, outlier=2.0).outliers)


def test_a_study_of_outliers(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('kind = "outliers"\nmetrics = ["ndcg@10"]\n[settings]\ncutoffs = [-1.0, 0.0]' + DATA)
    finished = run_study(file, tmp_path / "out")
    means = finished.results.where(fold=1).mean("ndcg@10", "cutoff")
    part = tk.query_folds(demo_data(), 5, seed=0)[0]
    base = tk.ranker("ranksvm").fit(part.train, part.valid)
    pairs, _ = without_outliers(part.train, base.score(part.train), -1.0)
    again = tk.ranker("ranksvm", pairs="given").fit(part.train, part.valid, preferences=pairs)
    for cutoff, fitted in ((-1e9, base), (-1.0, again)):
        expected = tk.evaluate(part.test, fitted.score(part.test), "ndcg@10").mean["ndcg@10"]
        assert means[(cutoff,)] == pytest.approx(expected, abs=1e-9)
    assert "share of pairs removed" in publish(finished)
    file.write_text('kind = "outliers"\nrankers = ["bestfeature"]' + DATA)
    with pytest.raises(InputError, match="'bestfeature' does not learn from given pairs"):
        run_study(file, tmp_path / "other")


def test_epochs_are_the_steps_of_the_descent() -> None:
    """The loss falls with every step, and the last weights are those of a fit with the same λ."""
    data = demo_data()
    learner = tk.ranker("sigmoid", base="perceptron", max_steps=30, l2=0.5)
    preparation = learner.preparation_for(data)
    prepared = preparation(data)
    method = learner.method
    assert isinstance(method, Sigmoid)
    path = method.epochs(Job(prepared, None, learner.measure()))
    bound = loss("sigmoid", pairs="all", steepness=1.0).on(data.y, data.ptr)
    objective = [bound(prepared.X @ w)[0] + 0.5 * w @ w for w in path]
    assert len(path) > 5
    assert (np.diff(objective) <= 1e-9).all()
    fitted = learner.fit(data)
    assert fitted.score(data) == pytest.approx(prepared.X.astype(float) @ path[-1], abs=1e-6)


def test_a_study_of_epochs(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('kind = "epochs"\nrankers = ["perceptron"]\n[settings]\nsteps = 6' + DATA)
    finished = run_study(file, tmp_path / "out")
    means = finished.results.where(fold=1).mean("auc", "base", "epoch")
    assert set(means) == {(b, e) for b in ("perceptron", "random start") for e in range(7)}
    train = tk.query_folds(demo_data(), 5, seed=0)[0].train
    base = tk.ranker("perceptron", normalise="min-max").fit(train)
    expected = tk.evaluate(train, base.score(train), "auc").mean["auc"]
    assert means["perceptron", 0] == pytest.approx(expected)
    assert means["random start", 6] > means["random start", 0]
    assert "epochs until auc is within 0.001" in publish(finished)
