"""Click models: likelihoods by brute force, known parameters found again, an objective that never falls."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import topkit as tk
from tests.support.click_logs import known_models, page_probability, random_pages
from topkit.clicks import CLICK_MODELS, ClickLog, click_fit, fit_click_model
from topkit.clicks.models.dbn import DynamicBayesian
from topkit.clicks.models.dcm import DependentClick
from topkit.clicks.models.pbm import PositionBased
from topkit.clicks.models.trust import TrustBased
from topkit.clicks.models.ubm import UserBrowsing
from topkit.data import InputError

NAMES = list(CLICK_MODELS)


@pytest.mark.parametrize("name", NAMES)
def test_conditional_probabilities_multiply_to_the_sum_over_latent_states(name: str) -> None:
    pages = random_pages(4, 4, seed=1)
    model = known_models(pages.pairs, 4, seed=2)[name]
    for page in range(4):
        rows = slice(pages.bounds[page], pages.bounds[page + 1])
        length = rows.stop - rows.start
        marginal, total = np.zeros(length), 0.0
        for clicks in product((False, True), repeat=length):
            all_clicks = np.zeros(len(pages.pair), bool)
            all_clicks[rows] = clicks
            p = model.conditional(pages.with_clicks(all_clicks))[rows]
            expected = page_probability(model, pages, page, clicks)
            assert np.prod(np.where(clicks, p, 1 - p)) == pytest.approx(expected, abs=1e-12)
            marginal += expected * np.array(clicks)
            total += expected
        assert total == pytest.approx(1.0)
        assert model.marginal(pages)[rows] == pytest.approx(marginal)


@pytest.mark.parametrize("name", NAMES)
def test_simulated_clicks_have_the_marginal_rates(name: str) -> None:
    pages = random_pages(20_000, 5, seed=3)
    model = known_models(pages.pairs, 5, seed=4)[name]
    log = model.simulate(pages, seed=5)
    assert (log.clicks == model.simulate(pages, seed=5).clicks).all()
    expected, shown = model.marginal(pages), np.bincount(pages.position)[1:]
    gap = np.bincount(pages.position, log.clicks - expected)[1:] / shown
    assert np.abs(gap).max() < 4 * 0.5 / np.sqrt(shown.min())


@pytest.mark.parametrize("name", NAMES)
def test_fits_find_the_parameters_of_a_simulation(name: str) -> None:
    pages = random_pages(30_000, 5, seed=6)
    truth = known_models(pages.pairs, 5, seed=7)[name]
    log = truth.simulate(pages, seed=8)
    model = fit_click_model(log, name, smoothing=0)
    assert np.abs(model.attraction - truth.attraction).max() < 0.06
    # the likelihood at the estimate is at least that at the truth
    assert click_fit(model, log).log_likelihood >= click_fit(truth, log).log_likelihood - 1e-6
    if isinstance(model, PositionBased) and isinstance(truth, PositionBased):
        assert model.by_position == pytest.approx(truth.by_position, rel=0.05)
    if isinstance(model, TrustBased) and isinstance(truth, TrustBased):
        assert model.slope == pytest.approx(truth.slope, abs=0.04)
        assert model.offset == pytest.approx(truth.offset, abs=0.03)
    if isinstance(model, DependentClick) and isinstance(truth, DependentClick):
        assert model.by_position[:-1] == pytest.approx(truth.by_position[:-1], abs=0.04)
    if isinstance(model, DynamicBayesian) and isinstance(truth, DynamicBayesian):
        assert model.onward == pytest.approx(truth.onward, abs=0.02)
        assert np.abs(model.satisfaction - truth.satisfaction).max() < 0.12
        assert model.relevance == pytest.approx(truth.relevance, abs=0.08)
    if isinstance(model, UserBrowsing) and isinstance(truth, UserBrowsing):
        seen = np.tril(np.ones((5, 5), bool))
        assert model.by_distance[seen] == pytest.approx(truth.by_distance[seen], abs=0.06)


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "cascade"])
def test_the_objective_never_falls(name: str, smoothing: float) -> None:
    pages = random_pages(300, 5, seed=9)
    log = known_models(pages.pairs, 5, seed=10)[name].simulate(pages, seed=11)
    values = fit_click_model(log, name, smoothing=smoothing, max_steps=40, tolerance=0.0).trace.values
    assert len(values) > 5
    assert min(np.diff(values)) >= -1e-12


def test_the_right_model_predicts_new_pages_best() -> None:
    pages = random_pages(20_000, 5, seed=12)
    half = np.arange(20_000) < 10_000
    for name in ("pbm", "dbn", "ubm"):
        log = known_models(pages.pairs, 5, seed=13)[name].simulate(pages, seed=14)
        train, test = log.select(half), log.select(~half)
        found = {other: click_fit(fit_click_model(train, other), test) for other in ("pbm", "dbn", "ubm")}
        best = max(found, key=lambda other: found[other].log_likelihood)
        # dbn is not a special case of ubm, nor ubm of dbn; a pbm is a ubm whose last click does not matter
        assert best == name or (name == "pbm" and best == "ubm")
        assert 1 < found[best].perplexity < 2
        assert len(found[best].by_position) == 5


def test_perplexity_by_hand() -> None:
    # P(click) = 1/2·1 at position 1 and 1/2·1/4 at position 2; clicks: yes, no
    log = ClickLog.of_pages([tk.Page("q", ("a", "b"), (True, False))])
    model = PositionBased(log.pairs, np.array([0.5, 0.5]), 0.5, by_position=np.array([1.0, 0.25]))
    found = click_fit(model, log)
    assert found.log_likelihood == pytest.approx(np.log(1 / 2) + np.log(7 / 8))
    assert found.by_position == pytest.approx([2.0, 8 / 7])
    assert found.perplexity == pytest.approx((2 + 8 / 7) / 2)
    assert "perplexity" in found.table().text()


def test_counts_fit_like_pages() -> None:
    pages = random_pages(500, 4, seed=15)
    log = known_models(pages.pairs, 4, seed=16)["pbm"].simulate(pages, seed=17)
    counts = log.counts()
    one, other = fit_click_model(log, "pbm"), fit_click_model(counts, "pbm")
    assert np.array_equal(one.attraction, other.attraction)
    with pytest.raises(InputError, match="needs whole pages"):
        fit_click_model(counts, "dbn")
    with pytest.raises(InputError, match="unknown click model 'dbm'"):
        fit_click_model(log, "dbm")
    with pytest.raises(InputError, match="max_steps must be an integer of at least 1"):
        fit_click_model(log, "pbm", max_steps=0)


def test_unknown_documents_have_the_average_attraction() -> None:
    log = ClickLog.of_pages([tk.Page("q", ("a", "b"), (True, False))] * 5)
    other = ClickLog.of_pages([tk.Page("new", ("x",), (False,))])
    for name in NAMES:
        model = fit_click_model(log, name)
        assert model.conditional(other)[0] == pytest.approx(model.average)


def plain_product_step(cells: tuple[np.ndarray, ...], a: np.ndarray, g: np.ndarray) -> list[np.ndarray]:
    """One step of expectation–maximisation in NumPy."""
    pair, bucket, shown, clicks = cells
    p = a[pair] * g[bucket]
    relevant = clicks + (shown - clicks) * a[pair] * (1 - g[bucket]) / (1 - p)
    examined = clicks + (shown - clicks) * g[bucket] * (1 - a[pair]) / (1 - p)
    return [
        np.bincount(pair, relevant, len(a)) / np.bincount(pair, shown, len(a)),
        np.bincount(bucket, examined, len(g)) / np.bincount(bucket, shown, len(g)),
    ]


def test_the_kernel_of_products_is_a_step_in_numpy() -> None:
    from topkit.clicks import kernels

    pages = random_pages(200, 4, seed=18)
    cells = known_models(pages.pairs, 4, seed=19)["pbm"].simulate(pages, seed=20).cells()
    rng = np.random.default_rng(0)
    a, g = rng.uniform(0.1, 0.9, 30), rng.uniform(0.1, 0.9, 4)
    arrays = (cells.pair, cells.bucket, cells.impressions, cells.clicks)
    new_a, new_g = np.zeros(30), np.zeros(4)
    value = kernels.product_pass(*arrays, a, g, new_a, new_g)
    p = a[cells.pair] * g[cells.bucket]
    expected = cells.clicks @ np.log(p) + (cells.impressions - cells.clicks) @ np.log(1 - p)
    assert value == pytest.approx(expected)
    plain_a, plain_g = plain_product_step(arrays, a, g)
    assert new_a / np.bincount(cells.pair, cells.impressions, 30) == pytest.approx(plain_a)
    assert new_g / np.bincount(cells.bucket, cells.impressions, 4) == pytest.approx(plain_g)


def test_expected_examinations_of_a_chain_by_brute_force() -> None:
    from topkit.clicks import kernels

    # documents a, b, c with attraction .5, .4, .3; t = .6, .7, .8; goes on with .9; clicks: yes, no, no
    # examined 1: a stops: 1 - .54; examined 2: .54·.6·(1 - .9); examined 3: .54·.6·.9·.7
    a, t = np.array([0.5, 0.4, 0.3]), np.array([0.6, 0.7, 0.8])
    weights = np.array([1 - 0.54, 0.54 * 0.6 * 0.1, 0.54 * 0.6 * 0.9 * 0.7])
    examined, unsatisfied, clicks, steps = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(2)
    number = np.arange(3, dtype=np.int32)
    value = kernels.chain_pass(
        np.array([0, 3]), number, number, np.array([True, False, False]), a, t, 0.9,
        examined, unsatisfied, clicks, steps, np.empty(4),
    )  # fmt: skip
    assert value == pytest.approx(np.log(0.5 * weights.sum()))
    p = weights / weights.sum()
    assert examined == pytest.approx([1.0, p[1] + p[2], p[2]])
    satisfied = 0.4 / weights.sum()  # of the .46 that stop after the click, .4 are satisfied
    assert unsatisfied[0] == pytest.approx(1 - satisfied)
    assert steps[0] == pytest.approx(p[1] + p[2] + p[2])
    assert steps[1] == pytest.approx((1 - satisfied) + p[1] + p[2])
