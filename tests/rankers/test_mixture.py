"""Tune and mix: weights by hand, the mixture as the sum of its members, variants, files, and McRank."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.cli import said
from topkit.metrics.compiled import worst_ties
from topkit.rankers import load_ranker
from topkit.rankers.checks import CHECKS, easy_data
from topkit.rankers.mixture import Mixture
from topkit.rankers.mixture.members import Measurement, measure_members
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.weights import best_strength, exponential_weights
from topkit.rankers.multiclass.adaboost_mh import fine_stages
from topkit.rankers.tune_and_mix import TuneAndMix
from topkit.scorers import Job

SMALL: dict[str, Any] = {
    "trees": (4,), "products": (2,), "rounds": 10, "rankers": ("linear-regression",),
    "calibrations": ("shift", "log-sigmoid", "linear", "polynomial-2/ideal", "logistic"),
}  # fmt: skip


@pytest.fixture(scope="module")
def fitted() -> tk.rankers.Learner:
    return tk.ranker("tune-and-mix", **SMALL).fit(easy_data(30, noise=0.2), easy_data(20, seed=1, noise=0.2))


@pytest.fixture(scope="module")
def measurement() -> Measurement:
    settings = {**SMALL, "rankers": ("listnet",)}
    ranker = tk.ranker("tune-and-mix")
    job = Job(easy_data(30, noise=0.2), easy_data(20, seed=1, noise=0.2), ranker.measure())
    method = TuneAndMix(**settings)
    split = CalibrationSplit.of(job, 0.2)
    return measure_members(split, method.trained(split), method.calibrations)


def test_exponential_weights_by_hand() -> None:
    """c = 100: exp(0), exp(−1) and a member that takes no part; shares 1/(1 + e⁻¹) and the rest."""
    measures, part = np.array([0.80, 0.79, 0.85]), np.array([True, True, False])
    first = 1 / (1 + np.exp(-1))
    assert exponential_weights(measures, part, 100.0) == pytest.approx([first, 1 - first, 0])
    assert exponential_weights(measures, part, 0.0) == pytest.approx([0.5, 0.5, 0])
    assert exponential_weights(measures, part, 50.0, only_best=True).tolist() == [1, 0, 0]


def test_the_strength_is_chosen_among_neighbours() -> None:
    """Measures 0, 5, 0, 3, 3, 3: the mean of three is largest at the last ones, the lone peak is luck."""
    values = dict(zip([0.0, 10.0, 20.0, 30.0, 40.0, 50.0], [0, 5, 0, 3, 3, 3], strict=True))
    assert best_strength(lambda c: values[c], list(values)) == (40.0, 3)


def test_the_mixture_is_the_sum_of_its_members(fitted: tk.rankers.Learner) -> None:
    mixture, test = fitted.model, easy_data(10, seed=5)
    assert isinstance(mixture, Mixture)
    weights = np.array([member.weight for member in mixture.members])
    assert weights.sum() == pytest.approx(1.0)
    scores = mixture.member_scores(test)
    assert fitted.score(test) == pytest.approx(weights @ scores)
    # 2 boosted × 2 stages × 5, 7 penalties × 5, one ranker × 3 regressions
    assert len(mixture.members) == 2 * 2 * 5 + 7 * 5 + 3


def test_measures_are_those_of_the_members_alone(measurement: Measurement) -> None:
    valid = worst_ties(easy_data(20, seed=1, noise=0.2))  # equal scores count as ordered badly
    scores = measurement.mixture.member_scores(valid)
    for member, member_scores in list(zip(measurement.mixture.members, scores, strict=True))[::7]:
        assert tk.evaluate(valid, member_scores, "ndcg@10").mean["ndcg@10"] == pytest.approx(
            member.measure, abs=1e-9
        )


def test_variants_take_the_members_they_say(measurement: Measurement) -> None:
    best = max(member.measure for member in measurement.mixture.members)
    for name in ("exp", "exp-cpc", "exp-rbc", "one-best"):
        used = [member for member in measurement.weighed(name).members if member.weight > 0]
        if name == "one-best":
            assert [member.measure for member in used] == [best]
        else:
            assert len(used) > 1
        if name.startswith("exp-"):
            assert {member.head.probabilistic for member in used} == {name == "exp-cpc"}


def test_one_number_of_rounds_is_chosen_for_all_boosted_members(measurement: Measurement) -> None:
    """The members of each stage, mixed by hand with every c; the best stage and its c are kept."""
    mixture = measurement.mixture
    measures = np.array([member.measure for member in mixture.members])
    boosted = np.array([mixture.sources[member.source].model.boosted for member in mixture.members])
    stage = np.array([mixture.sources[member.source].stages[member.stage] for member in mixture.members])
    assert set(stage[boosted]) == {5, 10}
    reached = {}
    for rounds in (5, 10):
        part = ~boosted | (stage == rounds)

        def judge(c: float, part: Any = part) -> float:
            return measurement.measured.mean(exponential_weights(measures, part, c) @ measurement.scores)

        reached[rounds] = best_strength(judge)
    best = max(reached, key=lambda rounds: reached[rounds][1])
    chosen = measurement.weighed("exp", one_stage=True)
    used = np.array([member.weight > 0 for member in chosen.members])
    assert set(stage[used & boosted]) <= {best}
    assert chosen.strength == reached[best][0]


def test_mixed_probabilities_give_the_mixed_score(measurement: Measurement) -> None:
    """Equation 14 of the paper: Σ gain·(mixed p) is the mixture of the members' expected gains."""
    mixture, test = measurement.weighed("exp-cpc"), easy_data(10, seed=5)
    shares = mixture.probabilities(test)
    assert shares.shape == (len(test), 4)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(test)))
    assert shares @ np.array([0.0, 1.0, 3.0, 7.0]) == pytest.approx(mixture.score(test))
    with pytest.raises(tk.InputError, match="class probabilities"):
        measurement.weighed("exp-rbc").probabilities(test)


def test_a_saved_mixture_holds_no_pickle_and_scores_the_same(
    fitted: tk.rankers.Learner, tmp_path: Path
) -> None:
    test = easy_data(10, seed=5)
    fitted.save(tmp_path / "mix.model")
    loaded = load_ranker(tmp_path / "mix.model")
    assert np.array_equal(loaded.score(test), fitted.score(test))
    with zipfile.ZipFile(tmp_path / "mix.model") as archive:
        assert {Path(name).suffix for name in archive.namelist()} <= {".json", ".npy", ".txt"}
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as stream:
                    np.lib.format.read_array(stream, allow_pickle=False)


def test_the_command_prints_the_members(tmp_path: Path) -> None:
    """Classifier, calibration, measure and weight, heaviest first; the weights are those of the model."""
    easy_data(20).to_letor(tmp_path / "train.txt")
    words = ["--train", tmp_path / "train.txt", "--out", tmp_path / "m", "--set", "rounds=5"]
    words += ["--set", "trees=4", "--set", "products=2", "--set", "rankers="]
    shown = said("train", "tune-and-mix", *words, "--set", "calibrations=linear,shift").splitlines()
    assert shown[1].split() == ["classifier", "calibration", "ndcg@10", "weight"]
    weights = [float(line.split()[-1]) for line in shown[2:12]]
    assert weights == sorted(weights, reverse=True)
    model: Any = load_ranker(tmp_path / "m").model
    assert weights[0] == pytest.approx(max(member.weight for member in model.members), abs=1e-4)
    assert shown[-1].endswith(f"c = {model.strength:g}")


def test_damaged_mixtures_are_refused(fitted: tk.rankers.Learner) -> None:
    """Kernels trust their arrays, so a model that does not fit together must not get that far."""
    assert isinstance(fitted.model, Mixture)
    parts = fitted.model.parts()
    for name, change in (("sizes", -1), ("stage", 50), ("source0.gains", None)):
        array = parts.arrays[name]
        broken = array[:-1] if change is None else array + change
        with pytest.raises((ValueError, IndexError)):
            Mixture.of_parts(replace(parts, arrays={**parts.arrays, name: broken}))
    boosted = next(source for source in fitted.model.sources if source.title.startswith("tree"))
    with pytest.raises(tk.InputError, match="uses feature"):
        boosted.model.outputs(tk.Dataset.build(np.zeros((3, 1)), [0] * 3, ["q"] * 3), [5])


def test_merged_labels_add_classifiers() -> None:
    data = easy_data(20)
    settings = {**SMALL, "svm": False, "products": (), "rankers": (), "grouping": True}
    model: Any = tk.ranker("tune-and-mix", **settings).fit(data).model
    titles = [source.title for source in model.sources]
    assert titles == ["tree 4", "tree 4, grade > 0.5", "tree 4, grade > 1.5", "tree 4, grade > 2.5"]
    assert [len(source.gains) for source in model.sources] == [4, 2, 2, 2]


def test_a_calibrated_classifier_keeps_only_its_rounds() -> None:
    train, valid = easy_data(30, noise=0.3), easy_data(20, seed=1, noise=0.3)
    model: Any = tk.ranker("adaboost-mh", rounds=60, size=4).fit(train, valid).model
    assert len(model.members) == 1
    assert model.sources[0].model.rounds == model.sources[0].stages[0]
    assert model.probabilities(valid).shape == (len(valid), 4)
    assert fine_stages(14) == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
    assert fine_stages(40)[-3:] == (35, 38, 40)


@pytest.mark.parametrize("settings", [{"trees": (1,)}, {"products": (0,)}, {"mix": "best"}, {"share": 0.0},
                                      {"calibrations": ("x",)}, {"rounds": 0},
                                      {**SMALL, "calibrations": ()}])  # fmt: skip
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(tk.InputError):
        tk.ranker("tune-and-mix", **settings)


def test_an_unknown_member_is_refused() -> None:
    with pytest.raises(tk.InputError, match="unknown ranker 'nobody'"):
        tk.ranker("tune-and-mix", **{**SMALL, "rankers": ("nobody",)}).fit(easy_data(10))


@pytest.mark.parametrize("posterior", ["label", "above"])
def test_mcrank_finds_known_probabilities(posterior: str) -> None:
    """One feature of three values; the trees can only learn the share of each label there."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.6]])
    place = rng.integers(0, 3, 6000)
    y = (rng.random(6000)[:, None] > np.cumsum(shares[place], axis=1)).sum(axis=1)
    data = tk.Dataset.build(place[:, None].astype(float), y, np.arange(6000) // 20)
    fitted = tk.ranker("mcrank", posterior=posterior, trees=150, rate=0.1).fit(data)
    probe = tk.Dataset.build([[0.0], [1.0], [2.0]], [0, 0, 0], ["q"] * 3)
    model: Any = fitted.model
    assert model.probabilities(probe) == pytest.approx(shares, abs=0.03)
    assert fitted.score(probe) == pytest.approx(shares @ [0, 1, 3], abs=0.06)


@pytest.mark.parametrize("check", ["learns", "seeded", "threads"])
def test_the_bandit_learns_too_and_is_seeded(check: str) -> None:
    CHECKS[check](lambda: tk.ranker("adaboost-mh", search="bandit", form="product", size=2, rounds=60))


def test_the_seed_decides_what_the_bandit_draws() -> None:
    train, test = easy_data(20), easy_data(5, seed=4)
    first, second = (
        tk.ranker("adaboost-mh", search="bandit", rounds=10, seed=seed).fit(train).score(test)
        for seed in (0, 1)
    )
    assert not np.array_equal(first, second)
