"""What tests read off fitted rankers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.rankers import Learner
from topkit.scorers import Linear


def linear_weights(fitted: Learner) -> NDArray[np.float64]:
    """The weight of each feature in a fitted linear ranker."""
    assert isinstance(fitted.model, Linear)
    return fitted.model.weights


QUICK: dict[str, dict[str, Any]] = {
    "linear": {"max_steps": 200},
    "mlp": {"hidden": (8,), "epochs": 40, "rate": 0.02},
    "trees": {"trees": 40, "min_leaf": 5, "rate": 0.2},
}
"""Settings that make the battery quick; everything else is at its default."""

QUICK_RANKERS: dict[str, dict[str, Any]] = {
    "adaboost-mh": {"rounds": 50},
    "isorank": {"trees": 40, "min_leaf": 5, "rate": 0.2},
    "qbrank": {"trees": 40, "min_leaf": 5, "rate": 0.2},
    "ranksvm-rbf": {"points": 60},
    "mcrank": {"trees": 40, "min_leaf": 5, "rate": 0.2},
    "tune-and-mix": {
        "trees": (8,),
        "products": (3,),
        "rounds": 10,
        "rankers": ("linear-regression",),
        "calibrations": ("shift", "soft-ndcg", "logistic/ideal"),
    },
}
"""The same for rankers whose scorer is not a setting."""
