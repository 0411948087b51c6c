"""Losses on scores: (scores, labels, ptr) → value and gradient, one implementation for every scorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topkit.data.settings import lookup
from topkit.losses.base import Loss, Objective, define
from topkit.losses.focused import focused, focused_parts
from topkit.losses.listwise import (
    all_choices,
    listmle,
    listnet,
    rankcosine,
    top_choices,
    top_labels,
    topk_listmle,
    topk_listnet,
    topk_rankcosine,
)
from topkit.losses.listwise.top_m import list_targets
from topkit.losses.ndcg import gains_and_ideal, lambdarank, softndcg
from topkit.losses.pairwise import (
    exponential,
    fidelity,
    hinge,
    logistic,
    pair_set,
    sigmoid,
    squared_hinge,
)
from topkit.losses.pointwise import (
    gains,
    gains_over_ideal,
    squared_error,
    squared_gain,
    squared_ndcg,
)
from topkit.losses.preferences import Preferences

LOSSES: dict[str, Callable[..., Loss]] = {
    "hinge": define(hinge, pair_set),
    "squared-hinge": define(squared_hinge, pair_set),
    "exponential": define(exponential, pair_set),
    "logistic": define(logistic, pair_set),
    "sigmoid": define(sigmoid, pair_set),
    "fidelity": define(fidelity, pair_set),
    "listnet": define(listnet, list_targets),
    "listmle": define(listmle, all_choices),
    "rankcosine": define(rankcosine),
    "topk-listnet": define(topk_listnet, top_labels),
    "topk-listmle": define(topk_listmle, top_choices),
    "topk-rankcosine": define(topk_rankcosine, top_labels),
    "focused": define(focused, focused_parts),
    "squared-error": define(squared_error),
    "squared-gain": define(squared_gain, gains),
    "squared-ndcg": define(squared_ndcg, gains_over_ideal),
    "softndcg": define(softndcg, gains_and_ideal),
    "lambdarank": define(lambdarank, gains_and_ideal),
}
"""Name → function that makes the :class:`Loss` from its settings; see :mod:`topkit.losses.base`."""

__all__ = ["LOSSES", "Loss", "Objective", "Preferences", "loss"]


def loss(name: str, **settings: Any) -> Loss:
    """The loss of this name with these settings.

    >>> import topkit as tk
    >>> value, gradient = tk.loss("topk-listmle", k=1)([2.0, 1.0, 0.0], [2, 1, 0], [0, 3])
    >>> round(value, 6)
    0.407606
    """
    return lookup(LOSSES, name, "loss")(**settings)
