"""Search over the settings of a ranker on validation data: a seeded sample of a grid, or Optuna."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from topkit.compute import Report, require, silent
from topkit.data import Dataset, InputError
from topkit.data.settings import Space, Span
from topkit.rankers.by_name import ranker, space_of
from topkit.rankers.learner import Learner

SEARCHES = ("grid", "optuna")
"""Names of the searches."""


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, and their metric on the validation data (larger is better)."""

    settings: dict[str, Any]
    measure: float


def tune(
    name: str,
    train: Dataset,
    valid: Dataset,
    *,
    search: str = "grid",
    trials: int = 20,
    report: Report = silent,
    fit_arguments: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tuple[Learner, list[Trial]]:
    """The ranker with the best metric on ``valid`` among ``trials`` settings, and all trials.

    The ``settings`` are fixed; the others are searched as the ranker declares. ``grid`` tries three values of
    every range (all combinations, or a seeded sample of ``trials``); ``optuna`` uses Optuna's sampler. The
    first trial uses the defaults, so tuning is never worse on ``valid`` than not tuning. ``fit_arguments`` go
    to :meth:`Learner.fit`, such as ``weights`` or ``preferences``.
    """
    if search not in SEARCHES:
        raise InputError(f"unknown search {search!r}", f"choose from {', '.join(SEARCHES)}")
    if trials < 1:
        raise InputError(f"trials must be at least 1, got {trials}")
    candidates: list[Learner] = []
    tried: list[Trial] = []

    def judge(chosen: dict[str, Any]) -> float:
        candidate = ranker(name, **{**settings, **chosen})
        candidate.fit(train, valid, **(fit_arguments or {}))
        value = candidate.measure_on(valid)
        if not tried or value > max(trial.measure for trial in tried):
            candidates[:] = [candidate]
        tried.append(Trial(chosen, value))
        report("trial", len(tried), trials, value)
        return value

    judge({})
    space = space_of(name, **settings)
    if space and trials > 1:
        search_in = _grid if search == "grid" else _optuna
        search_in(space, trials - 1, int(settings.get("seed", 0)), judge)
    return candidates[0], tried


def _grid(space: Space, trials: int, seed: int, judge: Callable[[dict[str, Any]], float]) -> None:
    for cell in grid_cells(space, trials, seed):
        judge(cell)


def grid_cells(space: Space, trials: int, seed: int) -> list[dict[str, Any]]:
    """All combinations of three values of every range, or a seeded sample of ``trials`` of them."""
    cells = [dict(zip(space, values, strict=True)) for values in product(*map(_values, space.values()))]
    order = np.random.default_rng(seed).permutation(len(cells))[:trials]
    return [cells[int(i)] for i in np.sort(order)]


def _values(choices: Span | tuple[object, ...]) -> list[Any]:
    """Three values inside a range, or all choices."""
    if not isinstance(choices, Span):
        return list(choices)
    spaced = np.geomspace if choices.log else np.linspace
    values = spaced(choices.low, choices.high, 5)[1:4].tolist()  # the ends of a range are rarely best
    return [round(value) for value in values] if choices.whole else values


def _optuna(space: Space, trials: int, seed: int, judge: Callable[[dict[str, Any]], float]) -> None:
    optuna = require("optuna", "tune")

    def objective(trial: Any) -> float:
        return judge(dict(_suggestions(trial, space)))

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=trials)


def _suggestions(trial: Any, space: Space) -> Iterator[tuple[str, Any]]:
    for name, choices in space.items():
        if not isinstance(choices, Span):
            place = trial.suggest_categorical(name, list(range(len(choices))))
            yield name, choices[place]
        elif choices.whole:
            yield name, trial.suggest_int(name, int(choices.low), int(choices.high), log=choices.log)
        else:
            yield name, trial.suggest_float(name, choices.low, choices.high, log=choices.log)
