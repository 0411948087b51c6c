"""The audit of a judge: each measure by hand or by another tool, and injected faults come out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.judging import biased_world
from topkit.data import InputError
from topkit.data.judgments import Preference
from topkit.labelling.agreement.pairs import FIRST, SECOND, TIE, Pair, pairs_judged
from topkit.labelling.audit import Trial, ask_trials, audit, audit_page, audit_report, trials_of
from topkit.labelling.audit.estimates import Estimate, mean_interval, regression, share_interval
from topkit.labelling.audit.measures import (
    calibration,
    combined,
    contradictions,
    cycles,
    flip_rate,
    length_bias,
    people_opinions,
    position_bias,
    self_consistency,
    with_people,
)
from topkit.labelling.audit.trials import sample_pairs


def test_clustered_regression_leaves_every_cluster_out_once() -> None:
    x = [-0.8, -1.32, -0.25, 0.42, 1.14, 0.11, -0.55, -0.78, 0.75, 1.63, 0.27, -1.23]
    x += [-0.96, 1.6, 0.2, -1.73, -0.08, -1.16, -0.63, -0.49, -0.71, 0.55, -0.06, -0.59]
    y = [0.06, -0.15, 0.02, 0.56, 0.64, 0.28, -0.84, -1.18, -0.26, 0.6, -0.35, -0.34]
    y += [-0.9, 0.1, -0.32, -0.9, -0.06, -0.39, -0.54, -0.93, -0.61, 0.06, 0.03, -0.23]
    X = np.stack([np.ones(24), np.array(x)], 1)
    cluster = np.repeat(np.arange(8), 3)
    constant, slope = regression(X, np.array(y), cluster.tolist())
    # statsmodels 0.15.0: OLS(y, X).fit().params
    assert constant.value == pytest.approx(-0.16245235, abs=1e-8)
    assert slope.value == pytest.approx(0.37497722, abs=1e-8)
    without = [np.polyfit(X[cluster != g, 1], np.array(y)[cluster != g], 1)[0] for g in range(8)]
    deviation = np.sqrt(7 / 8 * np.sum(np.square(np.array(without) - slope.value)))
    half = 2.3646243 * deviation  # t(0.975, 7)
    assert slope[1:3] == pytest.approx((slope.value - half, slope.value + half), abs=1e-7)
    # the sandwich of statsmodels (cov_type="cluster", use_t=True) is narrower: 0.17094516 to 0.57900927
    assert slope.low < 0.17094516 < 0.57900927 < slope.high
    assert regression(X[:, :1] * [1, 1], np.array(y), list(range(24)))[0].n == 0  # two equal columns


def test_intervals_of_means_and_shares() -> None:
    # 2.5 ± t(0.975, 3)·s/√4 with t = 3.18245 and s = 1.29099: ± 2.05426
    assert mean_interval([1.0, 2.0, 3.0, 4.0])[:3] == pytest.approx((2.5, 0.44574, 4.55426), abs=1e-4)
    assert share_interval([1.0] * 10)[:3] == pytest.approx((1.0, 0.7225, 1.0), abs=1e-4)  # Wilson
    assert not share_interval([]).measured


def trial(
    first: str, second: str, preferred: int, confidence: float | None = None, query: str = "q"
) -> Trial:
    return Trial(query, first, second, preferred, confidence)


def test_position_and_consistency_by_hand() -> None:
    trials = [
        *[trial("x", "y", FIRST), trial("y", "x", FIRST)],  # always the first: +½
        *[trial("x", "z", FIRST), trial("z", "x", SECOND)],  # x in both orders: 0
        *[trial("y", "z", TIE), trial("z", "y", FIRST)],  # (½ + 1)/2 − ½ = ¼
        trial("v", "w", FIRST),  # only one order: left out
    ]
    assert position_bias(trials).value == pytest.approx((0.5 + 0 + 0.25) / 3)
    assert position_bias(trials).n == 3
    again = [trial("x", "y", FIRST), trial("x", "y", SECOND), trial("y", "x", TIE), trial("y", "x", TIE)]
    assert self_consistency(again).value == 0.5  # one of two orders was the same
    # s = f² + (1 − f)²: f = 0.1 gives 0.82
    assert flip_rate(Estimate(0.82, 0.7, 0.9, 50)).value == pytest.approx(0.1)
    assert not flip_rate(self_consistency(trials)).measured


def test_agreement_with_people_by_hand() -> None:
    people = [
        Preference("q", "x", "y", "a", "ann"),
        Preference("q", "y", "x", "b", "bob"),
        Preference("q", "x", "z", "b", "ann"),
        Preference("q", "y", "z", "tie", "ann"),
    ]
    judged = pairs_judged(people)
    trials = [trial("x", "y", FIRST), trial("y", "x", SECOND), trial("x", "z", FIRST), trial("y", "z", TIE)]
    table, agreed, without_ties = with_people(combined(trials), judged)
    assert table.tolist() == [[2, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert agreed.value == pytest.approx((1 + 0 + 1) / 3)
    assert without_ties.value == pytest.approx((1 + 0) / 2)
    opinions = people_opinions(judged)
    assert opinions == {Pair("q", "x", "y"): 1.0, Pair("q", "x", "z"): 0.0, Pair("q", "y", "z"): 0.5}
    assert contradictions(trials, opinions).value == pytest.approx((0 + 1) / 2)


def test_cycles_and_calibration_by_hand() -> None:
    ring = [trial("x", "y", FIRST), trial("y", "z", FIRST), trial("z", "x", FIRST)]
    line = [trial(a, b, FIRST, query="r") for a, b in ("xy", "yz", "xz")]
    share, triads = cycles(combined(ring + line))
    assert (share.value, triads) == (0.5, 2)
    assert not cycles(combined(ring[:2]))[0].measured
    people = people_opinions(pairs_judged([Preference("q", f"x{i}", "y", "a") for i in range(20)]))
    trials = [trial(f"x{i}", "y", FIRST if i < 15 else SECOND, 0.9) for i in range(20)]
    found = calibration(trials, people)
    assert found.overconfidence.value == pytest.approx(0.9 - 0.75)
    assert found.error == pytest.approx(0.25, abs=0.15)  # five bins of four answers
    assert sum(count for *_, count in found.bins) == 20


def test_equal_confidences_do_not_look_uncalibrated() -> None:
    world = biased_world(1, flips=0.2)
    found = audit(ask_trials(world.judge, world.pairs, 1), world.people)
    assert found.calibration.error < 0.08
    assert found.calibration.overconfidence.covers(0.0)


@given(st.floats(0, 0.4), st.integers(0, 50))
def test_what_is_shown_first_does_not_change_the_length_bias(flips: float, seed: int) -> None:
    world = biased_world(seed, queries=6, flips=flips, length=0.05)
    trials = ask_trials(world.judge, world.pairs, 1)
    turned = [Trial(t.query, t.second, t.first, SECOND - t.preferred) for t in trials]
    opinions = people_opinions(pairs_judged(world.people))
    one, _ = length_bias(trials, opinions, world.lengths.__getitem__)
    other, _ = length_bias(turned, opinions, world.lengths.__getitem__)
    assert one.value == pytest.approx(other.value, abs=1e-9)


def test_injected_faults_come_out() -> None:
    """The bench counts this over hundreds of judges; here it must hold for most of twelve."""
    inside = np.zeros(3, int)
    for seed in range(12):
        world = biased_world(seed, flips=0.15, position=0.1, length=0.02)
        found = audit(ask_trials(world.judge, world.pairs), world.people, world.lengths.__getitem__)
        inside += [found.position.covers(0.1), found.contradictions.covers(0.15), found.length.covers(0.02)]
    assert (inside >= 10).all(), inside


def test_flips_are_also_seen_without_people() -> None:
    inside = 0
    for seed in range(12):
        world = biased_world(seed, queries=20, flips=0.15)
        found = audit(ask_trials(world.judge, world.pairs))
        inside += found.flips.covers(0.15)
        assert not found.agreement.measured
        assert found.verdict.startswith("Unknown")
    assert inside >= 10


def test_verdicts() -> None:
    good = biased_world(2, queries=60, flips=0.02)
    found = audit(ask_trials(good.judge, good.pairs), good.people, good.lengths.__getitem__)
    assert found.verdict == "Usable: no fault was found that matters."
    sided = biased_world(2, queries=60, flips=0.1, position=0.1)
    found = audit(ask_trials(sided.judge, sided.pairs), sided.people)
    assert found.verdict.startswith("Usable with care: position bias")
    random = biased_world(2, flips=0.5)
    found = audit(ask_trials(random.judge, random.pairs), random.people)
    assert found.verdict.startswith("Do not use it without people: agreement with people")
    with pytest.raises(InputError, match="no answers to audit"):
        audit([])


def test_the_report_and_the_page(tmp_path: Path) -> None:
    world = biased_world(3, flips=0.15, position=0.1)
    people = [*world.people, *(p._replace(assessor="bob", answer="b") for p in world.people[:40])]
    found = audit(ask_trials(world.judge, world.pairs), people, world.lengths.__getitem__)
    text = audit_report(found)
    assert text.splitlines()[0] == found.verdict
    for words in (
        "position bias",
        "same answer again",
        "χ² of judge–people",
        "two people agree on",
        "calibration",
    ):
        assert words in text
    page = tmp_path / "audit.html"
    audit_page(found, "Audit").write(page)
    assert page.read_text().count("<svg") == 2


def test_recorded_answers_are_trials() -> None:
    trials = trials_of([Preference("q", "x", "y", "bad-a", "m"), Preference("q", "y", "x", "tie", "m")])
    assert [t[1:4] for t in trials] == [("x", "y", SECOND), ("y", "x", TIE)]


def test_pairs_are_sampled_from_many_queries() -> None:
    pairs = [Pair(f"q{q}", f"d{i}", f"d{j}") for q in range(30) for i in range(12) for j in range(i)]
    chosen = sample_pairs(pairs, 100)
    assert len(chosen) == len(set(chosen)) == 100
    assert len({pair.query for pair in chosen}) >= 6
    assert len(sample_pairs(pairs, 10**6)) == len(pairs)


@pytest.mark.real_data
def test_a_simulated_judge_on_real_preferences(real_data: Path) -> None:
    from topkit.data.preferences import read_preferences
    from topkit.labelling.judges import BiasedJudge

    people = read_preferences(real_data / "cast2019-prefs" / "TREC-CAsT-2019.pref").preferences
    judge = BiasedJudge.of_people("m", people, flips=0.15, position=0.1)
    pairs = sample_pairs(pairs_judged(people), 400)
    found = audit(ask_trials(judge, pairs), people)
    assert found.position.covers(0.1)
    assert found.contradictions.covers(0.15)


def test_a_judge_that_may_be_tossing_a_coin_is_not_called_usable() -> None:
    people = [Preference("q", f"x{i}", f"y{i}", "a", who) for i in range(20) for who in ("ann", "bob")]
    answers = [FIRST if i % 2 else SECOND for i in range(20)]  # right in 10 of 20: the interval covers 0.5
    found = audit([trial(f"x{i}", f"y{i}", answer) for i, answer in enumerate(answers)], people)
    assert found.agreement_without_ties.value == pytest.approx(0.5)
    assert found.verdict == "Do not use it without people: agreement with people."
    assert "no better than chance, or too few pairs" in audit_report(found)
