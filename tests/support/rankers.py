"""What tests read off fitted rankers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.rankers import Learner
from topkit.scorers import Linear


def linear_weights(fitted: Learner) -> NDArray[np.float64]:
    """The weight of each feature in a fitted linear ranker."""
    assert isinstance(fitted.model, Linear)
    return fitted.model.weights
