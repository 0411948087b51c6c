"""Thompson sampling of the click-and-label ranker: draws by its beliefs, and less regret than greed."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from tests.support.clicks import plain_data
from topkit.data import InputError
from topkit.rankers.clicks.exploration import drawn_utility, explore
from topkit.rankers.clicks.model import ClickLabel


def fitted(pages: int) -> tuple[tk.rankers.Learner, tk.Dataset]:
    data = tk.Dataset.build([[0.0]] * 3, [0, 0, 0], ["q"] * 3, doc_ids=["a", "b", "c"])
    shown = [tk.Page("q", ("a", "b", "c"), (True, False, False))] * pages
    return tk.ranker("click-label", mix=1.0, slots=64).fit(data, clicks=tk.Clicks(shown)), data


def test_draws_are_those_of_the_beliefs() -> None:
    learner, data = fitted(3)
    model = learner.model
    assert isinstance(model, ClickLabel)
    prepared = learner.fitted()[1](data)
    rng = np.random.default_rng(0)
    drawn = np.array([drawn_utility(model, prepared, rng) for _ in range(20_000)])
    # P(click) integrates the weights out, so it is the mean over draws
    assert drawn.mean(axis=0) == pytest.approx(model.click_probability(prepared), abs=0.01)


def test_uncertain_documents_come_first_sometimes_and_certain_ones_rarely() -> None:
    learner, data = fitted(2)
    first = [explore(learner, data, seed)["q"][0][0] for seed in range(200)]
    assert 0.1 < first.count("c") / 200 < 0.5
    assert explore(learner, data, 7)["q"] == explore(learner, data, 7)["q"]
    known, _ = fitted(400)
    first = [explore(known, data, seed)["q"][0][0] for seed in range(200)]
    assert first.count("a") > 160


def test_grades_are_drawn_too() -> None:
    data = plain_data(3)
    learner = tk.ranker("click-label", mix=0.5, slots=64).fit(data)
    assert explore(learner, data, 1)["q0"] != explore(learner, data, 2)["q0"]


def regret(greedy: bool, seed: int, pages: int = 600) -> float:
    """Clicks lost at the first position: five fair documents and a better one, which starts last."""
    rng = np.random.default_rng(seed)
    names = list("abcdef")
    rates = dict(zip(names, (0.6, 0.6, 0.6, 0.6, 0.6, 0.85), strict=True))
    data = tk.Dataset.build([[0.0]] * 6, [0] * 6, ["q"] * 6, doc_ids=names)
    learner = tk.ranker("click-label", mix=1.0, slots=256, memory=1.0).fit(data)
    lost = 0.0
    for _ in range(pages // 10):
        shown = []
        for _ in range(10):
            run = learner.rank(data) if greedy else explore(learner, data, rng)
            best = run["q"][0][0]
            lost += 0.85 - rates[best]
            # a page of one document, and a last one that is always clicked, so that all are examined
            shown.append(tk.Page("q", (best, "end"), (bool(rng.random() < rates[best]), True)))
        learner = tk.continue_training(learner, clicks=tk.Clicks(shown))
    return lost


def test_exploring_loses_fewer_clicks_than_greed() -> None:
    greedy = np.mean([regret(True, seed) for seed in range(6)])
    exploring = np.mean([regret(False, seed) for seed in range(6)])
    assert exploring < greedy


def test_only_a_fitted_click_label_ranker_explores() -> None:
    data = plain_data(2)
    with pytest.raises(InputError, match="not a fitted click-label ranker"):
        explore(tk.ranker("linear-regression").fit(data), data)
