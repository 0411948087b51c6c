"""Exploration: rankings by weights drawn from the beliefs, so that uncertain documents are shown, too."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset, InputError, Run
from topkit.rankers.clicks.beliefs import Beliefs
from topkit.rankers.clicks.model import ClickLabel
from topkit.rankers.learner import Learner


def explore(ranker: Learner, data: Dataset, seed: int | np.random.Generator = 0) -> Run:
    """The ranking of a click-label ranker by Thompson sampling: one draw of all weights per call.

    The weights of clicks and of grades are drawn from their Gaussians, and documents are ordered by the
    utility under the draw: a document comes first as often as it is believed to be best. Show such pages, and
    learn from their clicks with :func:`topkit.continue_training`. Thompson, Biometrika 1933; Chapelle & Li,
    NIPS 2011.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> ranker = tk.ranker("click-label").fit(data)
    >>> len({explore(ranker, data, seed)["q"][0][0] for seed in range(20)}) > 1
    True
    """
    model, preparation = ranker.fitted()
    if not isinstance(model, ClickLabel):
        raise InputError(f"the ranker {ranker.name!r} is not a fitted click-label ranker", "fit one first")
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)
    return Run.from_scores(data, drawn_utility(model, preparation(data), rng), ranker.name)


def drawn_utility(model: ClickLabel, data: Dataset, rng: np.random.Generator) -> Floats:
    """(1 − λ)·E[gain] + λ·P(click at the first position) of each document for one draw of the weights."""
    utility = np.zeros(len(data))
    if model.mix < 1:
        sums = _drawn_sums(model, data, model.labels, rng, [])
        utility += (1.0 - model.mix) * model.scale.expected_gain(model.labels, sums, np.zeros(len(sums)))
    if model.mix > 0:
        ends = [model.layout.bias, model.layout.position(1)]
        sums = _drawn_sums(model, data, model.clicks, rng, ends)
        utility += model.mix * model.clicks.above(sums, np.zeros(len(sums)))
    return utility


def _drawn_sums(
    model: ClickLabel, data: Dataset, beliefs: Beliefs, rng: np.random.Generator, ends: list[int]
) -> Floats:
    """w·x of each document for weights drawn once."""
    weights = beliefs.mean + np.sqrt(beliefs.variance) * rng.standard_normal(len(beliefs.mean))
    X = np.where(np.isnan(data.X), 0.0, data.X).astype(np.float64)
    of_features = (X * weights[: model.layout.features]).sum(axis=1) + weights[ends].sum()
    sums: Floats = of_features + weights[model.memory_slots(data)].sum(axis=1)
    return sums
