"""The search over settings."""

from __future__ import annotations

import importlib.util

import pytest

import topkit as tk
from topkit.compute import MissingExtraError
from topkit.rankers.checks import easy_data
from topkit.rankers.tuning import tune

HAS_OPTUNA = importlib.util.find_spec("optuna") is not None


def test_grid_keeps_the_best_and_starts_with_the_defaults() -> None:
    train, valid = easy_data(10, noise=0.3), easy_data(10, seed=1, noise=0.3)
    best, tried = tune("focusednet", train, valid, trials=4, l2=0.1, k=3)
    assert tried[0].settings == {}
    assert len(tried) == 4
    assert all(set(trial.settings) <= {"beta"} for trial in tried)
    assert best.measure_on(valid) == max(trial.measure for trial in tried)
    again = tune("focusednet", train, valid, trials=4, l2=0.1, k=3)[1]
    assert tried == again


def test_nothing_to_search_is_one_trial() -> None:
    train, valid = easy_data(6), easy_data(6, seed=1)
    assert len(tune("listnet", train, valid, trials=9, l2=0.1)[1]) == 1


@pytest.mark.skipif(not HAS_OPTUNA, reason="Optuna is not installed (extra 'tune')")
def test_optuna_searches_the_declared_space() -> None:
    train, valid = easy_data(10, noise=0.3), easy_data(10, seed=1, noise=0.3)
    best, tried = tune("focusednet", train, valid, search="optuna", trials=4, k=3)
    assert len(tried) == 4
    assert all(set(trial.settings) == {"beta", "l2"} for trial in tried[1:])
    assert best.measure_on(valid) == max(trial.measure for trial in tried)


@pytest.mark.skipif(HAS_OPTUNA, reason="Optuna is installed")
def test_without_optuna_the_extra_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"topkit\[tune\]"):
        tune("focusednet", easy_data(4), easy_data(4), search="optuna", trials=2)


def test_unknown_searches_are_refused() -> None:
    with pytest.raises(tk.InputError, match="unknown search 'random'"):
        tune("listnet", easy_data(4), easy_data(4), search="random")
    with pytest.raises(tk.InputError, match="at least 1"):
        tune("listnet", easy_data(4), easy_data(4), trials=0)
