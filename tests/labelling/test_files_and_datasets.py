"""Judgments in files, whole data sets labelled, the simulated study, real preferences, and clean start-up."""

from __future__ import annotations

import csv
import doctest
import importlib
import pkgutil
import subprocess
import sys
from collections import Counter
from itertools import combinations
from math import isnan
from pathlib import Path

import numpy as np
import pytest

import topkit as tk
import topkit.labelling
from topkit.data import Grade, InputError, Judgments, Preference, Run
from topkit.labelling import (
    SimulatedAssessor,
    label_dataset,
    read_grades_csv,
    read_preferences_csv,
    write_judgments_csv,
)
from topkit.labelling.agreement import agreement, intransitive, pairs_by_grades, pairs_judged, timing
from topkit.labelling.simulate import Scenario, prior_ranking, simulate
from topkit.labelling.study import cyclic_assignment, simulated_study

MUSIC = {
    "query": "Input.query",
    "a": "Input.docA",
    "b": "Input.docB",
    "answer": "Answer.radio",
    "assessor": "WorkerId",
    "seconds": "WorkTimeInSeconds",
}


def test_files_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "prefs.csv"
    given = Judgments(
        preferences=(
            Preference("q, 1", 'say "x"', "y", "bad-b", "ann", 2.5),
            Preference("q2", "x", "y", "tie"),
        )
    )
    write_judgments_csv(given, path)
    found, empty = read_preferences_csv(path)
    assert empty == 0
    assert found.preferences[0] == given.preferences[0]
    assert found.preferences[1][:5] == given.preferences[1][:5]
    assert isnan(found.preferences[1].seconds)
    graded = Judgments(grades=(Grade("q", "x", 3.0, "bob", 12.0),))
    write_judgments_csv(graded, path)
    assert read_grades_csv(path).grades[0][:5] == graded.grades[0][:5]
    with pytest.raises(InputError, match="not both"):
        write_judgments_csv(Judgments(graded.grades, given.preferences), path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,a,b\nq,x,y\n", r"prefs.csv:1: the column 'answer' is missing.*'query', 'a', 'b'"),
        ("query,a,b,answer\nq,x,y,left\n", r"prefs.csv:2: invalid answer 'left'"),
        ("query,a,b,answer\nq,x,x,a\n", r"prefs.csv:2: document 'x' is compared with itself"),
        ("query,a,b,answer,seconds\nq,x,y,a,soon\n", r"prefs.csv:2: seconds must be a number, got 'soon'"),
        ("query,a,b,answer\nq,x,y,\n", "has no preferences"),
        ('query,a,b,answer\n"q,x,y,a\n', "never closed"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prefs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_preferences_csv(path)


def test_own_names_of_columns_and_answers(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("topic,left,right,choice\n7,x,y,same\n7,x,z,L\n7,y,z,\n")
    columns = {"query": "topic", "a": "left", "b": "right", "answer": "choice"}
    found, empty = read_preferences_csv(path, columns, {"same": "tie", "L": "a"})
    assert [p.answer for p in found.preferences] == ["tie", "a"]
    assert empty == 1


def test_a_data_set_is_labelled_by_a_judge(ragged: tk.Dataset) -> None:
    names = ragged.names_of_documents().tolist()
    relevance = {name: float((i * 7) % 25) for i, name in enumerate(names)}
    labelled, judgments = label_dataset(ragged, SimulatedAssessor("ann", relevance), k=3, seed=5)
    assert labelled.truth == tk.Truth("top-k", 3)
    for _, rows in ragged:
        values = np.array([relevance[name] for name in names[rows]])
        k = min(3, len(values))
        expected = np.zeros(len(values))
        expected[np.argsort(-values)[:k]] = np.arange(k, 0, -1)
        np.testing.assert_array_equal(labelled.y[rows], expected)
    assert {p.assessor for p in judgments.preferences} == {"ann"}
    assert judgments.queries == ragged.qids[1:]  # one document needs no question


def test_ties_of_a_judge_are_ties_of_the_training_truth(ragged: tk.Dataset, tmp_path: Path) -> None:
    names = ragged.names_of_documents().tolist()
    relevance = {name: float(i % 4) for i, name in enumerate(names)}
    judge = SimulatedAssessor("ann", relevance, tie_band=0.5)
    labelled, _ = label_dataset(ragged, judge, k=3)
    for _, rows in labelled:
        values = np.array([relevance[name] for name in names[rows]])
        place = 1 + (values[None, :] > values[:, None]).sum(1)  # documents that tie share the best place
        np.testing.assert_array_equal(labelled.y[rows], np.maximum(min(3, len(values)) + 1 - place, 0))
    labelled.to_letor(tmp_path / "top.txt")
    assert (tk.read_letor(tmp_path / "top.txt", truth="top-3").y == labelled.y).all()
    # within a tie, no order is better than another
    by_relevance = np.array([relevance[name] for name in names])
    shuffled = by_relevance + np.random.default_rng(0).uniform(0, 0.5, len(names))
    for scores in (by_relevance, shuffled, by_relevance - shuffled % 1):
        found = tk.evaluate(labelled, scores, ["kndcg@3", "loss01", "wkt"])
        assert found.mean["kndcg@3"] == pytest.approx(1.0)
        assert found.mean["loss01"] == 0.0
        assert found.mean["wkt"] == 0.0
    untied = labelled.top_k(3, seed=1, break_ties=True)
    assert tk.evaluate(untied, by_relevance, ["kndcg@3"]).mean["kndcg@3"] < 1.0


def test_a_prior_run_saves_judgments(ragged: tk.Dataset) -> None:
    names = ragged.names_of_documents().tolist()
    relevance = {name: float((i * 7) % 25) for i, name in enumerate(names)}
    judge = SimulatedAssessor("ann", relevance)
    prior = Run.of({qid: [(name, relevance[name]) for name in names[rows]] for qid, rows in ragged})
    done: list[str] = []
    _, with_prior = label_dataset(ragged, judge, k=2, prior=prior, on_query=done.append)
    _, without = label_dataset(ragged, judge, k=2)
    assert len(with_prior.preferences) < len(without.preferences)
    assert done == list(ragged.qids)


def test_the_assignment_is_the_papers() -> None:
    tasks = list(cyclic_assignment(50))
    for assessor in range(5):
        mine = [task for task in tasks if task.assessor == assessor]
        tools = {task.query: task.tool for task in mine}
        assert len(tools) == len(mine)  # no query in both tools, none twice
        assert set(tools.values()) == {"preferences", "grades"}
    for tool in ("preferences", "grades"):
        judged = Counter(task.query for task in tasks if task.tool == tool)
        assert set(judged.values()) == {2}
        assert len(judged) == 50
    first_round = list(cyclic_assignment(50, rounds=1))
    assert [t.query % 5 for t in first_round if t.assessor == 4 and t.tool == "grades"] == [0] * 10


def test_the_simulated_study_has_all_three_tables() -> None:
    judged = simulated_study(queries=10, documents=12, k=4, seed=2)
    assert timing(judged.preferences).seconds == pytest.approx(5.5, rel=0.15)
    assert timing(judged.grades).judgments_per_query == 12
    for pairs in (pairs_judged(judged.preferences), pairs_by_grades(judged.grades)):
        table = agreement(pairs)
        np.testing.assert_allclose(table.rows.sum(1), 1.0)
        assert 0.4 < table.overall < 1.0
    again = simulated_study(queries=10, documents=12, k=4, seed=2)
    assert again == judged


def test_simulations_refuse_what_they_cannot_do() -> None:
    with pytest.raises(InputError, match="does not ask pairs"):
        list(simulate([Scenario("graded", 5, 2)], 1))
    from random import Random

    with pytest.raises(InputError, match="tau must be from 0"):
        prior_ranking([0, 1], 1.0, Random(1))


@pytest.mark.real_data
def test_music_preferences(real_data: Path) -> None:
    path = real_data / "music-prefs" / "judgments.csv"
    found, empty = read_preferences_csv(path, MUSIC, {"s": "tie"})
    # the csv module and a Counter over Answer.radio: 577 a, 823 b, 1405 s, 5 empty; 281 pairs, 79 workers
    assert Counter(p.answer for p in found.preferences) == {"a": 577, "b": 823, "tie": 1405}
    assert empty == 5
    pairs = pairs_judged(found.preferences)
    assert len(pairs) == 281
    assert len({p.assessor for p in found.preferences}) == 79
    table = agreement(pairs)
    # 2805 answers to 281 pairs, ten each but for five empty ones: 276·45 + 5·36 pairs of workers
    assert table.agreed + table.disagreed == 276 * 45 + 5 * 36
    same = different = 0
    with path.open(newline="", encoding="utf-8", errors="replace") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Answer.radio"]]
    for one, other in combinations(rows, 2):
        if all(one[c] == other[c] for c in ("Input.query", "Input.docA", "Input.docB")):
            same += one["Answer.radio"] == other["Answer.radio"]
            different += one["Answer.radio"] != other["Answer.radio"]
    assert (table.agreed, table.disagreed) == (same, different)
    times = timing(found.preferences)
    assert times.median_seconds == 21.0
    triads = intransitive(found.preferences)
    assert 0 < triads.circles < triads.violations < triads.complete


def modules() -> list[str]:
    return [m.name for m in pkgutil.walk_packages(topkit.labelling.__path__, "topkit.labelling.")]


@pytest.mark.parametrize("name", modules())
def test_examples_in_the_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_the_web_can_use_the_room_without_numba() -> None:
    code = (
        "import sys; from topkit.labelling import Labelling; lab = Labelling(list('abcdef'), 2)\n"
        "while lab.question: lab = lab.answer('a')\n"
        "assert lab.result\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'pyarrow', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
