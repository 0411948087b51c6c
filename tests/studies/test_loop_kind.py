"""The loop study: judges, the published strategy, curves by hand, and the study on small data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.cli import topkit_here
from topkit.data import InputError
from topkit.data.truth import Truth
from topkit.labelling import Question
from topkit.loop import LabellingLoop, LoopSettings, load_loop
from topkit.studies.assessors import Noise, error_of, labels_of, relevance
from topkit.studies.demo_data import demo_data
from topkit.studies.kinds.loop_show import curves, reached, value_at
from topkit.studies.loop_runs import RelevanceJudge, loop_moments, published_moments, true_agreement
from topkit.studies.publish import publish
from topkit.studies.run import run_study


def test_a_judge_errs_as_often_as_its_noise_says_and_repeats_itself() -> None:
    documents = 200
    data = tk.Dataset.build(np.zeros((documents, 1)), np.zeros(documents), ["q"] * documents)
    values = np.tile([0.0, 1.0], documents // 2)
    names = data.names_of_documents()
    wrong = []
    for seed in range(20):
        judge = RelevanceJudge(data, values, 0.7, seed)
        for i in range(0, documents, 2):
            question = Question(names[i], names[i + 1])
            answer = judge.judge("q", question).answer
            assert answer == judge.judge("q", question).answer
            wrong.append(answer == "a")
    assert np.mean(wrong) == pytest.approx(error_of(0.7)(1.0), abs=0.03)


def test_true_agreement_is_the_mean_over_judges() -> None:
    data = demo_data().select(np.arange(6))
    values = relevance(data, data.as_order(seed=1))
    scores = np.random.default_rng(0).random(len(data))
    agreed = []
    for seed in range(30):
        judge = RelevanceJudge(data, values, 0.5, seed)
        names = data.names_of_documents()
        for qid, rows in data:
            pairs = [(i, j) for i in range(rows.start, rows.stop) for j in range(rows.start, i)]
            says = [judge.judge(qid, Question(names[i], names[j])).answer == "a" for i, j in pairs]
            agreed.append(
                np.mean([s == (scores[i] > scores[j]) for s, (i, j) in zip(says, pairs, strict=True)])
            )
    assert true_agreement(data, values, 0.5, scores) == pytest.approx(np.mean(agreed), abs=0.02)


def test_the_published_strategy_by_hand() -> None:
    data = demo_data()
    values = relevance(data, data.as_order(seed=1))
    noise = Noise(0.3, 0.3, (0.5, 1.0, 2.0, 3.0))
    template = tk.ranker("ranksvm")
    (moment,) = published_moments(data, values, noise, template, 5, 3, [10.0])
    order = np.random.default_rng(3).permutation(data.n_queries)
    names, spent, labels = data.names_of_documents(), 0.0, []
    for query in order.tolist():
        rows = slice(int(data.ptr[query]), int(data.ptr[query + 1]))
        latest, cost = labels_of(
            names[rows].tolist(), values[rows].tolist(), "heap", 5, noise, 300_000 + query
        )
        if spent + cost > 10.0:
            break
        spent += cost
        labels.append(latest)
    train = data.select(order[: len(labels)]).with_labels(np.concatenate(labels), Truth("top-k", 5))
    assert moment.queries == len(labels) > 1
    assert moment.fitted is not None
    expected = tk.ranker("ranksvm").fit(train).score(data)
    assert np.array_equal(moment.fitted.score(data), expected)


def test_moments_of_a_loop_are_its_past() -> None:
    data = demo_data()
    values = relevance(data, data.as_order(seed=1))
    judge = RelevanceJudge(data, values, 0.3, 0)
    loop = LabellingLoop(data, judge, budget=8, settings=LoopSettings(batch=4))
    moments = list(loop_moments(loop, [2.0, 6.0, 50.0]))
    finished = loop.run()
    assert [moment.minutes for moment in moments] == [2.0, 6.0, 50.0]
    assert moments[0].loop is not None
    assert moments[-1].loop == finished
    assert moments[0].loop.events == finished.events[: len(moments[0].loop.events)]
    assert moments[0].loop.minutes <= 2.0 < moments[0].loop.step().minutes
    assert moments[0].queries < moments[1].queries <= moments[2].queries


def test_minutes_needed() -> None:
    curve = {10: 0.50, 20: 0.60, 30: 0.58, 40: 0.70}
    assert reached(curve, 0.55) == pytest.approx(15.0)
    assert reached(curve, 0.65) == pytest.approx(30 + 10 * 0.07 / 0.12)
    assert reached(curve, 0.40) == 10.0
    assert reached(curve, 0.90) == 40.0
    assert value_at(curve, 35) == 0.58
    assert value_at(curve, 5) == 0.50


@pytest.mark.slow
def test_the_study(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'kind = "loop"\nseeds = [0, 1]\n[[data]]\nname = "demo"\nfolds = [1]\ntruth = "order"\n[settings]\n'
        'errors = [0.05]\nminutes = 90\npublished_minutes = 60\nplans = ["loop", "depth alone"]\nk = 5'
    )
    finished = run_study(tmp_path / "s.toml", tmp_path / "out")
    results = finished.results
    by_seed = curves(results.where(plan="loop"), "ndcg@10")
    assert sorted(by_seed) == [0, 1]
    assert sorted(by_seed[0]) == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert sorted(curves(results.where(plan="published"), "ndcg@10")[0]) == [20, 40, 60]
    facts = [outcome.facts for cell, outcome in results if cell.factors["plan"] == "loop"]
    for fact in facts:
        assert 0 <= fact["estimate"][1] <= fact["estimate"][0] <= fact["estimate"][2] <= 1
        assert 0 < fact["truth"] < 1
        assert fact["gain"][1] <= fact["gain"][0] <= fact["gain"][2]
    shown = publish(finished)
    assert "depth alone, 5% errors" in shown
    assert "The interval contains the true value in" in shown


def test_a_full_order_is_needed(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('kind = "loop"\n[[data]]\nname = "demo"\ntruth = "labels"\n')
    with pytest.raises(InputError, match=r"has no full order; set its truth = \"teacher\" or"):
        run_study(tmp_path / "s.toml", tmp_path / "out")


# -- topkit label plan --------------------------------------------------------------------------------------
def test_a_plan_says_what_to_label_and_what_to_expect(tmp_path: Path) -> None:
    data = tmp_path / "train.txt"
    tk.write_letor(demo_data(), data)
    words = ["label", "plan", data, "--minutes", "20", "--simulations", "2", "--out", tmp_path / "loop.jsonl"]
    result = topkit_here(*words, "--set", "batch=3")
    assert result.returncode == 0, result.stderr
    first, expected = result.stdout.split("What to expect")
    assert first.startswith("What to label first")
    assert first.count(" train ") == 3
    rows = [line.split() for line in expected.splitlines() if line.startswith(("loop", "published"))]
    assert [row[0] for row in rows] == ["loop"] * 4 + ["published"] * 4
    assert float(rows[3][1]) == 20.0
    loop = load_loop(tmp_path / "loop.jsonl", tk.read_letor(data))
    assert loop.question is not None
    assert loop.question.query == first.splitlines()[2].split()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "choos=random"], "the loop has no setting 'choos'; did you mean 'choose'?"),
        (["--minutes", "0"], "the budget must be a positive number of minutes, got 0.0"),
        (["--ranker", "svmrank"], "unknown ranker 'svmrank'"),
        ([], "the data has no grades, so what to expect cannot be simulated"),
    ],
)
def test_plans_that_cannot_be_made(tmp_path: Path, words: list[str], message: str) -> None:
    data = tmp_path / "flat.txt"
    demo = demo_data()
    tk.write_letor(demo.with_labels(np.zeros(len(demo)), demo.truth), data)
    result = topkit_here("label", "plan", data, *words)
    assert result.returncode != 0
    assert message in result.stderr
    assert "Traceback" not in result.stderr
