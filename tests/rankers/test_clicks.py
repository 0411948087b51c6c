"""The click-and-label ranker: moments against numerical integration, memory, utility, streams and files."""

from __future__ import annotations

import doctest
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

import topkit as tk
from tests.support.cli import said
from tests.support.clicks import clicking, plain_data
from topkit.cli.train import train
from topkit.compute import Floats
from topkit.data import InputError, Page, read_pages, write_pages
from topkit.rankers import Clicks, continue_training
from topkit.rankers.checks import easy_data
from topkit.rankers.clicks import kernels
from topkit.rankers.clicks.beliefs import Beliefs, noise_prior
from topkit.rankers.clicks.diversity import fill_page
from topkit.rankers.clicks.events import Events, Layout, examined
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.clicks.pages import pages_data
from topkit.rankers.clicks.sweep import click_counts, mix_sweep, s_clicks

NO_FEATURES = np.zeros((0, 0), np.float32)


def link(s: float) -> float:
    noise, share = noise_prior()
    return float(share @ ndtr(s / np.sqrt(noise)))


def test_the_noise_integrated_out_is_students_t() -> None:
    # a Gamma of shape 2 and mean 1 on the precision gives t with 4 degrees of freedom; 4 points come near it
    for s in np.linspace(-4, 4, 17):
        assert link(s) == pytest.approx(student.cdf(s, df=4), abs=0.02)
    fine, shares = noise_prior(points=40)
    for s in (-3.0, 0.7):
        assert shares @ ndtr(s / np.sqrt(fine)) == pytest.approx(student.cdf(s, df=4), abs=1e-4)


@pytest.mark.parametrize("clicked", [True, False])
@pytest.mark.parametrize(("mean", "x"), [([0.5, -1.5], [1.0, 0.7]), ([-2.0, 3.0], [2.0, -0.5])])
def test_a_click_matches_moments_exactly(clicked: bool, mean: list[float], x: list[float]) -> None:
    noise, share = noise_prior()
    m, v = np.array(mean), np.array([0.8, 2.0])
    features = np.array([x], np.float32).astype(np.float64)[0]

    def likelihood(s: float) -> float:
        return link(s) if clicked else 1 - link(s)

    # w₁ given w₂ stays Gaussian in s, so each marginal is one integral over s and a conditional Gaussian
    total_mean, total_variance = float(features @ m), float(features**2 @ v)
    moments = [
        quad(
            lambda s, p=p: s**p * likelihood(s) * norm.pdf(s, total_mean, np.sqrt(total_variance)),
            total_mean - 12 * np.sqrt(total_variance), total_mean + 12 * np.sqrt(total_variance),
            epsabs=1e-13, limit=200,
        )[0]
        for p in range(3)
    ]  # fmt: skip
    s_mean = moments[1] / moments[0]
    s_variance = moments[2] / moments[0] - s_mean**2
    gain = v * features / total_variance
    expected_mean = m + gain * (s_mean - total_mean)
    expected_variance = v - gain**2 * (total_variance - s_variance)
    likelihood_sum = kernels.learn_clicks(
        m, v, noise, share, np.array([x], np.float32), np.array([0]), np.zeros((1, 0), np.int64),
        np.array([clicked]),
    )  # fmt: skip
    assert likelihood_sum == pytest.approx(np.log(moments[0]), abs=1e-9)
    assert m == pytest.approx(expected_mean, abs=1e-8)
    assert v == pytest.approx(expected_variance, abs=1e-8)


def test_a_belief_shrinks_with_examinations_as_the_exact_posterior_does() -> None:
    noise, share = noise_prior()
    grid = np.linspace(-6, 6, 4001)
    of_grid = np.array([link(s) for s in grid])
    rng = np.random.default_rng(0)
    for looks, clicks in ((4, 1), (40, 10), (400, 100)):
        clicked = np.zeros(looks, np.bool_)
        clicked[:clicks] = True
        m, v = np.zeros(1), np.ones(1)
        slots = np.zeros((looks, 1), np.int64)
        kernels.learn_clicks(
            m, v, noise, share, np.zeros((0, 0), np.float32), np.full(looks, -1), slots,
            rng.permutation(clicked)
        )  # fmt: skip
        # N(0, 1) times the binomial likelihood of so many clicks, on a grid
        log_density = -0.5 * grid**2 + clicks * np.log(of_grid) + (looks - clicks) * np.log1p(-of_grid)
        weight = np.exp(log_density - log_density.max())
        mean = weight @ grid / weight.sum()
        deviation = np.sqrt(weight @ (grid - mean) ** 2 / weight.sum())
        assert m[0] == pytest.approx(mean, abs=0.15 * deviation)
        assert np.sqrt(v[0]) == pytest.approx(deviation, rel=0.05)


def test_two_sided_probability_against_scipy() -> None:
    rng = np.random.default_rng(1)
    for turn in range(300):
        a, b = rng.normal(size=2) * rng.choice([0.3, 1.0, 3.0])
        r = -1 + 10 ** rng.uniform(-9, 0)
        if turn % 5 == 0:
            b = -a + 10 ** rng.uniform(-6, 0)
        expected = multivariate_normal.cdf([a, b], cov=[[1, r], [r, 1]], allow_singular=True)
        assert kernels.both_above(a, b, r) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("low", [-np.inf, -0.4])
@pytest.mark.parametrize("high", [0.9, np.inf])
def test_slopes_of_an_interval_against_differences(low: float, high: float) -> None:
    means = np.array([0.3, low, high])
    out = np.empty(7)

    def z(at: Floats) -> float:
        parts = np.empty(7)
        kernels.interval(at[0], 1.3, at[1], 0.2, at[2], 0.5, parts)
        return float(parts[0])

    kernels.interval(*means[:1], 1.3, means[1], 0.2, means[2], 0.5, out)
    for i in range(3):
        if np.isinf(means[i]):
            assert (out[1 + 2 * i : 3 + 2 * i] == 0).all()
            continue
        step = np.zeros(3)
        step[i] = 1e-4
        up, down = z(means + step), z(means - step)
        assert out[1 + 2 * i] == pytest.approx((up - down) / 2e-4, abs=1e-7)
        assert out[2 + 2 * i] == pytest.approx((up - 2 * z(means) + down) / 1e-8, abs=1e-5)


def test_a_grade_matches_moments_exactly() -> None:
    """Mean and variance of a weight and a boundary after one grade, against sums over draws of everything."""
    noise, share = noise_prior()
    m, v = np.array([0.4]), np.array([1.5])
    bound, bound_variance = np.array([-np.inf, -0.5, 0.8, np.inf]), np.array([0.0, 0.3, 0.2, 0.0])
    new = (m.copy(), v.copy(), bound.copy(), bound_variance.copy(), noise.copy(), share.copy())
    kernels.learn_grades(
        *new, np.array([[1.0]], np.float32), np.zeros((1, 0), np.int64), np.array([1]), np.ones(1)
    )
    rng = np.random.default_rng(2)
    draws = 4_000_000
    w = rng.normal(m[0], np.sqrt(v[0]), draws)
    first = rng.normal(bound[1], np.sqrt(bound_variance[1]), draws)
    second = rng.normal(bound[2], np.sqrt(bound_variance[2]), draws)
    kind = rng.choice(len(noise), draws, p=share)
    s = w + rng.normal(size=draws) * np.sqrt(noise)[kind]
    inside = (first < s) & (s < second)
    for found, values in ((new[0][0], w), (new[2][1], first), (new[2][2], second)):
        assert found == pytest.approx(values[inside].mean(), abs=0.003)
    for found, values in ((new[1][0], w), (new[3][1], first), (new[3][2], second)):
        assert found == pytest.approx(values[inside].var(), abs=0.005)
    assert new[5] == pytest.approx(np.bincount(kind[inside], minlength=len(noise)) / inside.sum(), abs=0.003)


def test_a_weight_is_a_power_of_the_likelihood() -> None:
    # for a Gaussian likelihood N(y; s, r): slope (y − m)/(v + r), bend 1/(v + r); its power k has r/k
    m, v, y, r = 0.3, 2.0, 1.7, 0.9
    for k in (0.5, 1.0, 3.0):
        slope, bend = kernels.temper(v, (y - m) / (v + r), 1 / (v + r), k)
        assert slope == pytest.approx((y - m) / (v + r / k))
        assert bend == pytest.approx(1 / (v + r / k))


def test_examined_documents() -> None:
    assert examined(Page("q", ("a", "b", "c", "d"), (False, True, False, False))) == 2
    assert examined(Page("q", ("a", "b"), (False, False))) == 0
    layout = Layout(0, 3, 64)
    events = Events.of([Page("q", ("a", "b", "c", "d", "e"), (False, False, False, False, True))], layout, {})
    assert events.clicked.tolist() == [False] * 4 + [True]
    assert events.slots[:, 1].tolist() == [1, 2, 3, 3, 3]  # places beyond the last weight share it
    assert len(set(events.slots[:, 2].tolist())) == 1
    assert (events.row == -1).all()


def test_memory_weights_learn_what_features_do_not_explain() -> None:
    data = plain_data()
    unlabelled = data.with_labels(np.zeros(len(data)), data.truth)
    fitted = tk.ranker("click-label", metric="map").fit(unlabelled, clicks=Clicks(clicking(1500, 0)))
    assert fitted.measure()(data, fitted.score(data)) > 0.95
    model = fitted.model
    assert isinstance(model, ClickLabel)
    table = {row["weight"]: row for row in model.inspect(data, "q3")}
    pair = "query q3 document q3-"
    assert table[f"{pair}0"]["click mean"] > table[f"{pair}5"]["click mean"]
    assert table[f"{pair}0"]["click deviation"] < 0.5  # the prior's
    assert table["bias"]["label mean"] == 0


def test_training_in_steps_equals_training_at_once(tmp_path: Path) -> None:
    data = plain_data()
    pages = list(clicking(300, 1))
    whole = tk.ranker("click-label").fit(data, clicks=Clicks(pages))
    today = tk.ranker("click-label").fit(data, clicks=Clicks(pages[:120]))
    today.save(tmp_path / "today")
    before = today.score(data)
    tomorrow = continue_training(tk.load_ranker(tmp_path / "today"), clicks=Clicks(pages[120:]))
    assert np.array_equal(tomorrow.score(data), whole.score(data))
    assert np.array_equal(today.score(data), before)
    graded = continue_training(today, data)
    assert not np.array_equal(graded.score(data), before)
    with pytest.raises(InputError, match="grade 7"):
        continue_training(today, data.with_labels(np.full(len(data), 7.0), data.truth))
    with pytest.raises(InputError, match="not a fitted click-label"):
        continue_training(tk.ranker("ranksvm").fit(data), data)


def test_memory_does_not_grow_with_the_stream() -> None:
    model = tk.ranker("click-label", slots=1024).fit(plain_data()).model
    assert isinstance(model, ClickLabel)
    model.after_pages(Clicks(clicking(10, 0)))
    peaks = []
    for pages in (5_000, 10_000):
        tracemalloc.start()
        after, _, count = model.after_pages(Clicks(clicking(pages, 2)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count > pages
        assert after.clicks.mean.shape == model.clicks.mean.shape
    assert peaks[1] < 1.3 * peaks[0]


def test_utility_mixes_gain_and_clicks() -> None:
    data = easy_data(20)
    fitted = tk.ranker("click-label", mix=0.3).fit(data)
    model = fitted.model
    assert isinstance(model, ClickLabel)
    assert fitted.preparation is not None
    prepared = fitted.preparation(data)
    gain, click = model.expected_gain(prepared), model.click_probability(prepared)
    assert fitted.score(data) == pytest.approx(0.7 * gain + 0.3 * click)
    assert (gain >= 0).all()
    assert (gain <= 7).all()  # 2³ − 1
    assert click == pytest.approx(0.5)  # the prior, without any click
    # E[2^g − 1] from the probabilities of grades, each a difference of two cumulative ones
    sums = model.labels.sums(prepared.X, np.arange(len(data)), model.memory_slots(prepared))
    above = [
        model.labels.above(sums[:, 0] - model.scale.bound[j], sums[:, 1] + model.scale.variance[j])
        for j in (1, 2, 3)
    ]
    grades = [1 - above[0], above[0] - above[1], above[1] - above[2], above[2]]
    assert gain == pytest.approx(sum((2**g - 1) * p for g, p in enumerate(grades)))


def test_validation_chooses_the_mix() -> None:
    data = plain_data()
    unlabelled = data.with_labels(np.zeros(len(data)), data.truth)
    fitted = tk.ranker("click-label").fit(unlabelled, data, clicks=Clicks(clicking(500, 0)))
    assert isinstance(fitted.model, ClickLabel)
    assert fitted.model.mix > 0  # the labels carry no information, the clicks do


def test_a_concave_utility_prefers_diverse_pages() -> None:
    # documents 0 and 1 are clicked together or not at all; 2 is a little less likely, by itself
    drawn = np.array([[0.9, 0.9, 0.1], [0.1, 0.1, 0.8]] * 8)
    no_gain = np.zeros(3)
    assert fill_page(drawn, no_gain, drawn.mean(axis=0), 1.0, 1e-6).tolist() == [0, 1, 2]
    assert fill_page(drawn, no_gain, drawn.mean(axis=0), 1.0, 3.0).tolist() == [0, 2, 1]
    # the worth of a page by its definition, E[(1 − e^{−κ Σ d c})/κ], agrees that 0, 2, 1 is the better page
    discount = 1 / np.log2([2.0, 3.0, 4.0])

    def worth(order: list[int], steepness: float) -> float:
        total = 0.0
        for draw in drawn[:2]:
            for clicks in np.ndindex(2, 2, 2):
                p = np.prod([draw[d] if c else 1 - draw[d] for d, c in zip(order, clicks, strict=True)])
                total += 0.5 * p * -np.expm1(-steepness * float(discount @ clicks)) / steepness
        return total

    assert worth([0, 2, 1], 3.0) > worth([0, 1, 2], 3.0)
    assert worth([0, 1, 2], 1e-6) > worth([0, 2, 1], 1e-6)


def test_diverse_pages_hold_every_document_and_do_not_depend_on_each_other() -> None:
    data = plain_data()
    fitted = tk.ranker("click-label", diversity=2.0).fit(data, clicks=Clicks(clicking(300, 0)))
    scores = fitted.score(data)
    for _, rows in data:
        assert sorted(scores[rows]) == list(range(1, 9))
    alone = fitted.score(data.select([4]))
    assert np.array_equal(alone, scores[data.ptr[4] : data.ptr[5]])


def test_s_clicks_by_hand() -> None:
    pages = [
        Page("q", ("a", "b", "c"), (False, True, False)),
        Page("q", ("b", "a", "c"), (True, False, True)),
    ]
    counts = click_counts(pages)
    assert counts == {"q": {"a": (0, 2), "b": (2, 2), "c": (1, 1)}}
    run = tk.Run.of({"q": [("b", 3.0), ("d", 2.0), ("c", 1.0), ("a", 0.0)], "r": [("a", 1.0)]})
    # d = 1, 0.63, 0.5, 0.43; b has 2 clicks at place 1, c one at place 3; 5 examinations in all
    assert s_clicks(run, counts) == {"q": pytest.approx((2 * 1 + 1 * 0.5) / 5)}


def test_sweep_over_the_mix() -> None:
    data = plain_data()
    pages = list(clicking(300, 0))
    labels = 1 - data.y  # grades that say the opposite of clicks
    fitted = tk.ranker("click-label").fit(data.with_labels(labels, data.truth), clicks=Clicks(pages))
    rows = mix_sweep(fitted, data, pages)
    assert [row["mix"] for row in rows][::5] == [0, 0.5, 1]
    assert np.mean(rows[-1]["measure"]) > 0.9 > np.mean(rows[0]["measure"])
    assert np.mean(list(rows[-1]["s_clicks"].values())) > np.mean(list(rows[0]["s_clicks"].values()))
    with pytest.raises(InputError, match="click-label"):
        mix_sweep(tk.ranker("ranksvm").fit(data), data, pages)


def test_only_click_label_learns_from_clicks() -> None:
    with pytest.raises(InputError, match="cannot learn from clicks"):
        tk.ranker("ranksvm").fit(plain_data(), clicks=Clicks(clicking(3, 0)))


def test_wrong_parts_are_refused() -> None:
    model = tk.ranker("click-label", slots=16).fit(plain_data(2)).model
    assert model is not None
    parts = model.parts()
    for name, array in (
        ("clicks_mean", np.zeros(3)),
        ("labels_variance", -np.ones(len(parts.arrays["labels_variance"]))),
        ("bound", np.zeros(7)),
    ):
        with pytest.raises(ValueError):
            ClickLabel.of_parts(type(parts)(parts.values, {**parts.arrays, name: array}))


def test_page_files_round_trip(tmp_path: Path) -> None:
    pages = [
        Page("q 1", ("a", "b"), (True, False), "s"),
        Page("q2", ("x",), (False,), "t", grades=(-2.0,)),
    ]
    for name in ("pages.txt", "pages.txt.gz"):
        write_pages(pages, tmp_path / name)
        back = list(read_pages(tmp_path / name))
        assert [page._replace(time=0.0) for page in back] == [page._replace(time=0.0) for page in pages]
    with pytest.raises(InputError, match="comma"):
        write_pages([Page("q", ("a,b",), (True,))], tmp_path / "bad")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("s\tq\t[a]\t[1]", "got 4"),
        ("s\tq\t[a, b]\t[1, 1]\t[0]", "as long as"),
        ("s\tq\t[]\t[]\t[]", "as long as"),
        ("s\tq\ta\t[1]\t[0]", "brackets"),
        ("s\tq\t[a]\t[1]\t[2]", "expected clicks of 0 or 1"),
        ("s\tq\t[a]\t[1]\t[1]\t[good]", "not a number"),
        ("s\tq\t[a]\t[1]\t[1]\t[nan]", "finite"),
    ],
)
def test_errors_in_pages_name_the_line(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "pages").write_text(f"s\tq\t[a]\t[1]\t[1]\n{line}\n")
    with pytest.raises(InputError, match=problem) as error:
        list(read_pages(tmp_path / "pages"))
    assert "2" in str(error.value)


def test_pages_as_data() -> None:
    pages = [
        Page("q", ("a", "b"), (False, True)),
        Page("q", ("b", "c"), (True, False), grades=(2.0, -2.0)),
        Page("r", ("a",), (False,)),
    ]
    graded = pages_data(pages)
    assert graded.qids == ("q",)
    assert graded.y.tolist() == [2.0, 0.0]
    assert graded.X.ravel().tolist() == [0.75, 0.5]  # b stood at 2 and at 1: (1/2 + 1)/2
    assert len(pages_data(pages, graded=False)) == 4
    with pytest.raises(InputError, match="no pages"):
        pages_data([])


def test_train_with_clicks_and_continue(tmp_path: Path) -> None:
    pages = list(clicking(60, 0))
    write_pages(pages[:30], tmp_path / "today")
    write_pages(pages[30:], tmp_path / "tomorrow")
    data = plain_data()
    data.to_parquet(tmp_path / "data.parquet")
    model = tmp_path / "model"
    said(
        "train",
        "click-label",
        "--train",
        tmp_path / "data.parquet",
        "--clicks",
        tmp_path / "today",
        "--out",
        model,
    )
    more = ("--clicks", tmp_path / "tomorrow", "--features", tmp_path / "data.parquet")
    answer = said("train", "click-label", "--from", model, *more, "--out", tmp_path / "next")
    assert "continued from" in answer
    whole = tk.ranker("click-label").fit(data, clicks=Clicks(pages, data))
    assert np.array_equal(tk.load_ranker(tmp_path / "next").score(data), whole.score(data))
    train("click-label", tmp_path / "alone", clicks=tmp_path / "today", quiet=True)
    assert len(tk.load_ranker(tmp_path / "alone").score(pages_data(pages))) == len(pages_data(pages))
    with pytest.raises(InputError, match="no training data"):
        train("click-label", model)
    with pytest.raises(InputError, match="cannot learn from clicks"):
        train("ranksvm", model, clicks=tmp_path / "today")
    with pytest.raises(InputError, match="keeps its settings"):
        train("click-label", model, clicks=tmp_path / "today", start=model, settings=["mix=0.1"])


@pytest.mark.real_data
def test_held_out_clicks_are_predicted_better_than_by_position_or_rate(real_data: Path) -> None:
    before, after = (
        list(read_pages(real_data / "clicks" / f"{name}_per_query_quid.txt")) for name in ("train", "test")
    )
    unlabelled = pages_data(before, graded=False)
    fitted = tk.ranker("click-label", normalise="none").fit(unlabelled, clicks=Clicks(before))
    assert isinstance(fitted.model, ClickLabel)
    ours = fitted.model.log_likelihoods(Clicks(after))
    of_place: dict[int, list[float]] = {}
    of_pair: dict[tuple[str, str], list[float]] = {}
    all_looks = [0.0, 0.0]
    for page in before:
        for place in range(examined(page)):
            for counts in (
                of_place.setdefault(place, [0.0, 0.0]),
                of_pair.setdefault((page.query, page.docs[place]), [0.0, 0.0]),
                all_looks,
            ):
                counts[0] += page.clicks[place]
                counts[1] += 1
    rate = all_looks[0] / all_looks[1]

    def baseline(counts: list[float]) -> float:
        return (counts[0] + 2 * rate) / (counts[1] + 2)

    logs: dict[str, list[float]] = {"position": [], "rate": []}
    for page in after:
        for place in range(examined(page)):
            for name, p in (
                ("position", baseline(of_place.get(place, [0.0, 0.0]))),
                ("rate", baseline(of_pair.get((page.query, page.docs[place]), [0.0, 0.0]))),
            ):
                logs[name].append(np.log(p if page.clicks[place] else 1 - p))
    assert len(ours) == len(logs["rate"])
    assert ours.mean() > np.mean(logs["position"]) + 0.01
    assert ours.mean() > np.mean(logs["rate"]) + 0.005


def test_the_examples_of_the_guide_run() -> None:
    guide = Path(__file__).parents[2] / "docs" / "lr4ir.md"
    result = doctest.testfile(str(guide), module_relative=False)
    assert result.failed == 0
    assert result.attempted


def test_prior_of_the_beliefs() -> None:
    layout = Layout(2, 3, 10)
    prior = Beliefs.prior(layout, 2.0, 0.5)
    assert len(layout) == 2 + 1 + 3 + 10
    assert prior.variance.tolist() == [4.0] * 6 + [0.25] * 10
    assert replace(prior, share=prior.share).above(np.zeros(1), np.ones(1)) == pytest.approx([0.5])
