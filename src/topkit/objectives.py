"""Losses as objectives of LightGBM, XGBoost and CatBoost: any name of ``tk.LOSSES``, with its settings.

The boosters pass their scores and ask for the gradient and the curvature of every document; the queries are
those of the booster's own data set. Trees of topkit itself need none of this: ``tk.ranker("lambdamart")``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.losses import Loss, loss

SMALLEST_CURVATURE = 1e-6
"""Boosters divide by the curvature, so it must be positive."""

Slopes = tuple[NDArray[np.float64], NDArray[np.float64]]


def lightgbm(name: str, **settings: Any) -> Callable[[Any, Any], Slopes]:
    """An objective for ``lightgbm.train({"objective": lightgbm("topk-listmle", k=10), …}, data)``.

    ``data`` is a ``lightgbm.Dataset`` with ``group``: the number of documents of each query.
    """
    chosen = loss(name, **settings)

    def objective(scores: Any, data: Any) -> Slopes:
        group = data.get_group()
        if group is None:
            raise InputError("the data has no queries", "make it with lightgbm.Dataset(..., group=…)")
        ptr = np.concatenate([[0], np.cumsum(np.asarray(group, np.int64))])
        return slopes(chosen, scores, data.get_label(), ptr)

    return objective


def xgboost(name: str, **settings: Any) -> Callable[[Any, Any], Slopes]:
    """An objective for ``xgboost.train(params, data, obj=xgboost("topk-listmle", k=10))``.

    ``data`` is an ``xgboost.DMatrix`` with ``qid`` or groups.
    """
    chosen = loss(name, **settings)

    def objective(scores: Any, data: Any) -> Slopes:
        ptr = np.asarray(data.get_uint_info("group_ptr"), np.int64)
        if len(ptr) < 2:
            raise InputError("the data has no queries", "make it with xgboost.DMatrix(..., qid=…)")
        return slopes(chosen, scores, data.get_label(), ptr)

    return objective


class catboost:  # noqa: N801  # named like the functions beside it, and used like them
    """An objective for ``CatBoost({"loss_function": catboost("topk-listmle", ptr, k=10), …})``.

    CatBoost calls objectives without the queries of its data, so ``ptr`` gives them: query q of the training
    data is rows ``ptr[q]:ptr[q+1]``. Train with ``has_time=True`` and ``boosting_type="Plain"``, so that the
    rows keep their order. CatBoost maximises, so the gradient and the curvature are negated.
    """

    no_jit = True
    """CatBoost would otherwise try to compile the method with Numba, and warn that it cannot."""

    def __init__(self, name: str, ptr: Any, **settings: Any) -> None:
        self.loss = loss(name, **settings)
        self.ptr = np.asarray(ptr, np.int64)

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> list[tuple[float, float]]:
        """The first and second derivative of every document."""
        if len(targets) != self.ptr[-1]:
            raise InputError(
                f"expected {self.ptr[-1]} documents, got {len(targets)}",
                "train with has_time=True and boosting_type='Plain', so that all rows come in order",
            )
        gradient, curvature = slopes(self.loss, approxes, targets, self.ptr)
        share = np.ones(len(gradient)) if weights is None else np.asarray(weights, np.float64)
        return list(zip((-gradient * share).tolist(), (-curvature * share).tolist(), strict=True))


def slopes(chosen: Loss, scores: Any, labels: Any, ptr: NDArray[np.int64]) -> Slopes:
    """Gradient and positive curvature of a loss for every document."""
    objective = chosen.on(np.asarray(labels, np.float64), ptr)
    _, gradient, curvature = objective.with_curvature(np.asarray(scores, np.float64))
    return gradient, np.maximum(curvature, SMALLEST_CURVATURE)
