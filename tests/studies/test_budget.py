"""The budget study: assessors as reliable as published, and minutes that add up."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from topkit.data.folds import Fold
from topkit.labelling import Question
from topkit.studies.assessors import (
    asked_pairs,
    borders_for,
    calibrated,
    comparing_agreement,
    error_of,
    error_rate,
    labels_of,
    relevance,
)
from topkit.studies.demo_data import demo_data
from topkit.studies.kinds import KINDS
from topkit.studies.kinds.budget_show import turning_point
from topkit.studies.publish import publish
from topkit.studies.run import run_study
from topkit.studies.sources import describe, load
from topkit.studies.spec import Source
from topkit.studies.study_file import read_study
from topkit.studies.teacher import Scores, noisy_order, teacher_scores, with_order


@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(-5, 5)), min_size=1, max_size=30),
    st.integers(0, 2**32 - 1),
)
def test_a_teachers_order_is_a_permutation_that_agrees_with_the_grades(
    documents: list[tuple[int, float]], seed: int
) -> None:
    grades = np.array([grade for grade, _ in documents], np.float32)
    labels = noisy_order(grades, np.array([score for _, score in documents]), seed)
    assert sorted(labels) == list(range(1, len(documents) + 1))
    best_first = grades[np.argsort(-labels)]
    assert (np.diff(best_first) <= 0).all()


def test_noise_grows_towards_the_tail() -> None:
    scores = np.linspace(3, -3, 60)
    moved = np.zeros(60)
    for seed in range(200):
        labels = noisy_order(np.zeros(60, np.float32), scores, seed)
        moved += np.abs(61 - labels - np.arange(1, 61))
    assert moved[:10].mean() < 0.5 * moved[-20:].mean()


def few_queries() -> Fold:
    """A split of the first 30 queries of the demo data: five teachers are quickly fitted to it."""
    return tk.query_folds(demo_data().select(np.arange(30)), 5, seed=0)[1]


@cache
def few_scores() -> Scores:
    """The teachers' scores of these queries, fitted once for all tests that compare with them."""
    return teacher_scores(few_queries())


def test_no_grade_of_a_test_query_influences_training_truth() -> None:
    """Other grades for all test queries of a split leave its training and validation truth as they were."""
    split = few_queries()
    turned = split.test.with_labels(split.test.y.max() - split.test.y, split.test.truth)
    scores, changed = few_scores(), teacher_scores(split._replace(test=turned))
    assert set(scores) == {qid for part in split for qid in part.qids}
    for part in (split.train, split.valid):
        assert np.array_equal(with_order(part, scores).y, with_order(part, changed).y)
    assert with_order(split.test, scores).truth.kind == "order"


@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_no_teacher_has_seen_the_grades_of_its_query(part: str) -> None:
    """Other grades for one query leave the teacher's scores of that query as they were."""
    split = few_queries()
    data: tk.Dataset = getattr(split, part)
    first = data.y.copy()
    first[: data.ptr[1]] = first.max() - first[: data.ptr[1]]
    changed = split._replace(**{part: data.with_labels(first, data.truth)})
    assert np.array_equal(few_scores()[data.qids[0]], teacher_scores(changed)[data.qids[0]])


def test_teachers_take_part_in_studies_split_by_split(tmp_path: Path) -> None:
    """The truth of a cell is that of its own split; seeds change the noise, not the teacher."""
    source = Source("demo", "demo", truth="teacher-3")
    split = tk.query_folds(demo_data(), 5, seed=0)[3]
    scores = teacher_scores(split)
    for seed in (0, 1):
        spec, files = describe(source, 4, tmp_path, seed)
        learned = load(spec, files).learn
        for part, expected in zip(learned, split, strict=True):
            assert np.array_equal(part.y, with_order(expected, scores, seed).top_k(3).y)


def fold() -> tuple[tk.Dataset, np.ndarray]:
    data = demo_data()
    order = data.as_order(seed=1)
    return data, relevance(data, order)


def test_two_assessors_agree_as_often_as_published() -> None:
    """The calibration is exact arithmetic; two simulated assessors who answer the same pairs confirm it."""
    data, values = fold()
    pairs = asked_pairs(data, values, 5)
    noise = calibrated(data, values, pairs, 0.897, 0.831)
    gaps = np.abs(values[pairs[:, 0]] - values[pairs[:, 1]])
    assert comparing_agreement(gaps, noise.comparing) == pytest.approx(0.897, abs=1e-6)

    def assessor(seed: int) -> tk.SimulatedAssessor:
        hidden = {str(row): float(value) for row, value in enumerate(values)}
        return tk.SimulatedAssessor(
            "a", hidden, error=error_of(noise.comparing), borders=noise.borders, blur=noise.grading, seed=seed
        )

    same = both = graded_same = graded_both = 0
    grades = ("bad", "fair", "good", "excellent", "perfect")
    for trial in range(4):
        one, two = assessor(2 * trial), assessor(2 * trial + 1)
        for a, b in pairs.tolist():
            question = Question(str(a), str(b))
            same += one.judge("q", question).answer == two.judge("q", question).answer
            both += 1
            first, second = (
                [grades.index(judge.judge("q", Question(str(row))).answer) for row in (a, b)]
                for judge in (one, two)
            )
            if first[0] != first[1] and second[0] != second[1]:
                graded_both += 1
                graded_same += (first[0] > first[1]) == (second[0] > second[1])
    assert same / both == pytest.approx(0.897, abs=0.015)
    assert graded_same / graded_both == pytest.approx(0.831, abs=0.03)


def test_error_rate_and_agreement_are_two_sides() -> None:
    for rate in (0.0, 0.05, 0.2, 0.5):
        assert error_rate((1 - rate) ** 2 + rate**2) == pytest.approx(rate)


def test_relevance_orders_as_the_full_order_does_within_the_grade() -> None:
    data, values = fold()
    assert np.array_equal(np.floor(values), data.y)
    order = data.as_order(seed=1)
    for _, rows in data:
        assert np.array_equal(np.argsort(values[rows]), np.argsort(order.y[rows]))


def test_labels_and_minutes_of_one_list() -> None:
    data, values = fold()
    noise = calibrated(data, values, asked_pairs(data, values, 3), 0.9, 0.9)
    exact = type(noise)(1e-9, 1e-9, borders_for(3))
    items, own = ["x", "y", "z"], [2.25, 0.2, 3.5]
    labels, minutes = labels_of(items, own, "graded", 3, exact, seed=0)
    assert labels.tolist() == [3, 0, 4]  # borders 0.5, 1, 2, 3
    assert minutes == pytest.approx(3 * 13.87 / 60)
    labels, minutes = labels_of(items, own, "select-best", 1, exact, seed=0)
    assert labels.tolist() == [0, 0, 1]
    assert minutes == pytest.approx(2 * 5.51 / 60)  # two comparisons find the best of three


@pytest.mark.slow
def test_the_study(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'kind = "budget"\nseeds = [0, 1]\n[[data]]\nname = "demo"\nfolds = [1, 2, 3, 4, 5]\n[settings]\n'
        'strategies = ["heap"]\nminutes = [1, 5, 20, 60]\nsweep = [0.7]\nsweep_strategies = ["heap"]\nk = 5'
    )
    finished = run_study(tmp_path / "s.toml", tmp_path / "out")
    results = finished.results
    queries = results.mean("queries", "strategy", "minutes")
    assert queries["graded", 5] == 1  # a list of 14 takes 14·13.87 s = 3.24 minutes
    assert queries["graded", 20] == 6
    assert queries["heap", 60] >= queries["heap", 20] > 0
    for cell, outcome in results:
        assert set(outcome.columns["metric"]) == {"queries", "kndcg@10", "ndcg@10"}
        assert cell.factors["agreement"] in (0.897, 0.7)
    shown = publish(finished)
    assert "minutes per query" in shown
    assert "  –  " in shown, "one minute is not enough for a judgment"
    assert "change places at" in shown


def test_a_random_order_within_grades_is_a_source_too(tmp_path: Path) -> None:
    """Assessors perceive the random order of the cell's seed, and κ-NDCG tests on the same order."""
    (tmp_path / "s.toml").write_text(
        'kind = "budget"\nseeds = [0, 3]\nmetrics = ["kndcg@10"]\n[[data]]\nname = "demo"\nfolds = [1]\n'
        'truth = "order"\n[settings]\nstrategies = ["heap"]\nminutes = [60]\nsweep = []\nk = 5'
    )
    cells = list(KINDS["budget"].code.cells(read_study(tmp_path / "s.toml")))
    split = tk.query_folds(demo_data(), 5, seed=0)[0]
    for cell in cells:
        data = load(cell.work.data, cell.files)
        assert np.array_equal(data.learn.train.y, split.train.as_order(cell.factors["seed"]).y)
    (tmp_path / "bad.toml").write_text('kind = "budget"\n[[data]]\nname = "demo"\ntruth = "top-3"')
    with pytest.raises(tk.InputError, match="no full order"):
        list(KINDS["budget"].code.cells(read_study(tmp_path / "bad.toml")))


def test_turning_points() -> None:
    assert turning_point([(5.0, 0.03), (15.0, -0.01)]) == "an error rate of 12.5 %"
    assert turning_point([(5.0, -0.03), (15.0, -0.05)]) == "less than 5.0 %"
    assert turning_point([(5.0, 0.03), (15.0, 0.01)]) == "more than 15.0 %"


def test_assessors_are_seeded() -> None:
    data, values = fold()
    noise = calibrated(data, values, asked_pairs(data, values, 3), 0.7, 0.7)
    items = [str(i) for i in range(14)]
    own = Random(0).sample(values.tolist(), 14)
    first, _ = labels_of(items, own, "heap", 5, noise, seed=1)
    again, _ = labels_of(items, own, "heap", 5, noise, seed=1)
    other, _ = labels_of(items, own, "heap", 5, noise, seed=2)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
