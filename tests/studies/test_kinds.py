"""Every kind of study on small data, against arithmetic and against the same thing done by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from topkit.data import InputError
from topkit.studies.cell import Cell, Outcome
from topkit.studies.demo_data import demo_data
from topkit.studies.kinds import KINDS
from topkit.studies.kinds.learning_curve import query_order
from topkit.studies.publish import publish
from topkit.studies.results import Results
from topkit.studies.run import run_study
from topkit.studies.study_file import parse_study

DATA = '\n[[data]]\nname = "demo"\nfolds = [1, 2]\n'


def run(text: str, tmp_path: Path) -> tuple[Results, str]:
    file = tmp_path / "study.toml"
    file.write_text(text)
    finished = run_study(file, tmp_path / "out")
    shown = publish(finished)
    assert (tmp_path / "out" / "report.html").read_text().count("<svg") >= 1
    return finished.results, shown


def by_hand(name: str, fold: int, **settings: object) -> float:
    part = tk.query_folds(demo_data(), 5, seed=0)[fold - 1]
    model = tk.ranker(name, **settings).fit(part.train, part.valid)
    return tk.evaluate(part.test, model.score(part.test), "ndcg@10").mean["ndcg@10"]


def test_beta(tmp_path: Path) -> None:
    text = 'kind = "beta"\nrankers = [{ ranker = "focusednet", set = { l2 = 0.01 } }]\n'
    text += 'metrics = ["ndcg@10", "kndcg@10"]\n'
    results, shown = run(text + "[settings]\nbetas = [0.0, 0.4, 1.0]" + DATA, tmp_path)
    for beta in (0.0, 0.4, 1.0):
        found = results.where(fold=2).mean("ndcg@10", "beta")[(beta,)]
        assert found == pytest.approx(by_hand("focusednet", 2, beta=beta, l2=0.01), abs=1e-12)
    assert "between the ends" in shown


def test_beta_needs_a_ranker_with_beta(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'listnet' has no setting beta"):
        run('kind = "beta"\nrankers = ["listnet"]' + DATA, tmp_path)


def test_k(tmp_path: Path) -> None:
    text = 'kind = "k"\nrankers = ["ranksvm", { ranker = "topk-listmle", set = { l2 = 0.01 } }]\n'
    results, shown = run(text + "[settings]\nks = [1, 3, 0]" + DATA, tmp_path)
    part = tk.query_folds(demo_data(), 5, seed=0)[0]
    for k in (1, 3):  # a ranker without a k learns it from the labels, one with a k is given it
        for name, settings in (("ranksvm", {}), ("topk-listmle", {"k": k, "l2": 0.01})):
            model = tk.ranker(name, metric="kndcg@10", **settings)
            model.fit(part.train.top_k(k), part.valid.top_k(10))
            expected = tk.evaluate(part.test, model.score(part.test), "ndcg@10").mean["ndcg@10"]
            found = results.where(fold=1, ranker=name, k=k).mean("ndcg@10")[()]
            assert found == pytest.approx(expected, abs=1e-12)
    assert "all" in shown.splitlines()[0]


def test_k_on_the_full_order(tmp_path: Path) -> None:
    """The paper's measures: NDCG of the full order and weighted Kendall's τ, beside κ-NDCG."""
    text = (
        'kind = "k"\nrankers = [{ ranker = "topk-listmle", set = { l2 = 0.01 } }]\n[settings]\nks = [2, 0]\n'
    )
    results, shown = run(text + 'on_full_order = ["ndcg@3", "nwkt@3"]' + DATA + 'truth = "order"\n', tmp_path)
    part = tk.query_folds(demo_data(), 5, seed=0)[1]
    order = part.test.as_order(seed=0)
    model = tk.ranker("topk-listmle", k=2, l2=0.01, metric="kndcg@10")
    model.fit(part.train.as_order(seed=0).top_k(2), part.valid.as_order(seed=0).top_k(10))
    expected = tk.evaluate(order, model.score(order), ["ndcg@3", "nwkt@3"]).mean
    for name in ("ndcg@3", "nwkt@3"):
        found = results.where(fold=2, k=2).mean(f"full-order {name}")[()]
        assert found == pytest.approx(expected[name], abs=1e-12)
        assert f"full-order {name}" in shown
    assert results.where(fold=2, k=2).mean("kndcg@10")[()] == pytest.approx(
        tk.evaluate(order.top_k(10), model.score(order), "kndcg@10").mean["kndcg@10"], abs=1e-12
    )


def test_focused(tmp_path: Path) -> None:
    text = (
        'kind = "focused"\nrankers = ["listnet", "ranknet", { ranker = "focusednet", name = "F", '
        'set = { l2 = 0.01, k = 3 } }]\nmetrics = ["ndcg@1..2", "kndcg@2", "kerr"]\nchoose = "ndcg@2"\n'
        'seeds = [0, 4]\n[[data]]\nname = "graded"\nfolds = [1, 2]\n'
        '[[data]]\nname = "ordered"\nfolds = [1, 2]\ntruth = "top-3"\n'
    )
    (tmp_path / "study.toml").write_text(text)
    finished = run_study(tmp_path / "study.toml", tmp_path / "out")
    results, shown = finished.results, publish(finished)
    # from grades, only the ranker that draws an order is fitted with every seed: 2 · (2 + 2) + 2 · 2 · 3
    assert len(results.cells) == 20
    part = tk.query_folds(demo_data(), 5, seed=0)[1]
    for seed in (0, 4):
        train, valid, test = (piece.top_k(3, seed) for piece in part)
        model = tk.ranker("focusednet", k=3, l2=0.01, metric="kndcg@2", seed=seed).fit(train, valid)
        expected = tk.evaluate(test, model.score(test), ["kndcg@2", "kerr"]).mean
        cell = results.where(data="ordered", ranker="F", fold=2, seed=seed)
        assert cell.mean("kerr")[()] == pytest.approx(expected["kerr"], abs=1e-12)
        assert set(cell.outcomes[0].columns["metric"]) == {"kndcg@2", "kerr"}
        model = tk.ranker("focusednet", k=3, l2=0.01, metric="ndcg@2", seed=seed).fit(part.train, part.valid)
        expected = tk.evaluate(part.test, model.score(part.test), ["ndcg@1"]).mean
        found = results.where(data="graded", ranker="F", fold=2, seed=seed).mean("ndcg@1")[()]
        assert found == pytest.approx(expected["ndcg@1"], abs=1e-12)
    assert "F − listnet" in shown
    assert "Holm correction for 2 comparisons per measure" in shown
    with pytest.raises(InputError, match="no measure suits the truth 'top-3'"):
        run('kind = "focused"\nmetrics = ["ndcg@5"]\n[[data]]\nname = "d"\ntruth = "top-3"\n', tmp_path)


def test_differences_to_parents_are_corrected_together() -> None:
    """Two comparisons per measure, p by the paired t-test of each, times 2 and 1 by Holm."""
    from scipy.stats import ttest_rel

    from topkit.studies.kinds.focused import differences

    rng = np.random.default_rng(0)
    focused = rng.normal(size=30)
    values = {
        "focusednet": focused,
        "listnet": focused - 0.5 + np.tile([1.0, -1.0], 15),  # t = 0.5/(1.017/√30) = 2.69, p = 0.012
        "ranknet": focused - 0.37 + np.tile([1.0, -1.0], 15),  # t = 1.99, p = 0.056
    }
    columns: dict[str, list[Any]] = {"query": [f"q{i}" for i in range(30)], "metric": ["ndcg@1"] * 30}
    done = [
        (Cell("focused", {"ranker": name}, None), Outcome({**columns, "value": each.tolist()}))
        for name, each in values.items()
    ]
    results = Results(tuple(cell for cell, _ in done), tuple(outcome for _, outcome in done))
    evaluations = results.evaluations(["ndcg@1"], "yahoo", "ranker")
    study = parse_study('kind = "focused"\nrankers = ["listnet", "ranknet", "focusednet"]')
    pairs = [("focusednet", "listnet"), ("focusednet", "ranknet")]
    table = differences(study, "d", evaluations, ("ndcg@1",), pairs)
    p = [ttest_rel(focused, values[parent]).pvalue for _, parent in pairs]
    assert p == pytest.approx([0.012, 0.056], abs=0.002)  # after Holm 0.024 and 0.056
    assert table.marks == {("focusednet − listnet", "ndcg@1"): "▲"}
    assert table.rows[0][1][0] == pytest.approx((focused - values["listnet"]).mean())


def test_learning_curve(tmp_path: Path) -> None:
    text = 'kind = "learning-curve"\nrankers = [{ ranker = "listnet", set = { l2 = 0.01 } }]\n'
    text += 'metrics = ["ndcg@10"]\n'
    results, _ = run(text + "[settings]\nshares = [0.3, 1.0]" + DATA, tmp_path)
    means = results.where(fold=1).mean("ndcg@10", "order", "share")
    whole = by_hand("listnet", 1, l2=0.01)
    for order in ("random", "best-first", "worst-first"):  # with all queries the order cannot matter
        assert means[order, 1.0] == pytest.approx(whole, abs=1e-12)
    assert len({means[order, 0.3] for order in ("random", "best-first", "worst-first")}) > 1


def test_the_best_feature_decides_which_queries_are_easy() -> None:
    assert KINDS["learning-curve"].code.settings().judge == "bestfeature"


def test_the_three_orders_of_queries() -> None:
    train = tk.query_folds(demo_data(), 5, seed=0)[0].train
    fitted = tk.ranker("listnet").fit(train)
    quality = tk.evaluate(train, fitted.score(train), "ndcg@10").per_query["ndcg@10"]
    best = query_order(train, "best-first", "listnet", "ndcg@10", "yahoo", seed=3)
    worst = query_order(train, "worst-first", "listnet", "ndcg@10", "yahoo", seed=3)
    chance = query_order(train, "random", "listnet", "ndcg@10", "yahoo", seed=3)
    assert (np.diff(quality[best]) <= 0).all()
    assert (np.diff(quality[worst]) >= 0).all()
    for order in (best, worst, chance):
        assert sorted(order) == list(range(train.n_queries))
    assert not np.array_equal(chance, query_order(train, "random", "listnet", "ndcg@10", "yahoo", seed=4))


def test_grades(tmp_path: Path) -> None:
    text = 'kind = "grades"\n[settings]\nscorers = ["linear"]'
    results, shown = run(text + DATA, tmp_path)
    means = results.where(fold=1).mean("ndcg@10", "target")
    for target, loss in (("plain", "squared-gain"), ("normalised", "squared-ndcg")):
        assert means[(target,)] == pytest.approx(by_hand("gradient", 1, loss=loss), abs=1e-12)
    assert "of 2 fits" in shown


def test_sigma(tmp_path: Path) -> None:
    text = 'kind = "sigma"\nrankers = ["perceptron"]\nmetrics = ["ndcg@10"]\n[settings]\nsigmas = [2.0]'
    results, shown = run(text + DATA, tmp_path)
    means = results.where(fold=1).mean("ndcg@10", "sigma")
    assert means[(0.0,)] == pytest.approx(by_hand("perceptron", 1), abs=1e-12)
    assert means[(2.0,)] == pytest.approx(by_hand("sigmoid", 1, base="perceptron", steepness=2.0), abs=1e-12)
    assert "in the wrong order" in shown
    with pytest.raises(InputError, match="without settings"):
        run('kind = "sigma"\nrankers = [{ ranker = "perceptron", set = { passes = 9 } }]' + DATA, tmp_path)


def test_labelling(tmp_path: Path) -> None:
    text = 'kind = "labelling"\n[settings]\nstrategies = ["select-best", "heap"]\nlengths = [12]\nk = 1\n'
    results, shown = run(text + "orders = 5\nerrors = [0.0, 0.1]", tmp_path)
    asked = results.mean("judgments", "strategy", "error")
    assert asked["select-best", 0.0] == asked["heap", 0.0] == 11  # the best of 12 takes eleven comparisons
    assert results.mean("found", "strategy", "error")["heap", 0.0] == 1.0
    assert "lower bound 11.0" in shown


def test_fusion(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for number in range(4):
        lines = [
            f"q{q} Q0 d{d} {place} {9 - place} run{number}"
            for q in range(3)
            for place, d in enumerate(rng.permutation(8))
        ]
        (tmp_path / f"{number}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{q} 0 d{d} {int(d < 3)}\n" for q in range(3) for d in range(8))
    )
    text = 'kind = "fusion"\nmetrics = ["map"]\n[settings]\nruns = "*.run"\nqrels = "qrels.txt"\n'
    results, shown = run(text + 'methods = ["borda", "rrf"]\nlevels = [0, 2]\ndraws = 2', tmp_path)
    runs = [tk.read_run(tmp_path / f"{number}.run") for number in range(4)]
    expected = tk.evaluate_run(
        tk.read_qrels(tmp_path / "qrels.txt"), tk.aggregate(runs, "rrf"), "map", "trec"
    )
    found = results.where(random=0).mean("map", "method")[("rrf",)]
    assert found == pytest.approx(expected.mean["map"], abs=1e-12)
    assert len(results.cells) == 2 + 2 * 2
    assert "convention trec" in shown


def test_compare_tries_values_and_draws_settings(tmp_path: Path) -> None:
    text = (
        'kind = "compare"\nrankers = ["bestfeature", { ranker = "focusednet", name = "tried", '
        'try = { beta = [0.1, 0.9] } }, { ranker = "perceptron", trials = 2 }]\n[settings]\nimportance = true'
    )
    results, shown = run(text + DATA, tmp_path)
    part = tk.query_folds(demo_data(), 5, seed=0)[0]
    fitted = {beta: tk.ranker("focusednet", beta=beta).fit(part.train, part.valid) for beta in (0.1, 0.9)}
    best = max(fitted, key=lambda beta: (fitted[beta].measure_on(part.valid), -beta))
    (outcome,) = results.where(fold=1, ranker="tried").outcomes
    assert outcome.facts["chosen"] == {"beta": best}
    assert set(outcome.facts["importance"]) == {str(i + 1) for i in range(8)}
    assert "tried" in shown


def test_means_and_intervals_by_hand() -> None:
    def cell(seed: int, values: list[float]) -> tuple[Cell[None], Outcome]:
        columns: dict[str, list[Any]] = {"query": ["a", "b"], "metric": ["map", "map"], "value": values}
        return Cell("compare", {"ranker": "x", "seed": seed}, None), Outcome(columns)

    done = [cell(0, [0.0, 0.2]), cell(1, [0.4, 0.6])]
    results = Results(tuple(cell for cell, _ in done), tuple(outcome for _, outcome in done))
    assert results.gather("map", "ranker") == {("x",): pytest.approx({"a": 0.2, "b": 0.4})}
    # means 0.1 and 0.5: 0.3 ± t(0.975, 1)·s/√2 with s = 0.2·√2, so ± 12.7062·0.2
    mean, low, high = results.interval("map", "ranker")[("x",)]
    assert (mean, low, high) == pytest.approx((0.3, 0.3 - 2.54124, 0.3 + 2.54124), abs=1e-5)


def test_every_kind_says_what_it_is() -> None:
    for kind in KINDS.values():
        assert kind.summary
        assert not kind.summary.endswith(".")
