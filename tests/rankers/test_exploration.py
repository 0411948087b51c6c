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
    drawn = np.array([drawn_utility(model, prepared, rng) for _ in range(4_000)])
    # P(click) integrates the weights out, so it is the mean over draws
    assert drawn.mean(axis=0) == pytest.approx(model.click_probability(prepared), abs=0.02)


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


RATES = {"fair": 0.6, "good": 0.85}


def shown_alone(doc: str, clicked: bool) -> tk.Page:
    """A page of one document, and a last one that is always clicked, so that both are examined."""
    return tk.Page("q", (doc, "end"), (clicked, True))


def lost_clicks(greedy: bool, seed: int, updates: int = 40) -> list[float]:
    """Clicks lost per ten pages after an unlucky start: the good document was skipped three times."""
    rng = np.random.default_rng(seed)
    data = tk.Dataset.build([[0.0]] * 2, [0] * 2, ["q"] * 2, doc_ids=list(RATES))
    start = [shown_alone("good", False)] * 3
    start += [shown_alone("fair", clicked) for clicked in (True, True, True, False, False)]
    learner = tk.ranker("click-label", mix=1.0, slots=4096, memory=1.0).fit(data, clicks=tk.Clicks(start))
    lost = []
    for _ in range(updates):
        runs = [learner.rank(data) if greedy else explore(learner, data, rng) for _ in range(10)]
        shown = [run["q"][0][0] for run in runs]
        lost.append(sum(RATES["good"] - RATES[doc] for doc in shown))
        pages = [shown_alone(doc, bool(rng.random() < RATES[doc])) for doc in shown]
        learner = tk.continue_training(learner, clicks=tk.Clicks(pages))
    return lost


def test_a_greedy_ranker_never_forgives_and_an_exploring_one_finds_out() -> None:
    """A greedy ranker that shows one document never learns about the other: its regret is linear for ever."""
    assert lost_clicks(True, 0, updates=20) == pytest.approx([10 * 0.25] * 20)
    exploring = np.array([lost_clicks(False, seed) for seed in range(3)])
    first, second = exploring[:, :20].sum(axis=1), exploring[:, 20:].sum(axis=1)
    assert (first + second < 0.25 * 40 * 10 * 0.25).all()  # a quarter of the greedy regret
    assert (second < first / 3).all()  # it grows ever more slowly


def test_only_a_fitted_click_label_ranker_explores() -> None:
    data = plain_data(2)
    with pytest.raises(InputError, match="not a fitted click-label ranker"):
        explore(tk.ranker("linear-regression").fit(data), data)
