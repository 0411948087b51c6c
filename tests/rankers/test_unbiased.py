"""Unbiased learning from click logs: every loss and scorer, estimators by hand, and less bias than naive."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import topkit as tk
from topkit.clicks import ClickLog, Propensities
from topkit.clicks.relevance import Sums, relevance
from topkit.data import InputError
from topkit.losses import LOSSES, loss
from topkit.rankers.unbiased import ESTIMATORS, UnbiasedClicks, click_labels
from topkit.rankers.unbiased.dual import dual_propensities
from topkit.rankers.unbiased.lists import clicked_lists, pair_lists
from topkit.rankers.unbiased.pairwise import DebiasedPairs

FEW = {"max_steps": 20, "epochs": 2, "trees": 5}


def linear_data(queries: int = 60, seed: int = 0) -> tk.Dataset:
    """Grades by the first feature; the second is what a poor ranker sorts by."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((queries * 8, 3))
    grades = np.digitize(X[:, 0] - 0.3 * X[:, 1], (0.3, 1.0))
    names = [f"d{i}" for i in range(len(X))]
    return tk.Dataset.build(X, grades, np.repeat(np.arange(queries), 8).tolist(), doc_ids=names)


@lru_cache(maxsize=1)
def biased() -> tuple[tk.Dataset, ClickLog]:
    data = linear_data()
    return data, tk.simulate_clicks(data, data.X[:, 1], 20_000, length=6, spread=0.4, seed=1)


def ndcg(ranker: tk.rankers.Learner) -> float:
    test = linear_data(seed=9)
    return tk.evaluate(test, ranker.ordering_scores(test), "ndcg@5").mean["ndcg@5"]


# a was shown 4 times at 1 with 2 clicks and once at 2 with 1 click; b 5 times at 2 with 1 click; c never
PAGES = [
    *[tk.Page("q", ("a", "b"), (i < 2, i == 3)) for i in range(4)],
    tk.Page("q", ("x", "a"), (False, True)),
    tk.Page("q", ("x", "b"), (False, False)),
]
DATA = tk.Dataset.build([[1.0], [2.0], [3.0]], [0, 0, 0], ["q"] * 3, doc_ids=["a", "b", "c"])


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        ("naive", [3 / 5, 1 / 5, 4 / 12]),
        ("ips", [(2 + 1 / 0.5) / 5, (1 / 0.5) / 5, 0.0]),
        ("snips", [3 / 4.5, 1 / 2.5, 4 / 9]),  # all: 4 clicks, exposure 4 + .5 + 5·.5 + 2·1 = 9
    ],
)
def test_relevance_by_hand(estimator: str, expected: list[float]) -> None:
    clicks = UnbiasedClicks(ClickLog.of_pages(PAGES), Propensities([1.0, 0.5]), estimator, smoothing=0)
    labels = click_labels(DATA, clicks).y
    if estimator in ("naive", "snips"):  # the average is over the documents of the data: without x
        total = {"naive": 4 / 10, "snips": 4 / 7}[estimator]
        expected = [*expected[:2], total]
    assert labels.tolist() == pytest.approx(expected)


def test_the_doubly_robust_estimate_is_right_if_the_model_or_the_exposure_is() -> None:
    log = ClickLog.of_pages(PAGES)
    sums = Sums.of(log, Propensities([1.0, 0.5]), 0.05)
    truth = relevance(sums, "snips")
    # the clicks are exactly those of a relevance of 2/3, 2/5 and 0: a right model stays
    assert relevance(sums, "dr", 3.0, truth) == pytest.approx(truth)
    # a wrong model is drawn to the clicks by the exposure: m + (Σc − Σθ·m)/(Σθ + κ)
    wrong = np.full(3, 0.1)
    expected = 0.1 + (sums.clicks - sums.exposure * 0.1) / (sums.exposure + 3.0)
    assert relevance(sums, "dr", 3.0, wrong) == pytest.approx(expected)
    with pytest.raises(ValueError, match="model"):
        relevance(sums, "dr")


def test_trust_offsets_are_subtracted() -> None:
    log = ClickLog.of_pages(PAGES)
    sums = Sums.of(log, Propensities([1.0, 0.5], [0.0, 0.1]), 0.05)
    assert sums.corrected[0] == pytest.approx(3 - 0.1)
    assert sums.weighted[0] == pytest.approx(2 + 0.9 / 0.5)


def test_lists_by_hand() -> None:
    ptr = np.array([0, 3, 5])
    weights = np.array([2.0, 0.0, 1.0, 0.0, 3.0])
    objective = clicked_lists(loss("logistic"), ptr, weights, total=6.0)
    s = np.array([0.5, -0.2, 0.1, 1.0, 0.3])

    def above(u: int, others: list[int]) -> float:
        return float(sum(np.log1p(np.exp(s[v] - s[u])) for v in others))

    expected = 2 * above(0, [1, 2]) + 1 * above(2, [0, 1]) + 3 * above(4, [3])
    assert objective(s)[0] == pytest.approx(expected)
    part = objective.select(np.array([1, 0]))
    again, gradient = part(s[[3, 4, 0, 1, 2]])
    assert again == pytest.approx(expected)
    assert gradient == pytest.approx(objective(s)[1][[3, 4, 0, 1, 2]])
    only = objective.select(np.array([1]))
    assert only(s[3:])[0] == pytest.approx(3 * above(4, [3]))
    assert len(only) == 2


@pytest.mark.parametrize("name", ["listnet", "logistic", "squared-error", "topk-listmle", "focused"])
def test_gradients_of_lists_by_finite_differences(name: str) -> None:
    rng = np.random.default_rng(3)
    ptr = np.array([0, 4, 9])
    objective = clicked_lists(loss(name), ptr, rng.uniform(0, 2, 9), total=2.0)
    s = rng.standard_normal(9)
    _, gradient = objective(s)
    for i in range(9):
        step = np.zeros(9)
        step[i] = 1e-6
        slope = (objective(s + step)[0] - objective(s - step)[0]) / 2e-6
        assert gradient[i] == pytest.approx(slope, abs=2e-5)
    value, same, curvature = objective.with_curvature(s)
    assert value == pytest.approx(objective(s)[0])
    assert same == pytest.approx(gradient)
    assert curvature.shape == (9,)


def test_pairs_of_two_are_logistic() -> None:
    ptr = np.array([0, 2, 4])
    objective = pair_lists(
        loss("logistic"), ptr, np.array([3, 0]), np.array([2, 1]), np.array([1.0, 2.0]), total=3.0
    )
    s = np.array([0.2, 0.7, -0.1, 0.4])
    expected = 2 * np.log1p(np.exp(0.5)) + np.log1p(np.exp(-0.5))
    assert objective(s)[0] == pytest.approx(expected)
    assert objective.select(np.array([1]))(s[2:])[0] == pytest.approx(np.log1p(np.exp(-0.5)))


def test_clicked_and_skipped_pairs_are_counted() -> None:
    pairs = DebiasedPairs.of(ClickLog.of_pages(PAGES), DATA)
    # pages 1 and 2: a clicked at 1, b skipped at 2; page 4: b clicked at 2, a skipped at 1; x is unknown
    table = {
        (int(u), int(v), int(i), int(j)): float(n)
        for u, v, i, j, n in zip(
            pairs.better, pairs.worse, pairs.clicked_at, pairs.skipped_at, pairs.count, strict=True
        )
    }
    assert table == {(0, 1, 0, 1): 2.0, (1, 0, 1, 0): 1.0}
    half = replace(pairs, clicked_bias=np.array([1.0, 0.5]), skipped_bias=np.array([1.0, 0.8]))
    assert sorted(half.weights.tolist()) == pytest.approx([2.0, 2 / 0.8])


@pytest.mark.parametrize("estimator", [name for name in ESTIMATORS if name != "naive"])
def test_every_estimator_is_better_than_naive(estimator: str) -> None:
    data, log = biased()
    fits = {
        name: ndcg(tk.ranker("listnet", l2=1e-3).fit(data, clicks=UnbiasedClicks(log, estimator=name)))
        for name in ("naive", estimator)
    }
    best = ndcg(tk.ranker("listnet", l2=1e-3).fit(data))
    assert fits[estimator] > fits["naive"] + 0.25 * (best - fits["naive"])
    if estimator in ("snips", "dr", "dual"):
        assert fits[estimator] > 0.98 * best > fits["naive"]


@pytest.mark.parametrize("name", list(LOSSES))
def test_every_loss_learns_without_bias(name: str) -> None:
    data, log = biased()
    known = Propensities(1 / np.arange(1, 7))
    scores = {
        estimator: ndcg(
            tk.ranker("gradient", loss=name, max_steps=60).fit(
                data, clicks=UnbiasedClicks(log, known, estimator)
            )
        )
        for estimator in ("naive", "snips")
    }
    assert scores["snips"] > scores["naive"]
    assert scores["snips"] > 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("scorer", ["mlp", "trees"])
def test_every_scorer_takes_every_estimator(scorer: str, estimator: str) -> None:
    data = linear_data(12)
    log = tk.simulate_clicks(data, data.X[:, 1], 400, length=6, spread=0.6, seed=2)
    settings = {key: FEW[key] for key in FEW.keys() & tk.rankers.settings_of("ranknet", scorer=scorer).keys()}
    clicks = UnbiasedClicks(log, Propensities(1 / np.arange(1, 7)), estimator, rounds=2)
    learned = tk.ranker("ranknet", scorer=scorer, **settings).fit(data, linear_data(6, 4), clicks=clicks)
    assert np.isfinite(learned.score(data)).all()


def test_the_result_is_the_same_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    data, log = biased()
    scores = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TOPKIT_THREADS", threads)
        learned = tk.ranker("listnet", l2=1e-3).fit(data, clicks=UnbiasedClicks(log))
        scores.append(learned.score(data))
    assert np.array_equal(scores[0], scores[1])


def test_dual_learning_finds_the_examination() -> None:
    data, log = biased()
    relevant = tk.Users().rates(data)
    found = dual_propensities(log, log.pairs, np.log(relevant / (1.0001 - relevant)))
    assert found.examination == pytest.approx(1 / np.arange(1, 7), rel=0.06)


def test_a_model_keeps_no_log(tmp_path: object) -> None:
    from pathlib import Path

    data, log = biased()
    path = Path(str(tmp_path)) / "m"
    learned = tk.ranker("listnet", l2=1e-3).fit(data, clicks=UnbiasedClicks(log))
    learned.save(path)
    assert np.array_equal(tk.load_ranker(path).score(data), learned.score(data))


def test_what_cannot_be_learned_is_refused() -> None:
    data, log = biased()
    with pytest.raises(InputError, match="'ranksvm' cannot learn from click logs"):
        tk.ranker("ranksvm").fit(data, clicks=UnbiasedClicks(log))
    with pytest.raises(InputError, match="'listnet' cannot learn from clicks"):
        tk.ranker("listnet").fit(data, clicks=tk.Clicks([]))
    with pytest.raises(InputError, match="'click-label' cannot learn from click logs"):
        tk.ranker("click-label").fit(data, clicks=UnbiasedClicks(log))
    with pytest.raises(InputError, match="pairs='given'"):
        tk.ranker("ranknet", pairs="given").fit(data, clicks=UnbiasedClicks(log))
    with pytest.raises(InputError, match="no document of the log is in the training data"):
        tk.ranker("listnet").fit(DATA, clicks=UnbiasedClicks(log, Propensities([1.0])))
    silent = ClickLog.of_pages([tk.Page("q", ("a", "b"), (False, False))])
    with pytest.raises(InputError, match="no clicks on the training documents"):
        tk.ranker("listnet").fit(DATA, clicks=UnbiasedClicks(silent, Propensities([1.0])))
    with pytest.raises(InputError, match="gives no labels"):
        click_labels(data, UnbiasedClicks(log, estimator="dual"))
    with pytest.raises(InputError, match="estimator must be one of"):
        UnbiasedClicks(log, estimator="magic")
